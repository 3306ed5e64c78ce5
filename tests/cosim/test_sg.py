"""Scatter-gather and wide streams in the simulated SoC: the same drivers, on both simulators."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from axiloom import boards, isa
from axiloom.cosim.soc import Job, Soc
from axiloom.cosim.toolchain import compile_arm

SHARED = Path(__file__).parents[1] / "system" / "drivers"
RNG = np.random.default_rng(11)
A, B = RNG.integers(-(2**31), 2**31, (2, 4, 4), np.int64).astype(np.int32)
OUTPUTS = {"C": ((4, 4), "int32")}
PARTS = ("compute", "load", "store", "dma_wait", "idle")


def specification(scatter_gather: bool = True, width: int = 32) -> isa.AcceleratorSpec:
    spec = isa.builtin("v3_4")
    dma = dataclasses.replace(spec.dma, scatter_gather=scatter_gather)
    return spec.replace(dma=dma, stream_width=width)


def driver(tmp_path: Path, source: Path, **defines: int) -> Path:
    board = boards.load(boards.DEFAULT)
    out = tmp_path / f"{source.stem}.elf"
    return compile_arm([source], out, board=board, include=[SHARED], defines=defines)


def test_both_simulators_agree(tmp_path: Path) -> None:
    elf = driver(tmp_path, SHARED / "right.c", AXL_DMA_SG=1)
    job = Job(elf, {"A": A, "B": B}, OUTPUTS)
    results = []
    for sim in ("verilator", "icarus"):
        first, again, unreset = Soc(specification(), sim=sim).run_many(
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
