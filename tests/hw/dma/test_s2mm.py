# amaranth: UnusedElaboratable=no
"""The half of the DMA that writes: packets into rows of memory, under random back-pressure.

Memory checks AXI's rules for bursts and what waits (:mod:`tests.hw.dma.dma_bench`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import Const
from tests.hw.component_bench import simulate
from tests.hw.dma.dma_bench import DECERR, SLVERR, Bench, Timing

from axiloom.hw.dma.s2mm import S2mm

STALLS = Timing(latency=9, stall=0.3, stream_stall=0.4)


class Half(Bench):
    """Memory and a source for `dut`, an S2mm."""

    def models(self) -> list[Any]:
        words = self._source(self.dut.stream, Const(0))
        return [self.count, self._write_channel(self.dut.bus, self.word_bytes, self.writes), words]

    def words(self, address: int, count: int) -> list[int]:
        width = self.word_bytes
        return [self.word(address + width * at, width) for at in range(count)]


async def command(ctx: Any, device: S2mm, **values: int) -> None:
    for name, value in values.items():
        ctx.set(getattr(device.command, name), value)
    ctx.set(device.command.start, 1)
    await ctx.tick()
    ctx.set(device.command.start, 0)


@pytest.mark.every(3)
@pytest.mark.parametrize("writes", ["", "words first", "words offered"])
@pytest.mark.parametrize(("width", "burst"), [(32, 16), (64, 4), (128, 1)])
def test_a_packet_into_a_buffer(width: int, burst: int, writes: str) -> None:
    timing = replace(STALLS, writes=writes)
    bench = Half(S2mm(width, burst=burst), timing, seed=width, burst=burst, word_bytes=width // 8)
    device, random, size = bench.dut, bench.random, width // 8

    async def main(ctx: Any) -> None:
        for _ in range(12):
            address, words = random.randrange(0x2000 // size) * size, random.randrange(1, 160)
            packet = [random.getrandbits(width) for _ in range(words)]
            bench.memory[:] = 0
            bench.packet(packet)
            await ctx.tick().repeat(5)
            assert not ctx.get(device.stream.tready)
            await command(ctx, device, address=address, length=(words + random.randrange(3)) * size)
            while not ctx.get(device.status.done):
                assert ctx.get(device.status.active)
                await ctx.tick()
            assert ctx.get(device.received) == words * size
            assert ctx.get(device.drained), "every response has come"
            assert bench.words(address, words) == packet
            assert (bench.memory != 0).sum() <= words * size // 4, "and nothing else was written"
            await ctx.tick()
            assert ctx.get(device.quiet)

    simulate(device, main, models=bench.models())


@pytest.mark.every(3)
@pytest.mark.parametrize(("width", "burst"), [(32, 16), (64, 4), (128, 64)])
def test_rows_of_commands_that_follow_each_other(width: int, burst: int) -> None:
    """Packets end before, with and behind the buffers."""
    device = S2mm(width, burst=burst, strided=True)
    bench = Half(device, STALLS, seed=burst + 1, burst=burst, word_bytes=width // 8)
    random, size = bench.random, width // 8
    results: list[tuple[int, int, int]] = []
    wanted: list[tuple[int, int, int]] = []
    written: dict[int, int] = {}
    ends = 0

    async def watch(ctx: Any) -> None:
        nonlocal ends
        while True:
            _, _, filled, done, *result = await ctx.tick().sample(
                device.filled, device.status.done, device.received, device.begins, device.ends
            )
            ends += done
            if filled:
                results.append(tuple(result))

    async def main(ctx: Any) -> None:
        at, between = 0, True
        for number in range(30):
            row, rows = random.randrange(1, 20), random.randrange(5)
            gap = random.randrange(0, 20)
            places = [at + (row + gap) * r + c for r in range(max(1, rows)) for c in range(row)]
            taken = random.choice((len(places), random.randint(1, len(places))))
            last = taken < len(places) or number == 29 or random.random() < 0.6
            words = [random.getrandbits(width) for _ in range(taken)]
            written.update(zip(places, words, strict=False))
            bench.to_receive.extend((word, last and i == taken - 1) for i, word in enumerate(words))
            wanted.append((taken * size, int(between), int(last)))
            between = last
            while not ctx.get(device.command.ready):
                await ctx.tick()
            await command(
                ctx, device, address=at * size, length=row * size, rows=rows, stride=(row + gap) * size
            )
            at = max(places) + 1 + random.randrange(30)
        while ctx.get(device.status.active):
            await ctx.tick()
        assert ctx.get(device.quiet)

    simulate(device, main, models=[*bench.models(), watch])
    assert results == wanted
    assert ends == len(wanted)
    assert bench.words(0, max(written) + 1) == [written.get(at, 0) for at in range(max(written) + 1)]


def test_rows_that_begin_with_the_last_word_of_a_page() -> None:
    bench = Half(S2mm(strided=True), STALLS)
    device = bench.dut
    bench.packet(range(1, 31))

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0xFFC, length=5 * 4, rows=6, stride=0x1000)
        while ctx.get(device.status.active):
            await ctx.tick()

    simulate(device, main, models=bench.models())
    assert [bench.words(0xFFC + 0x1000 * row, 5) for row in range(6)] == [
        list(range(1 + 5 * row, 6 + 5 * row)) for row in range(6)
    ]
    assert [burst.beats for burst in bench.writes] == [1, 4] * 6


@pytest.mark.parametrize(("response", "error"), [(SLVERR, "slave_error"), (DECERR, "decode_error")])
@pytest.mark.parametrize("strided", [False, True])
def test_an_error_stops_it_when_all_responses_have_come(strided: bool, response: int, error: str) -> None:
    bench = Half(S2mm(strided=strided), STALLS, errors={1: response})
    device, seen = bench.dut, {"slave_error": 0, "decode_error": 0, "done": 0}
    bench.packet(range(1, 1000))

    async def watch(ctx: Any) -> None:
        while True:
            _, _, *now = await ctx.tick().sample(*(getattr(device.status, name) for name in seen))
            for name, value in zip(seen, now, strict=True):
                seen[name] += value

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0x1000 - 20 * 4, length=4000)
        while ctx.get(device.status.active):
            await ctx.tick()
        assert ctx.get(device.drained)
        await ctx.tick().repeat(40)
        if strided:
            assert not ctx.get(device.command.ready)

    simulate(device, main, models=[*bench.models(), watch])
    assert 20 < bench.taken < 999
    assert bench.words(0x1000 - 20 * 4, 20) == list(range(1, 21))
    assert seen[error] > 0
    assert sum(seen.values()) == seen[error]


@pytest.mark.parametrize("seed", range(4))
def test_stop_ends_the_bursts_that_were_collected(seed: int) -> None:
    bench = Half(S2mm(), STALLS, seed)
    device = bench.dut
    bench.packet(range(1, 1000))

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0, length=4000)
        for _ in range(bench.random.randrange(20, 200)):
            await ctx.tick()
        ctx.set(device.stop, 1)
        assert not ctx.get(device.stream.tready)
        await ctx.tick()
        accepted = bench.taken
        while not ctx.get(device.drained):
            await ctx.tick()
        bursts = len(bench.writes)
        for _ in range(60):
            await ctx.tick()
            assert ctx.get(device.drained), "a drained device stays drained"
            assert not ctx.get(device.bus.awvalid | device.bus.wvalid | device.bus.bvalid)
        assert bench.taken == accepted
        assert len(bench.writes) == bursts
        assert 0 <= accepted - sum(burst.beats for burst in bench.writes) < 16

    simulate(device, main, models=bench.models())


WORDS = 512


def cycles_of(bench: Half) -> tuple[int, int]:
    """From the start of a packet of `WORDS` words to its last word, and from there to `done`."""
    device, last = bench.dut, 0
    bench.packet(range(1, WORDS + 1))

    async def main(ctx: Any) -> None:
        nonlocal last
        await command(ctx, device, address=0, length=WORDS * 4)
        while bench.taken < WORDS:
            await ctx.tick()
        last = bench.cycle
        while not ctx.get(device.status.done):
            await ctx.tick()

    simulate(device, main, models=bench.models())
    assert bench.words(0, WORDS) == list(range(1, WORDS + 1))
    return last, bench.cycle - last


@pytest.mark.parametrize("strided", [False, True])
def test_the_last_words_do_not_wait_for_a_whole_burst_of_them(strided: bool) -> None:
    """Sixteen beats collected and then sent would take the latency and 18 more."""
    bench = Half(S2mm(strided=strided), Timing(latency=20))
    _, end = cycles_of(bench)
    assert end <= 20 + 9


def test_bursts_are_long_where_memory_takes_them_slowly() -> None:
    bench = Half(S2mm(), Timing(latency=20, stall=0.5))
    cycles_of(bench)
    assert len(bench.writes) <= WORDS / 10


def test_a_long_latency_does_not_hold_up_the_stream() -> None:
    bench = Half(S2mm(), Timing(latency=100))
    last, _ = cycles_of(bench)
    assert last <= WORDS * 1.02
