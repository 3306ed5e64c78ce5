"""Scatter-gather and wide streams in the simulated SoC: the same drivers, on both simulators."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards, isa
from axiloom.base.errors import HangError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

OURS = Path(__file__).parent / "drivers"
SHARED = Path(__file__).parents[1] / "system" / "drivers"
RNG = np.random.default_rng(11)
A, B = RNG.integers(-(2**31), 2**31, (2, 4, 4), np.int64).astype(np.int32)
OUTPUTS = {"C": ((4, 4), "int32")}
PARTS = ("compute", "load", "store", "dma_wait", "idle")


def specification(scatter_gather: bool = True, width: int = 32) -> isa.AcceleratorSpec:
    spec = isa.builtin("v3_4")
    dma = dataclasses.replace(spec.link.dma, scatter_gather=scatter_gather)
    return spec.replace(dma=dma, stream_width=width)


def driver(tmp_path: Path, source: Path, **defines: int) -> Path:
    board = boards.load(boards.DEFAULT)
    out = tmp_path / f"{source.stem}.elf"
    return compile_bare([source], out, board=board, include=[SHARED], defines=defines)


@pytest.mark.slow
def test_both_simulators_agree(tmp_path: Path) -> None:
    elf = driver(tmp_path, SHARED / "right.c", AXL_DMA_SG=1)
    job = Job(elf, {"A": A, "B": B}, OUTPUTS)
    results = []
    for sim in ("verilator", "icarus"):
        first, again, unreset = Soc(System(specification(), sim=sim)).run_many(
            [job, job, dataclasses.replace(job, reset=False)]
        )
        assert (first.outputs["C"] == A @ B).all()
        assert first.stale == []
        assert sum(first.fabric[part] for part in PARTS) == first.fabric["cycles"]
        assert (first.fabric["transfers_in"], first.fabric["transfers_out"]) == (4, 1)
        assert first.fabric == again.fabric == unreset.fabric
        results.append(first)
    assert results[0].fabric == results[1].fabric
    assert results[0].counters == results[1].counters


# 64 bits are simulated by tests/system/test_wide_streams.py, on both simulators too.
@pytest.mark.slow
@pytest.mark.parametrize("width", [pytest.param(64, marks=pytest.mark.slow), 128])
def test_wide_streams(width: int, tmp_path: Path) -> None:
    """The same driver with padded heads; words are counted as they are on the stream."""
    spec = specification(width=width)
    elf = driver(tmp_path, OURS / "sg_wide.c", AXL_DMA_SG=1, AXL_STREAM_BITS=width)
    results = [
        Soc(System(spec, sim=sim)).run(elf, {"A": A, "B": B}, OUTPUTS) for sim in ("verilator", "icarus")
    ]
    for result in results:
        assert (result.outputs["C"] == A @ B).all()
        assert result.stale == []
        assert result.fabric["words_in"] == 4 * width // 32 + 32
        assert result.fabric["words_out"] == 16
    assert results[0].fabric == results[1].fabric


@pytest.fixture(scope="module")
def soc() -> Soc:
    made = Soc(System(specification(), watchdog_cycles=20_000))
    made.build()
    return made


@pytest.mark.slow
def test_a_sleeping_driver_is_woken(soc: Soc, tmp_path: Path) -> None:
    result = soc.run(
        driver(tmp_path, SHARED / "right.c", AXL_DMA_SG=1, AXL_DMA_IRQ=1), {"A": A, "B": B}, OUTPUTS
    )
    assert (result.outputs["C"] == A @ B).all()


@pytest.mark.slow
def test_a_hang_names_the_descriptor(soc: Soc, tmp_path: Path) -> None:
    with pytest.raises(HangError) as hang:
        soc.run(driver(tmp_path, OURS / "sg_half.c", AXL_DMA_SG=1))
    text = str(hang.value)
    assert re.search(
        r"m_axis \(from the device, S2MM\) stalls, the device sends nothing: 16 words expected for the "
        r"descriptor at 0x[0-9A-F]{6}[048C]0, 0 received, 16 missing",
        text,
    ), text
    assert "last opcode sA waits for 16 of the 16 words of A (1 words in)" in text
