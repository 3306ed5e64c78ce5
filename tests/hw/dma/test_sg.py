"""The DMA in scatter-gather mode against PG021 (docs/driver.md) and a model of what a chain means."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.hw.dma.dma_bench import (
    DEC_ERROR,
    DECERR,
    ERROR,
    ERROR_ENABLE,
    HALTED,
    IDLE,
    INT_ERROR,
    IOC,
    IOC_ENABLE,
    RESET,
    RUN,
    SLV_ERROR,
    SLVERR,
    Bench,
    Cpu,
    Timing,
)
from tests.hw.dma.sg_bench import (
    AHEADDESC,
    COMPLETE,
    CURDESC,
    DEC,
    DELAY,
    DELAY_ENABLE,
    DMACR,
    DMASR,
    EOF,
    INT,
    MM2S,
    S2MM,
    SG_DEC_ERROR,
    SG_INCLUDED,
    SG_INT_ERROR,
    SG_SLV_ERROR,
    SLV,
    SOF,
    TAILDESC,
    Item,
    Model,
    begin,
    chain_of,
    packets,
    put,
    run_chain,
    sg_bench,
    status,
)

from axiloom.isa.contract.dma_registers import DMACR as DMACR_REGISTER

CYCLIC = DMACR_REGISTER.field("Cyclic_BD_Enable").mask
CHANNELS = [pytest.param(MM2S, id="mm2s"), pytest.param(S2MM, id="s2mm")]


def filled(bench: Bench) -> Bench:
    bench.memory[:] = np.random.default_rng(bench.seed).integers(0, 1 << 32, bench.memory.size, np.uint32)
    return bench


# --- registers ---


def test_registers() -> None:
    async def main(cpu: Cpu) -> None:
        for channel in (MM2S, S2MM):
            control, state = channel + DMACR, channel + DMASR
            assert await cpu.read(control) == 0x0001_0002
            assert await cpu.read(state) == HALTED | SG_INCLUDED
            await cpu.write(channel + CURDESC, 0x1234_5678)
            assert await cpu.read(channel + CURDESC) == 0x1234_5640, "multiples of 64"
            await cpu.write(channel + TAILDESC, 0x1234_5678)  # halted: no effect but on what reads back
            assert await cpu.read(channel + TAILDESC) == 0x1234_5640
            await cpu.wait(20)
            assert cpu.ctx.get(cpu.bench.dut.quiet)
            await cpu.write(control, 0x12FF_7001)
            assert await cpu.read(control) == 0x12FF_7003
            assert await cpu.read(state) == SG_INCLUDED, "not idle before the first descriptor"
            await cpu.write(channel + CURDESC, 0)
            assert await cpu.read(channel + CURDESC) == 0x1234_5640, "read only while it runs"
            await cpu.write(control, 0)
            assert await cpu.read(state) == HALTED | SG_INCLUDED
            for reserved in (0x0C, 0x14, 0x18, 0x28):
                await cpu.write(channel + reserved, 0xFFFF_FFFF)
                assert await cpu.read(channel + reserved) == 0

    sg_bench().run(main)


# --- chains ---


@st.composite
def chains(draw: st.DrawFn, width: int, base: int) -> list[Item]:
    """Descriptors in the 4 KiB from `base`, some behind each other and some not; buffers that do not overlap
    in the 48 KiB behind them."""
    count = draw(st.integers(1, 7))
    places = draw(st.permutations(range(64))) if draw(st.booleans()) else list(range(60, 64)) + list(range(9))
    free = base + 0x1000
    items = []
    for place in places[:count]:
        words = draw(st.sampled_from((1, 1, 2, 5, 8, 16, 33)))
        rows = draw(st.sampled_from((0, 0, 1, 2, 5)))
        stride = width * (words + draw(st.sampled_from((0, 1, 3, 30))))
        free += width * draw(st.integers(0, 9))
        items.append(
            Item(base + 64 * place, free, width * words, stride if rows else 0, rows, draw(st.booleans()))
        )
        free = max(items[-1].addresses(width)) + width
    assert free <= base + 0x6000
    return items


Situation = tuple[int, Timing, int, list[Item], list[Item], int]
"""Bytes a beat, timing, seed, what MM2S sends, what S2MM receives, descriptors before the first tail."""


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    width = draw(st.sampled_from((4, 8, 16)))
    timing = Timing(
        draw(st.sampled_from((1, 4, 30))),
        draw(st.sampled_from((0.0, 0.3, 0.6))),
        draw(st.sampled_from((0.0, 0.5))),
    )
    out, into = draw(chains(width, 0x1000)), draw(chains(width, 0x9000))
    return width, timing, draw(st.integers(0, 1000)), out, into, draw(st.integers(1, 7))


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[
            Phase.explicit,
            Phase.generate,
        ],  # an example takes seconds: too long to look for a smaller one
    )


@pytest.mark.slow
@examples(8)
@given(situations())
def test_chains_of_both_channels(situation: Situation) -> None:
    check_chains(*situation)


def check_chains(width: int, timing: Timing, seed: int, out: list[Item], into: list[Item], step: int) -> None:
    """Both at once, the tail moved in two steps; then again; then after a reset in the middle."""
    bench = filled(sg_bench(width, timing=timing, seed=seed))
    chosen = random.Random(seed)

    async def once(cpu: Cpu) -> None:
        bench.sent.clear()
        put(bench, out)
        put(bench, into)
        model = Model(bench, into, chosen)
        for packet in model.packets:
            bench.packet(packet)
        for channel, chain in ((MM2S, out), (S2MM, into)):
            await begin(cpu, channel, chain[:step])
        for channel, chain in ((MM2S, out), (S2MM, into)):
            if len(chain) > step:  # the same tail again would mean the ring again
                await cpu.write(channel + TAILDESC, chain[-1].place)
        for channel in (MM2S, S2MM):
            await cpu.until(channel + DMASR, IDLE)
        assert bench.sent == packets(bench, out)
        model.apply_status(out)
        assert np.array_equal(bench.memory, model.memory)
        assert cpu.ctx.get(bench.dut.quiet)
        for channel, chain in ((MM2S, out), (S2MM, into)):
            assert await cpu.read(channel + CURDESC) == chain[-1].place
            state = await cpu.read(channel + DMASR)
            assert state & ~IOC == IDLE | SG_INCLUDED
            await cpu.write(channel + DMACR, 0)
            assert await cpu.read(channel + DMASR) & HALTED

    async def main(cpu: Cpu) -> None:
        await once(cpu)
        await once(cpu)
        put(bench, out)
        put(bench, into)
        bench.packet(range(200))
        for channel, chain in ((MM2S, out), (S2MM, into)):
            await begin(cpu, channel, chain)
        await cpu.wait(chosen.randrange(200))
        await reset(cpu)
        assert cpu.ctx.get(bench.dut.quiet)
        await once(cpu)

    bench.run(main)


async def reset(cpu: Cpu) -> None:
    await cpu.write(S2MM + DMACR, RESET)
    while await cpu.read(MM2S + DMACR) & RESET:
        pass


@pytest.mark.slow
def test_a_ring_goes_round() -> None:
    """The tail moves on behind what is done, and the ring is used again and again without a stop."""
    bench = filled(sg_bench(timing=Timing(latency=20)))
    ring = chain_of(8, 0x1000, 0x8000, 40, 5)
    put(bench, ring, beyond=ring[0].place)

    async def main(cpu: Cpu) -> None:
        await begin(cpu, MM2S, ring[:5])
        for pushed in range(5, 40):
            oldest = ring[(pushed - 5) % 8]
            while not status(bench, oldest) & COMPLETE:
                await cpu.wait(3)
            bench.memory[oldest.place // 4 + 7] = 0
            await cpu.write(MM2S + TAILDESC, ring[pushed % 8].place)
        await cpu.until(MM2S + DMASR, IDLE)
        assert bench.sent == packets(bench, ring) * 5

    bench.run(main)


@pytest.mark.slow
def test_the_same_tail_runs_a_ring_again() -> None:
    bench = filled(sg_bench())
    ring = chain_of(3, 0x1000, 0x8000, 8, 2)

    async def main(cpu: Cpu) -> None:
        put(bench, ring, beyond=ring[0].place)
        await run_chain(cpu, MM2S, ring)
        put(bench, ring, beyond=ring[0].place)
        await cpu.write(MM2S + TAILDESC, ring[-1].place)
        await cpu.until(MM2S + DMASR, IDLE)
        assert bench.sent == packets(bench, ring) * 2

    bench.run(main)


@pytest.mark.parametrize(("length", "tail"), [(1, 0x50), (3, 0x50), (3, 0x1080)])
def test_a_cyclic_chain_goes_round_until_it_is_stopped(length: int, tail: int) -> None:
    """Whatever the tail is, and although every descriptor says that it is done."""
    bench = filled(sg_bench(timing=Timing(latency=10)))
    ring = chain_of(length, 0x1000, 0x8000, 24, 2)
    put(bench, ring, beyond=ring[0].place)

    async def main(cpu: Cpu) -> None:
        await cpu.write(MM2S + CURDESC, ring[0].place)
        await cpu.write(MM2S + DMACR, RUN | CYCLIC)
        assert await cpu.read(MM2S + DMACR) == 0x0001_0002 | RUN | CYCLIC
        await cpu.write(MM2S + TAILDESC, tail)
        await cpu.wait(600)
        assert await cpu.read(MM2S + DMASR) == SG_INCLUDED | IOC, "neither idle nor an error"
        assert status(bench, ring[-1]) & COMPLETE
        await cpu.write(MM2S + DMACR, CYCLIC)
        await cpu.until(MM2S + DMASR, HALTED)
        turns = len(bench.sent) // len(packets(bench, ring)) + 1
        assert turns > 5
        assert bench.sent == (packets(bench, ring) * turns)[: len(bench.sent)]

    bench.run(main)


@pytest.mark.slow
def test_stop_ends_what_was_begun() -> None:
    bench = filled(sg_bench(timing=Timing(latency=10, stream_stall=0.5)))
    chain = chain_of(20, 0x1000, 0x8000, 200, 0)
    put(bench, chain)

    async def main(cpu: Cpu) -> None:
        await begin(cpu, MM2S, chain)
        await cpu.wait(150)
        await cpu.write(MM2S + DMACR, 0)
        await cpu.until(MM2S + DMASR, HALTED)
        done = [status(bench, item) for item in chain]
        count = sum(word != 0 for word in done)
        assert 0 < count < 15
        assert done == [COMPLETE | 200] * count + [0] * (20 - count)
        assert bench.sent == packets(bench, chain[:count])
        assert await cpu.read(MM2S + CURDESC) == chain[count - 1].place
        await run_chain(cpu, MM2S, chain[count:])
        assert bench.sent == packets(bench, chain)

    bench.run(main)


# --- speed ---


def busy(bench: Bench) -> float:
    """Share of cycles with a word, the first quarter left out."""
    cycles = bench.sent_cycles[len(bench.sent_cycles) // 4 :]
    return (len(cycles) - 1) / (cycles[-1] - cycles[0])


@pytest.mark.slow
@pytest.mark.parametrize("width", [4, 8, 16])
def test_short_descriptors_keep_the_stream_busy(width: int) -> None:
    """By turns an opcode of one beat and 64 words out of a matrix; memory answers after 30 cycles."""
    bench = filled(sg_bench(width, timing=Timing(latency=30)))
    chain = []
    for i in range(10):
        chain.append(Item(0x1000 + 128 * i, 0x7000 + 64 * i, width, last=False))
        chain.append(Item(0x1040 + 128 * i, 0x8000 + 64 * i, 64, 0x400, 4))
    put(bench, chain)

    async def main(cpu: Cpu) -> None:
        await run_chain(cpu, MM2S, chain)
        assert bench.sent == packets(bench, chain)

    bench.run(main)
    assert busy(bench) >= 0.99


@pytest.mark.every(3)
@pytest.mark.parametrize("width", [4, 8, 16])
def test_packets_in_a_row_are_received_without_a_gap(width: int) -> None:
    bench = sg_bench(width, timing=Timing(latency=30))
    chain = [Item(0x1000 + 64 * i, 0x8000 + 64 * i, 64, 1024, 4) for i in range(8)]
    put(bench, chain)
    taken: list[int] = []

    async def main(cpu: Cpu) -> None:
        await begin(cpu, S2MM, chain)
        await cpu.wait(100)
        for item in chain:
            bench.packet(range(item.bytes(width) // width))
        begun = bench.cycle
        while bench.to_receive:
            await cpu.wait(1)
        taken.append(bench.cycle - begun)
        await cpu.until(S2MM + DMASR, IDLE)

    bench.run(main)
    words = sum(item.bytes(width) // width for item in chain)
    assert taken[0] <= words + 4 + words // 50


# --- interrupts ---


@pytest.mark.every(2)
@pytest.mark.parametrize("channel", CHANNELS)
def test_threshold_counts_packets(channel: int) -> None:
    bench = filled(sg_bench())
    chain = [Item(0x1000 + 64 * i, 0x8000 + 64 * i, 16, last=i % 2 == 1) for i in range(12)]  # six packets
    put(bench, chain)
    for _ in range(6):
        bench.packet(range(8))

    async def main(cpu: Cpu) -> None:
        level = bench.dut.mm2s_introut if channel == MM2S else bench.dut.s2mm_introut
        other = bench.dut.s2mm_introut if channel == MM2S else bench.dut.mm2s_introut
        await begin(cpu, channel, chain[:5], RUN | IOC_ENABLE | 3 << 16)
        await cpu.until(channel + DMASR, IDLE)
        assert not await cpu.read(channel + DMASR) & IOC, "two packets and a half"
        for last in (5, 11):
            await cpu.write(channel + TAILDESC, chain[last].place)
            await cpu.until(channel + DMASR, IDLE)
            assert cpu.ctx.get(level)
            assert not cpu.ctx.get(other)
            await cpu.write(channel + DMASR, IOC)
            assert not cpu.ctx.get(level)

    bench.run(main)


def test_the_status_is_in_memory_when_the_interrupt_comes() -> None:
    bench = filled(sg_bench(timing=Timing(latency=40)))
    chain = chain_of(1, 0x1000, 0x8000, 16, 0)
    put(bench, chain)

    async def main(cpu: Cpu) -> None:
        await begin(cpu, MM2S, chain, RUN | IOC_ENABLE)
        await cpu.ctx.tick().until(bench.dut.mm2s_introut)
        assert status(bench, chain[0]) == COMPLETE | 16
        assert bench.last_response_cycle
        assert bench.cycle - bench.last_response_cycle <= 3

    bench.run(main)


@pytest.mark.every(2)
@pytest.mark.parametrize("channel", CHANNELS)
def test_delay_interrupt(channel: int) -> None:
    """Two packets of a threshold of three: after IRQDelay units of 125 cycles, and not quiet before."""
    bench = filled(sg_bench())
    chain = chain_of(2, 0x1000, 0x8000, 16, 0)
    put(bench, chain)
    bench.packet(range(4))
    bench.packet(range(4))

    async def main(cpu: Cpu) -> None:
        level = bench.dut.mm2s_introut if channel == MM2S else bench.dut.s2mm_introut
        await begin(cpu, channel, chain, RUN | IOC_ENABLE | DELAY_ENABLE | 3 << 16 | 2 << 24)
        await cpu.until(channel + DMASR, IDLE)
        begun = bench.cycle
        while not cpu.ctx.get(level):
            assert not cpu.ctx.get(bench.dut.quiet)
            await cpu.wait(1)
        assert 200 < bench.cycle - begun <= 250
        assert await cpu.read(channel + DMASR) & (IOC | DELAY) == DELAY
        await cpu.write(channel + DMASR, DELAY)
        assert not cpu.ctx.get(level)
        assert cpu.ctx.get(bench.dut.quiet)

    bench.run(main)


# --- errors ---


async def check_stopped(cpu: Cpu, channel: int, bit: int, place: int) -> None:
    """Halted with the error, for good; and as new after a reset."""
    bench = cpu.bench
    assert await cpu.until(channel + DMASR, HALTED) & ~IOC == HALTED | SG_INCLUDED | bit | ERROR
    assert cpu.ctx.get(bench.dut.mm2s_introut if channel == MM2S else bench.dut.s2mm_introut)
    assert await cpu.read(channel + CURDESC) == place
    await cpu.write(channel + DMACR, RUN)
    await cpu.write(channel + TAILDESC, 0x1000)
    await cpu.wait(50)
    assert await cpu.read(channel + DMASR) & ~IOC == HALTED | SG_INCLUDED | bit | ERROR
    assert cpu.ctx.get(bench.dut.quiet)
    await reset(cpu)
    assert await cpu.read(channel + DMASR) == HALTED | SG_INCLUDED
    good = [Item(0x4000, 0xF000, 64)]
    put(bench, good)
    bench.packet(range(64 // bench.word_bytes))
    bench.sent.clear()
    await run_chain(cpu, channel, good)
    assert status(bench, good[0]) & COMPLETE
    if channel == MM2S:
        assert bench.sent == packets(bench, good)


def three(bad: Item, width: int) -> list[Item]:
    """Good, bad, good."""
    return [Item(0x1000, 0x8000, 8 * width), bad, Item(0x1080, 0x9000, 8 * width)]


MISFITS = [
    pytest.param(Item(0x1040, 0xA000, 0), id="no bytes"),
    pytest.param(Item(0x1040, 0xA004, 64), id="address"),
    pytest.param(Item(0x1040, 0xA000, 12, 64, 2), id="row"),
    pytest.param(Item(0x1040, 0xA000, 16, 36, 2), id="stride"),
]


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("bad", MISFITS)
def test_misfits(channel: int, bad: Item) -> None:
    width = 8
    bench = filled(sg_bench(width, timing=Timing(10, 0.3, 0.3)))
    chain = three(bad, width)
    put(bench, chain)
    for _ in range(3):
        bench.packet(range(8))

    async def main(cpu: Cpu) -> None:
        await begin(cpu, channel, chain, RUN | ERROR_ENABLE)
        await cpu.until(channel + DMASR, HALTED)
        assert status(bench, chain[0]) & COMPLETE
        assert status(bench, bad) == COMPLETE | INT
        assert status(bench, chain[2]) == 0
        if channel == MM2S:
            assert bench.sent == packets(bench, chain[:1])
        await check_stopped(cpu, channel, INT_ERROR, bad.place)

    bench.run(main)


@pytest.mark.every(7)
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(
    ("response", "bit", "word"), [(SLVERR, SLV_ERROR, SLV), (DECERR, DEC_ERROR, DEC)], ids=["slv", "dec"]
)
@pytest.mark.parametrize("stall", [0, 0.5])
def test_error_of_a_buffer(channel: int, response: int, bit: int, word: int, stall: float) -> None:
    bench = filled(sg_bench(timing=Timing(20, stall, stall), errors={0xA: response}))
    bad = Item(0x1040, 0x9FE0, 32, 16 * 4, 4)  # the second row is there
    chain = three(bad, 4)
    put(bench, chain)
    for count in (8, 32, 8):
        bench.packet(range(1, count + 1))

    async def main(cpu: Cpu) -> None:
        await begin(cpu, channel, chain, RUN | ERROR_ENABLE)
        await cpu.until(channel + DMASR, HALTED)
        assert status(bench, chain[0]) & ~(SOF | EOF) == COMPLETE | 32
        assert status(bench, bad) == COMPLETE | word
        assert status(bench, chain[2]) == 0
        if channel == MM2S:
            assert bench.sent == packets(bench, chain)[:16]
        else:
            assert bench.memory[0x8000 // 4 :][:8].tolist() == list(range(1, 9))
            assert bench.memory[0x9FE0 // 4 :][:8].tolist() == list(range(1, 9))
        await check_stopped(cpu, channel, bit, bad.place)

    bench.run(main)


@pytest.mark.every(2)
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_completed_descriptor(channel: int) -> None:
    bench = filled(sg_bench(timing=Timing(latency=20)))
    chain = three(Item(0x1040, 0xA000, 32), 4)
    put(bench, chain)
    bench.memory[0x1040 // 4 + 7] = COMPLETE | 5
    bench.packet(range(8))

    async def main(cpu: Cpu) -> None:
        await begin(cpu, channel, chain, RUN | ERROR_ENABLE)
        await cpu.until(channel + DMASR, HALTED)
        assert status(bench, chain[0]) & COMPLETE
        assert status(bench, chain[1]) == COMPLETE | 5
        await check_stopped(cpu, channel, SG_INT_ERROR, 0x1040)

    bench.run(main)


@pytest.mark.every(7)
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(
    ("response", "bit"), [(SLVERR, SG_SLV_ERROR), (DECERR, SG_DEC_ERROR)], ids=["slv", "dec"]
)
def test_error_of_the_descriptors_memory(channel: int, response: int, bit: int) -> None:
    bench = filled(sg_bench(timing=Timing(latency=20), errors={6: response}))
    chain = [Item(0x1000, 0x8000, 32), Item(0x6000, 0x9000, 32), Item(0x6040, 0xA000, 32)]
    put(bench, chain)
    bench.packet(range(8))

    async def main(cpu: Cpu) -> None:
        await begin(cpu, channel, chain, RUN | ERROR_ENABLE)
        await cpu.until(channel + DMASR, HALTED)
        assert status(bench, chain[0]) & COMPLETE
        await check_stopped(cpu, channel, bit, 0x6000)

    bench.run(main)


def test_a_call_whose_descriptors_were_fetched_ahead_begins_sooner() -> None:
    """Two copies of a table take turns, as those of sw/src/dma_table.c."""
    bench = sg_bench(8, timing=Timing(latency=30))
    copies = [chain_of(3, 0x1000 + 192 * copy, 0x4000 + 0x400 * copy, 64, 0) for copy in range(2)]
    filled(bench)
    put(bench, [*copies[0], *copies[1]], copies[0][0].place)
    waits = []

    async def call(cpu: Cpu, chain: list[Item]) -> None:
        for item in chain:
            bench.memory[item.place // 4 + 7] = 0
        bench.sent.clear()
        bench.sent_cycles.clear()
        start = bench.cycle
        await cpu.write(TAILDESC, chain[-1].place)
        await cpu.until(DMASR, IDLE)
        assert bench.sent == packets(bench, chain)
        waits.append(bench.sent_cycles[0] - start)

    async def main(cpu: Cpu) -> None:
        await cpu.write(CURDESC, copies[0][0].place)
        await cpu.write(DMACR, 1)
        for number in range(4):
            await call(cpu, copies[number % 2])
            if number % 2:
                assert await cpu.read(AHEADDESC) == copies[1][-1].place
                continue
            bench.memory[copies[1][0].place // 4 + 7 :: 16][:3] = 0
            await cpu.write(AHEADDESC, copies[1][-1].place)
            await cpu.wait(80)
            assert await cpu.read(DMASR) & IDLE

    bench.run(main)
    read, ahead, again, ahead_again = waits
    assert (again, ahead_again) == (read, ahead)
    assert ahead <= read - 35
