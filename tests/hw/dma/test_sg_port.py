# amaranth: UnusedElaboratable=no
"""The port of the descriptors: reads and writes of two channels, in turn, each with its own answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hw.component_bench import simulate
from tests.hw.dma.dma_bench import DECERR, OKAY, SG_BYTES, SLVERR, Bench, Timing

from axiloom.hw.dma.sg_port import READ_WORDS, SgPort

STALLS = Timing(latency=8, stall=0.3)
COUNT = 40


def memory(bench: Bench) -> list[Any]:
    bus = bench.dut.bus
    ports = (
        bench._read_channel(bus, SG_BYTES, bench.reads),
        bench._write_channel(bus, SG_BYTES, bench.writes, one_word=True),
    )
    return [bench.count, *ports]


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(3))
def test_answers_come_to_who_asked_in_the_order_of_the_requests(seed: int) -> None:
    bench = Bench(SgPort(), STALLS, seed, errors={0x20: SLVERR, 0x21: DECERR})
    device, rng = bench.dut, bench.random
    bench.memory[:] = [rng.getrandbits(32) for _ in range(bench.memory.size)]
    before = bench.memory.copy()
    got: list[list[tuple[int, int]]] = [[], []]
    wanted: list[list[tuple[int, int]]] = [[], []]
    responses: list[list[int]] = [[], []]
    wanted_responses: list[list[int]] = [[], []]

    def channel(number: int) -> Any:
        port = getattr(device, f"channel{number}")

        async def main(ctx: Any) -> None:
            reads = writes = COUNT
            while reads or writes or len(got[number]) < len(wanted[number]) or len(responses[number]) < COUNT:
                # A request may be taken back, and another one made.
                read, write = reads > 0 and rng.random() < 0.5, writes > 0 and rng.random() < 0.5
                source = rng.randrange(0x18, 0x24) * 0x1000 + rng.randrange(64) * 64
                target = (0x1000 if rng.random() < 0.8 else 0x20000) + (number * COUNT + writes) * 4
                word = rng.getrandbits(32)
                for name, value in (
                    ("read", read),
                    ("read_address", source),
                    ("write", write),
                    ("write_address", target),
                    ("write_data", word),
                ):
                    ctx.set(getattr(port, name), value)
                (
                    _,
                    _,
                    may_read,
                    may_write,
                    beat,
                    data,
                    response,
                    written,
                    write_response,
                ) = await ctx.tick().sample(
                    port.read_granted,
                    port.write_granted,
                    port.beat,
                    port.data,
                    port.read_response,
                    port.written,
                    port.write_response,
                )
                if may_read:
                    assert read
                    reads -= 1
                    status = bench.errors.get(source >> 12, OKAY)
                    low, high = (before[source // 4 + half :][:READ_WORDS:2].tolist() for half in (0, 1))
                    beats = [one | two << 32 for one, two in zip(low, high, strict=True)]
                    wanted[number] += [(0 if status else each, status) for each in beats]
                if may_write:
                    assert write
                    writes -= 1
                    status = bench.errors.get(target >> 12, OKAY)
                    wanted_responses[number].append(status)
                    if not status:
                        stored[target // 4] = word
                if beat:
                    got[number].append((data, response))
                if written:
                    responses[number].append(write_response)

        return main

    stored: dict[int, int] = {}
    simulate(device, channel(0), channel(1), models=memory(bench))
    assert got == wanted
    assert responses == wanted_responses
    assert {place: bench.memory[place] for place in stored} == stored


def test_channels_take_turns_while_both_ask() -> None:
    bench = Bench(SgPort(), Timing(latency=2))
    device = bench.dut
    granted: list[tuple[int, int]] = []

    async def main(ctx: Any) -> None:
        for port in (device.channel0, device.channel1):
            ctx.set(port.read, 1)
        while len(granted) < 10:
            _, _, *now = await ctx.tick().sample(device.channel0.read_granted, device.channel1.read_granted)
            if any(now):
                granted.append(tuple(now))

    simulate(device, main, models=memory(bench))
    assert granted in ([(0, 1), (1, 0)] * 5, [(1, 0), (0, 1)] * 5)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_stop_lets_what_was_begun_end(kind: str) -> None:
    bench = Bench(SgPort(), STALLS)
    device = bench.dut

    async def main(ctx: Any) -> None:
        ctx.set(getattr(device.channel0, kind), 1)
        for _ in range(20):
            await ctx.tick()
        assert not ctx.get(device.drained)
        ctx.set(device.stop, 1)
        beats = answers = 0
        while not ctx.get(device.drained):
            assert not ctx.get(device.channel0.read_granted | device.channel0.write_granted)
            _, _, beat, written = await ctx.tick().sample(device.channel0.beat, device.channel0.written)
            beats, answers = beats + beat, answers + written
        assert beats + answers
        asked = len(bench.reads), len(bench.writes)
        for _ in range(40):
            await ctx.tick()
            assert ctx.get(device.drained)
            assert not ctx.get(device.channel0.beat | device.channel0.written)
        assert (len(bench.reads), len(bench.writes)) == asked

    simulate(device, main, models=memory(bench))
