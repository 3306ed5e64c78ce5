"""The driver as a Linux process beside the same driver on bare metal: results and cycles.

Bare metal is built with what a process has (windows uncached; AXL_AS_LINUX: bus addresses, waits with a
clock), so that both execute the same instructions of driver and runtime. Measured is the call of the driver:
Linux's start, the opening of devices and the exit have no part in it. On a machine whose caches cost nothing
its fabric cycles are the same; on the board's they differ a little, as code and arrays lie at other addresses
and so in other lines. A Cortex-A53 has no bare-metal build here: its process is held against the work of the
accelerator with the Cortex-A9.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from axiloom import boards, drivergen
from axiloom.boards import Board
from axiloom.cosim import toolchain
from axiloom.cosim.soc import Job, RunResult, Soc
from axiloom.isa import AcceleratorSpec
from axiloom.workflow import Run, compare

AS_PROCESS = {"AXL_DMA_CACHED": 0, "AXL_AS_LINUX": 1}
WORK = ("compute", "words_in", "words_out", "transfers_in", "transfers_out", "mmio_writes")
"""Counters of the fabric that are the driver's doing, whatever the CPU's pace."""


@dataclass(frozen=True)
class Line:
    """One run: fabric cycles of the driver's call, and the accelerator's counters."""

    build: str
    machine: str
    right: bool
    cycles: int
    fabric: dict[str, int]
    system_calls: int

    @property
    def work(self) -> tuple[int, ...]:
        return tuple(self.fabric[name] for name in WORK)


def flat(board: Board) -> Board:
    """`board` with caches and branches that cost nothing, and one clock for all."""
    free = dict.fromkeys(("l2_hit", "ddr", "writeback", "branch_miss", "ocm", "line_gap", "ddr_gap"), 0)
    whole = replace(board.cost, alu=1.0, word=1.0)
    return replace(
        board, name="flat", cpu_hz=board.fabric_hz, cost=whole, latency=replace(board.latency, **free)
    )


def lines(problem: str, spec: AcceleratorSpec, flow: str | None = None) -> list[Line]:
    """Both builds on the board and on the flat one, and AArch64's process."""
    a9, a53 = boards.load("pynq-z2"), boards.load("zcu104")
    mlir = drivergen.parse_workload(problem).mlir
    run = Run(problem, mlir, spec, flow=flow, pipeline="copying")
    driver = run.driver
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        texts = {"driver.c": driver.c, "main.c": driver.harness, driver.header_name: driver.header}
        for name, text in texts.items():
            (work / name).write_text(text)
        c = [work / "driver.c", work / "main.c"]
        bare = toolchain.compile_arm(
            c, work / "bare.elf", board=a9, spec=spec, include=[work], defines=AS_PROCESS
        )
        process = {
            board.architecture: toolchain.compile_linux(
                c,
                work / f"{board.name}.elf",
                cpu=board.architecture,
                board=board,
                spec=spec,
                include=[work],
            )
            for board in (a9, a53)
        }

        def measured(board: Board, builds: Sequence[tuple[str, Path]]) -> list[Line]:
            jobs = [Job(elf, run.inputs, run.outputs, section=driver.function) for _, elf in builds]
            results = Soc(spec, board=board).run_many(jobs)
            return [_line(name, board, run, one) for (name, _), one in zip(builds, results, strict=True)]

        both = [("bare metal", bare), ("Linux armv7", process["armv7"])]
        return [
            *measured(flat(a9), both),
            *measured(a9, both),
            *measured(a53, [("Linux aarch64", process["aarch64"])]),
        ]


def _line(build: str, board: Board, run: Run, result: RunResult) -> Line:
    right = bool(compare(result, run.expected)["matches"])
    calls = result.events["syscalls"]
    return Line(build, board.name, right, result.section_cycles, result.fabric, calls)
