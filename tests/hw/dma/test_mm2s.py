# amaranth: UnusedElaboratable=no
"""The half of the DMA that reads: rows out of memory to packets on the stream, under random back-pressure.

Memory checks AXI's rules for bursts, the stream's sink that a beat waits (:mod:`tests.hw.dma.dma_bench`).
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.hw.dma.dma_bench import DECERR, OKAY, SLVERR, Bench, Timing

from axiloom.hw.dma.mm2s import FIFO_DEPTH, Mm2s

STALLS = Timing(latency=9, stall=0.3, stream_stall=0.4)


class Half(Bench):
    """Memory and a sink for `dut`, an Mm2s; `sent` gets what goes out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.memory[:] = [self.random.getrandbits(32) for _ in range(self.memory.size)]

    def models(self) -> list[Any]:
        words = self._sink(self.dut.stream, self.dut.stop)
        return [self.count, self._read_channel(self.dut.bus, self.word_bytes, self.reads), words]

    def words(self, address: int, length: int) -> list[int]:
        width = self.word_bytes
        return [self.word(address + at, width) for at in range(0, length, width)]


async def command(ctx: Any, device: Mm2s, **values: int) -> None:
    for name, value in values.items():
        ctx.set(device.last if name == "last" else getattr(device.command, name), value)
    ctx.set(device.command.start, 1)
    await ctx.tick()
    ctx.set(device.command.start, 0)


