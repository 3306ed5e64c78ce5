"""Drivers on a Cortex-A53 without an operating system: right, with its cache lines, on both kinds of DMA."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import boards, drivergen, isa
from axiloom.boards import Board
from axiloom.cosim import elf
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.run.compare import compare
from axiloom.run.problem import ProblemRun, Workload

A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")
V3 = isa.builtin("v3", 4)
QUEUED = V3.replace(dma=replace(V3.link.dma, scatter_gather=True))


def product(m: int, n: int, k: int) -> str:
    """Without an operand that it adds to: results may be written in place."""
    a, b, c = (f"tensor<{rows}x{cols}xi32>" for rows, cols in ((m, k), (k, n), (m, n)))
    return f"""
        func.func @matmul(%A: {a}, %B: {b}) -> {c} {{
          %zero = arith.constant 0 : i32
          %empty = tensor.empty() : {c}
          %init = linalg.fill ins(%zero : i32) outs(%empty : {c}) -> {c}
          %C = linalg.matmul ins(%A, %B : {a}, {b}) outs(%init : {c}) -> {c}
          return %C : {c}
        }}"""


def simulated(
    mlir: str, board: Board, folder: Path, *, queued: bool = False, wait: str = "poll", **schedule: str
) -> tuple[ProblemRun, Path]:
    """Nothing stale is read or lost: the run would end there."""
    system = System(QUEUED if queued else V3, board, wait=wait)
    run = ProblemRun(Workload("product", mlir), system, Schedule(**schedule))
    program = run.build(folder)
    (result,) = Soc(system).run_many([Job(program, run.inputs, run.outputs, strict=True)])
    assert compare(result, run.expected)["matches"]
    assert result.stale == []
    assert (result.events["maintenance"] > 0) == (board.simulation.dma_buffers == "cached")
    return run, program


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["published", "copying"])
def test_windows(tmp_path: Path, pipeline: str) -> None:
    simulated(drivergen.parse_workload("matmul:10x6x9").mlir, A53, tmp_path, pipeline=pipeline)


@pytest.mark.slow
@pytest.mark.parametrize("board", [A9, A53], ids=lambda board: str(board.architecture))
def test_results_in_place_that_end_within_a_line(tmp_path: Path, board: Board) -> None:
    """240 bytes in rows of 24: tiles share lines with each other, and nothing else is in the last one."""
    run, path = simulated(product(10, 6, 8), board, tmp_path, queued=True, flow="Cs", pipeline="all")
    assert "dma_queue_own(C, " in run.driver.c
    program = elf.load(path)
    result = program.symbol("axl_arg2")
    assert (result.address % board.line_bytes, result.size) == (0, 256)
    assert not [
        one
        for one in program.symbols.values()
        if one.name != "axl_arg2" and one.size and result.address <= one.address < result.address + 256
    ]


@pytest.mark.parametrize(("board", "owned"), [(A9, False), (A53, True)], ids=["armv7", "aarch64"])
def test_rows_are_whole_lines_of_the_cpu(board: Board, owned: bool) -> None:
    """Rows of 32 bytes are lines of their own for a Cortex-A9, and share one on a Cortex-A53."""
    spec = isa.builtin("v3", 8).replace(dma=QUEUED.link.dma)
    schedule = Schedule("Cs", pipeline="all")
    driver = ProblemRun(Workload("product", product(8, 16, 8)), System(spec, board), schedule).driver
    assert ("dma_queue_own" in driver.c) == owned
    assert "dma_queue_receive_rows" in driver.c


@pytest.mark.slow
def test_asleep_until_the_interrupt(tmp_path: Path) -> None:
    simulated(product(8, 8, 8), A53, tmp_path, wait="irq", pipeline="copying")
