"""Several accelerators behind one set of ports: registers, bursts of two masters, errors, idleness."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.hw.dma.dma_bench import (
    DEC_ERROR,
    DECERR,
    HALTED,
    IDLE,
    IOC,
    MM2S_DMACR,
    MM2S_LENGTH,
    MM2S_SA,
    RESET,
    RUN,
    S2MM_DA,
    S2MM_DMACR,
    S2MM_DMASR,
    S2MM_LENGTH,
    Bench,
    Cpu,
    Timing,
)
from tests.hw.dma.sg_bench import Item, begin, put, status
from tests.hw.soc.test_soc import Loopback, SocBench

from axiloom import isa
from axiloom.base.cache import cached_build
from axiloom.base.errors import BuildError, SpecError
from axiloom.boards.synthesis.resources import synthesise
from axiloom.hw.axi.interconnect import LiteDecoder, ReadArbiter, WriteArbiter
from axiloom.hw.rtl_files.lint import lint
from axiloom.hw.soc.shared import SharedSoc
from axiloom.hw.verilog import emit as verilog

SPECS = isa.place([isa.builtin("v1_4"), isa.builtin("v2_4"), isa.builtin("v3_4")])
BASES = [spec.link.dma.address for spec in SPECS]
WORDS = 300


def loopbacks(count: int, **dma: Any) -> SharedSoc:
    specs = [spec.replace(dma=replace(spec.link.dma, **dma)) for spec in SPECS[:count]]
    return SharedSoc(specs, [Loopback() for _ in specs])


def region(i: int) -> slice:
    """Words that accelerator `i` sends; what it receives lies 0x2000 words further on."""
    return slice(0x400 * i, 0x400 * i + WORDS)


def received(bench: Bench, i: int) -> np.ndarray[Any, Any]:
    return bench.memory[0x2000 + 0x400 * i :][:WORDS]


async def start(cpu: Cpu, base: int, i: int) -> None:
    for register, value in (
        (MM2S_DMACR, RUN),
        (S2MM_DMACR, RUN),
        (S2MM_DA, 4 * (0x2000 + 0x400 * i)),
        (S2MM_LENGTH, 4 * WORDS + 64),
        (MM2S_SA, 4 * 0x400 * i),
        (MM2S_LENGTH, 4 * WORDS),
    ):
        await cpu.write(base + register, value)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("count", "latency", "stall"),
    [
        (2, 3, 0),
        pytest.param(2, 40, 0, marks=pytest.mark.slow),
        pytest.param(3, 12, 0.4, marks=pytest.mark.slow),
    ],
)
def test_all_channels_at_once(count: int, latency: int, stall: float) -> None:
    bench = SocBench(loopbacks(count), Timing(latency, stall))
    words = np.random.default_rng(3).integers(0, 1 << 32, (count, WORDS), np.uint32)
    for i in range(count):
        bench.memory[region(i)] = words[i]

    async def main(cpu: Cpu) -> None:
        for i in range(count):
            await start(cpu, BASES[i], i)
            assert not cpu.ctx.get(bench.dut.debug_idle)
        for i in range(count):
            assert await cpu.until(BASES[i] + S2MM_DMASR, IDLE) == IDLE | IOC
            assert await cpu.read(BASES[i] + S2MM_LENGTH) == 4 * WORDS
            assert (received(bench, i) == ~words[i]).all()
        await cpu.wait(5)
        assert cpu.ctx.get(bench.dut.debug_idle)
        assert not cpu.ctx.get(bench.dut.debug_mm2s_busy)

    bench.run(main)
    # Bursts of different masters really were between each other.
    owners = [(burst.address >> 12) for burst in bench.reads]
    assert sum(a != b for a, b in pairwise(owners)) > count


@pytest.mark.slow
def test_an_error_and_a_reset_of_one_leave_the_other_alone() -> None:
    bench = Bench(loopbacks(2), Timing(latency=10), errors={8: DECERR})
    words = np.random.default_rng(4).integers(0, 1 << 32, WORDS, np.uint32)
    bench.memory[region(1)] = words

    async def main(cpu: Cpu) -> None:
        await start(cpu, BASES[0], 0)  # writes to page 8
        await start(cpu, BASES[1], 1)
        assert await cpu.until(BASES[0] + S2MM_DMASR, HALTED) & DEC_ERROR
        await cpu.write(BASES[0] + MM2S_DMACR, RESET)
        assert await cpu.until(BASES[1] + S2MM_DMASR, IDLE) == IDLE | IOC
        while await cpu.read(BASES[0] + MM2S_DMACR) & RESET:
            pass
        assert await cpu.read(BASES[0] + S2MM_DMASR) == HALTED
        assert (received(bench, 1) == ~words).all()

    bench.run(main)


@pytest.mark.slow
def test_descriptors_of_two_share_their_port() -> None:
    dut = loopbacks(2, scatter_gather=True)
    bench = Bench(dut, Timing(latency=9, stall=0.2))
    words = np.random.default_rng(5).integers(0, 1 << 32, (2, 128), np.uint32)
    chains = []
    for i in range(2):
        bench.memory[0x400 * i :][:128] = words[i]
        send = [Item(0x10000 + 0x1000 * i + 64 * n, 0x1000 * i + 128 * n, 128) for n in range(4)]
        take = [Item(0x14000 + 0x1000 * i + 64 * n, 0x8000 + 0x1000 * i + 128 * n, 128) for n in range(4)]
        put(bench, send)
        put(bench, take)
        chains.append((send, take))

    async def main(cpu: Cpu) -> None:
        for i, (send, take) in enumerate(chains):
            await begin(cpu, BASES[i] + 0x30, take)
            await begin(cpu, BASES[i], send)
        for i in range(2):
            assert await cpu.until(BASES[i] + S2MM_DMASR, IDLE) & IDLE

    bench.run(main)
    for i, (send, take) in enumerate(chains):
        assert (bench.memory[0x2000 + 0x400 * i :][:128] == ~words[i]).all()
        assert all(status(bench, item) >> 31 for item in (*send, *take))


@pytest.mark.slow
def test_matmuls_on_both_and_interrupts_of_their_own() -> None:
    specs = [SPECS[0], SPECS[2]]  # v1: A, B in one packet, C comes back; v3: opcodes
    bench = Bench(SharedSoc(specs), Timing(latency=10))
    a, b = np.random.default_rng(6).integers(-1000, 1000, (2, 4, 4), np.int32)
    both = np.concatenate([a.ravel(), b.ravel()]).view(np.uint32)
    bench.memory[:32] = both
    v3 = [1, *both[:16], 2, *both[16:], 4, 8]
    bench.memory[0x400 : 0x400 + len(v3)] = v3

    async def main(cpu: Cpu) -> None:
        for i, (spec, words) in enumerate(zip(specs, (32, len(v3)), strict=True)):
            base = spec.link.dma.address
            await cpu.write(base + MM2S_DMACR, RUN)
            await cpu.write(base + S2MM_DMACR, RUN | IOC)
            await cpu.write(base + S2MM_DA, 0x8000 + 0x1000 * i)
            await cpu.write(base + S2MM_LENGTH, 64)
            await cpu.write(base + MM2S_SA, 0x1000 * i)
            await cpu.write(base + MM2S_LENGTH, 4 * words)
        ctx, dut = cpu.ctx, bench.dut
        await ctx.tick().until(dut.s2mm_introut == 3)
        await cpu.write(specs[0].link.dma.address + S2MM_DMASR, IOC)
        assert ctx.get(dut.s2mm_introut) == 2
        assert ctx.get(dut.debug_error) == 0
        for i in range(2):
            c = bench.memory[0x2000 + 0x400 * i :][:16].view(np.int32).reshape(4, 4)
            assert np.array_equal(c, a @ b)

    bench.run(main)


@pytest.mark.slow
@pytest.mark.parametrize("sg", [False, True])
def test_its_verilog_is_clean_and_names_what_is_in_it(sg: bool) -> None:
    specs = [spec.replace(dma=replace(spec.link.dma, scatter_gather=sg)) for spec in SPECS[:2]]
    text = verilog.emit(specs)
    assert lint(text, "axiloom_soc") == []
    assert "specification v1_4 and v2_4, configuration" in text
    for module in ("axiloom_soc", "axiloom_soc_decoder", "axiloom_soc_soc_v1_4_dma", "axiloom_soc_soc_v2_4"):
        assert f"module {module} (" in text
    assert verilog.emit(specs) == text
    assert verilog.emit([specs[0]]) == verilog.emit(specs[0])


@pytest.mark.slow
@pytest.mark.parametrize(("count", "lut", "ff"), [(2, 302, 153), (4, 382, 159)])
def test_what_sharing_takes(count: int, lut: int, ff: int) -> None:
    """The figures of docs/driver.md: Yosys and Amaranth are pinned, so they are exact."""
    parts = {
        "decoder": LiteDecoder(range(0x4040, 0x4040 + count), 10),
        "reads": ReadArbiter(count, 32),
        "writes": WriteArbiter(count, 32),
    }
    taken = [
        synthesise(verilog.convert(part, f"top_{name}"), f"top_{name}", cached_build)
        for name, part in parts.items()
    ]
    print(*zip(parts, taken, strict=True), sep="\n")
    assert sum(one.lut for one in taken) == lut
    assert sum(one.ff for one in taken) == ff
    assert all(one.dsp == 0 == one.bram36 for one in taken)


def test_what_cannot_be_built() -> None:
    with pytest.raises(BuildError, match="v1_4, v2_4: the Verilog of an accelerator alone is of one of them"):
        verilog.emit(SPECS[:2], top="accelerator")
    with pytest.raises(SpecError, match=r"v2_4: dma_config.id: 0 is the DMA of v1_4 too"):
        verilog.emit([isa.builtin("v1_4"), isa.builtin("v2_4")])