@pytest.mark.every(3)
@pytest.mark.parametrize(("width", "burst"), [(32, 16), (64, 4), (128, 1)])
def test_transfers_one_at_a_time(width: int, burst: int) -> None:
    bench = Half(Mm2s(width, burst=burst), STALLS, seed=width, burst=burst, word_bytes=width // 8)
    device, random, size = bench.dut, bench.random, width // 8

    async def main(ctx: Any) -> None:
        for _ in range(12):
            address, words = random.randrange(0x2000 // size) * size, random.randrange(1, 160)
            short = random.randrange(size)  # a last word that is not whole is read whole
            assert ctx.get(device.quiet)
            await command(ctx, device, address=address, length=words * size - short)
            sent = len(bench.sent)
            while not ctx.get(device.status.done):
                assert ctx.get(device.status.active)
                await ctx.tick()
            await ctx.tick()
            assert not ctx.get(device.status.active)
            expected = [(word, False) for word in bench.words(address, words * size)]
            assert bench.sent[sent:] == [*expected[:-1], (expected[-1][0], True)]

    simulate(device, main, models=bench.models())


@pytest.mark.every(3)
@pytest.mark.parametrize(("width", "burst"), [(32, 16), (64, 4), (128, 64)])
def test_rows_of_commands_that_follow_each_other(width: int, burst: int) -> None:
    device = Mm2s(width, burst=burst, strided=True)
    bench = Half(device, STALLS, seed=burst, burst=burst, word_bytes=width // 8)
    random, size = bench.random, width // 8
    expected: list[tuple[int, bool]] = []
    moved: list[int] = []
    done: list[int] = []
    together = 0

    async def watch(ctx: Any) -> None:
        while True:
            _, _, ends, count = await ctx.tick().sample(device.status.done, device.moved)
            if ends:
                done.append(count)

    async def main(ctx: Any) -> None:
        nonlocal together
        for _ in range(30):
            length, rows, last = random.randrange(1, 30) * size, random.randrange(6), random.randrange(2)
            stride, address = random.randrange(0, 50) * size, random.randrange(0x1000 // size) * size
            row_words = [bench.words(address + stride * row, length) for row in range(max(1, rows))]
            words = [word for row in row_words for word in row]
            expected.extend((word, False) for word in words[:-1])
            expected.append((words[-1], bool(last)))
            moved.append(len(words) * size)
            while not ctx.get(device.command.ready):
                await ctx.tick()
            together += ctx.get(device.status.active)
            await command(ctx, device, address=address, length=length, rows=rows, stride=stride, last=last)
            for _ in range(random.randrange(3)):
                await ctx.tick()
        while ctx.get(device.status.active):
            await ctx.tick()
        assert ctx.get(device.quiet)

    simulate(device, main, models=[*bench.models(), watch])
    assert bench.sent == expected
    assert done == moved
    assert together > 10


def test_rows_that_begin_with_the_last_word_of_a_page() -> None:
    bench = Half(Mm2s(strided=True), STALLS)
    device = bench.dut

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0xFFC, length=5 * 4, rows=6, stride=0x1000, last=1)
        while ctx.get(device.status.active):
            await ctx.tick()

    simulate(device, main, models=bench.models())
    rows = [bench.words(0xFFC + 0x1000 * row, 5 * 4) for row in range(6)]
    assert [word for word, _ in bench.sent] == [word for row in rows for word in row]
    assert [burst.beats for burst in bench.reads] == [1, 4] * 6


@pytest.mark.parametrize(("response", "error"), [(SLVERR, "slave_error"), (DECERR, "decode_error")])
@pytest.mark.parametrize("strided", [False, True])
def test_nothing_behind_an_error_is_sent_or_requested(strided: bool, response: int, error: str) -> None:
    bench = Half(Mm2s(strided=strided), Timing(latency=2, stream_stall=0.95))  # the words wait
    bench._response = lambda address: response if address == 0x1000 else OKAY  # type: ignore[method-assign]
    device, seen = bench.dut, {"slave_error": 0, "decode_error": 0}

    async def watch(ctx: Any) -> None:
        while True:
            _, _, *now = await ctx.tick().sample(device.status.slave_error, device.status.decode_error)
            for name, value in zip(seen, now, strict=True):
                seen[name] += value

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0x1000 - 20 * 4, length=4000)
        while ctx.get(device.status.active):
            assert not ctx.get(device.status.done)
            await ctx.tick()
        assert ctx.get(device.drained)
        if strided:
            assert len(bench.sent) == 20, "what came before the error is out"
        asked = len(bench.reads)
        for _ in range(50):
            await ctx.tick()
        assert len(bench.reads) == asked < 4000 // 4 // 16

    simulate(device, main, models=[*bench.models(), watch])
    assert [word for word, _ in bench.sent] == bench.words(0x1000 - 20 * 4, 20 * 4)[: len(bench.sent)]
    assert seen.pop(error) == 1
    assert not any(seen.values())


@pytest.mark.parametrize("seed", range(4))
def test_stop_drains_the_bus_and_forgets_the_words(seed: int) -> None:
    bench = Half(Mm2s(), STALLS, seed)
    device = bench.dut

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0, length=8000)
        for _ in range(bench.random.randrange(20, 200)):
            await ctx.tick()
        ctx.set(device.stop, 1)
        sent, waited = len(bench.sent), 0
        while not ctx.get(device.drained):
            await ctx.tick()
            waited += 1
        asked = len(bench.reads)
        for _ in range(60):
            await ctx.tick()
            assert ctx.get(device.drained)
        assert len(bench.reads) == asked, "a drained device stays drained"
        assert len(bench.sent) - sent <= 1, "the word of the cycle before"
        assert sum(burst.beats for burst in bench.reads) <= len(bench.sent) + FIFO_DEPTH + 2 * waited

    simulate(device, main, models=bench.models())


def test_no_burst_is_requested_without_room_for_it() -> None:
    bench = Half(Mm2s(), Timing(latency=3, stream_stall=1))
    device = bench.dut

    async def main(ctx: Any) -> None:
        await command(ctx, device, address=0, length=4000)
        for _ in range(400):
            await ctx.tick()
            assert ctx.get(device.bus.rready)

    simulate(device, main, models=bench.models())
    assert sum(burst.beats for burst in bench.reads) == FIFO_DEPTH // 16 * 16
