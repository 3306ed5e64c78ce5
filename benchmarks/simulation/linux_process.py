"""The driver as a Linux process beside the same driver on bare metal: results and cycles.

Bare metal is built with what a process has (windows uncached; AXL_AS_LINUX: bus addresses, waits with a
clock), and each function and variable that both programs have lies where the process has it, the stack too.
Measured is the call of the driver: Linux's start, the opening of devices and the exit have no part in it,
nor has what they leave in the caches: these are empty when the call begins. So both execute the same
instructions at the same addresses, and take the same cycles.

Ends with 1 if a result is wrong, or the two differ by a cycle.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from elftools.elf.elffile import ELFFile

from axiloom import boards, isa
from axiloom.base import processes
from axiloom.boards import Board
from axiloom.cosim import elf
from axiloom.cosim.build import toolchain
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.run.compare import compare
from axiloom.run.problem import ProblemRun, Workload

CASES = (
    ("matmul:64x64x64", isa.builtin("v3", 16), "Cs"),
    ("conv:16_32_3_16_1", isa.builtin("conv_v3"), None),
)
AS_PROCESS = {"AXL_DMA_CACHED": 0, "AXL_AS_LINUX": 1}
WORK = ("compute", "words_in", "words_out", "transfers_in", "transfers_out", "mmio_writes")
"""Counters of the fabric that are the driver's doing, whatever the CPU's pace."""
BOARDS = ("pynq-z2", "zcu104")
BUILDS = ("bare metal", "Linux")


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
        board,
        name=f"flat {board.architecture}",
        cpu_hz=board.fabric_hz,
        cost=whole,
        latency=replace(board.latency, **free),
    )


def lines(problem: str, spec: AcceleratorSpec, flow: str | None = None) -> list[Line]:
    """Both builds of both architectures, on the flat machine and on the board."""
    compared: list[Line] = []
    for board in map(boards.load, BOARDS):
        compared += _compared(problem, spec, flow, board)
    return compared


def _compared(problem: str, spec: AcceleratorSpec, flow: str | None, board: Board) -> Iterator[Line]:
    run = ProblemRun(Workload.of(problem), System(spec, board), Schedule(flow, pipeline="copying"))
    with processes.scratch() as folder:
        programs = Programs(run, board, Path(folder))

        def measured(machine: Board, *elfs: Path) -> list[Result]:
            section = run.driver.function
            jobs = [Job(elf, run.inputs, run.outputs, section=section, section_clean=True) for elf in elfs]
            return Soc(System(spec, machine)).run_many(jobs)

        process, plain = measured(board, programs.process, programs.bare(0))
        bare = programs.bare(process.section_stack - plain.section_stack)
        for machine in (flat(board), board):
            for build, result in zip(BUILDS, measured(machine, bare, programs.process), strict=True):
                yield _line(build, machine, run, result)


class Programs:
    """The driver's two builds, in `work`."""

    def __init__(self, run: ProblemRun, board: Board, work: Path) -> None:
        self.board, self.spec, self.work = board, run.spec, work
        driver = run.driver
        texts = {"driver.c": driver.c, "main.c": driver.harness, driver.header_name: driver.header}
        for name, text in texts.items():
            (work / name).write_text(text, encoding="utf-8")
        self._c = [work / "driver.c", work / "main.c"]
        self.process = toolchain.compile_linux(
            self._c,
            work / "process.elf",
            board=board,
            spec=self.spec,
            include=[work],
        )

    def bare(self, stack: int) -> Path:
        """Laid out as the process is; its stack begins `stack` bytes higher than it would."""
        script = self.work / "process.ld"
        process, plain = elf.load(self.process), elf.load(self._link(None, "plain.elf"))
        script.write_text(layout(plain, process, stack), encoding="utf-8")
        laid_out = self._link(script, "bare.elf")
        constants = _place_of(_constants(laid_out), process)
        if constants is not None:
            script.write_text(layout(plain, process, stack, constants), encoding="utf-8")
            laid_out = self._link(script, "bare.elf")
        return laid_out

    def _link(self, script: Path | None, name: str) -> Path:
        return toolchain.compile_bare(
            self._c,
            self.work / name,
            board=self.board,
            spec=self.spec,
            include=[self.work],
            defines=AS_PROCESS,
            flags=["-fdata-sections"],
            script=script,
        )


def _constants(program: Path) -> bytes:
    """What has no name of its own: constants in vectors, say."""
    with program.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".rodata")
        return bytes(section.data()) if section is not None else b""


def _place_of(constants: bytes, process: elf.Program) -> int | None:
    """The address at which `process` has them in one piece, if it has."""
    for segment in process.segments if constants else ():
        if (offset := segment.data.find(constants)) >= 0:
            return segment.address + offset
    return None


def layout(bare: elf.Program, process: elf.Program, stack: int, constants: int | None = None) -> str:
    """A linker script for `bare`: what `process` has too, in the same size, is at the process's addresses.

    `constants` is the address of what has no name.
    """
    placed = sorted(
        (theirs.address, name)
        for name, ours in bare.symbols.items()
        if (theirs := process.symbols.get(name)) and ours.size and ours.size == theirs.size
    )
    sections = "\n".join(
        f"    .at_{name} {address:#x} : {{ {_inputs(name)} }} > {'code' if address < _RINGS else 'arrays'}"
        for address, name in placed
    )
    top, behind = process.begin & -_MIB, (process.text[1] & -_MIB) + _MIB
    return _SCRIPT.format(
        begin=process.begin,
        behind=behind,
        rings=_RINGS,
        sections=sections,
        top=top + stack,
        constants="" if constants is None else f"{constants:#x}",
    )


_MIB = 1 << 20
_RINGS = 0x15F0_0000
"""As in the linker scripts of both."""


def _inputs(name: str) -> str:
    """The start-up code's section has the name that a function `start` would have."""
    return f"*(EXCLUDE_FILE(*start.o) .text.{name} .rodata.{name} .data.{name} .bss.{name})"


_SCRIPT = """\
ENTRY(_start)
MEMORY
{{
    code : ORIGIN = {begin:#x}, LENGTH = {rings:#x} - {begin:#x}
    rings : ORIGIN = {rings:#x}, LENGTH = 1M
    arrays : ORIGIN = 0x17000000, LENGTH = 0x08000000
    ocm : ORIGIN = 0x00010000, LENGTH = 128K
}}
SECTIONS
{{
{sections}
    .text {behind:#x} : {{
        axl_text_start = .;
        KEEP(*(.text.start))
        *(.text .text.*)
        axl_text_end = .;
    }} > code
    .rodata {constants} : {{ *(.rodata .rodata.*) }} > code
    .data ALIGN(16384) : {{ *(.data .data.*) }} > code
    .bss ALIGN(64) (NOLOAD) : {{ *(.bss .bss.*) *(COMMON) }} > code
    .axl_ocm (NOLOAD) : {{ *(.axl_ocm) }} > ocm
    .axl_uncached (NOLOAD) : {{ *(.axl_uncached) }} > rings
    axl_stack_top = {top:#x};
    axl_stack_bottom = {top:#x} - 0x40000;
    /DISCARD/ : {{ *(.comment .note .note.* .ARM.exidx* .ARM.extab* .eh_frame .eh_frame_hdr .debug_*) }}
}}
"""


def _line(build: str, board: Board, run: ProblemRun, result: Result) -> Line:
    right = bool(compare(result, run.expected)["matches"])
    calls = result.events["syscalls"]
    return Line(build, board.name, right, result.section_cycles, result.fabric, calls)


def main() -> None:
    same = True
    for problem, spec, flow in CASES:
        print(f"{problem} on {spec.name}{f' flow {flow}' if flow else ''}")
        print(
            "  build       machine       result   cycles of call  compute  words in  words out  system calls"
        )
        rows = lines(problem, spec, flow)
        for row in rows:
            print(
                f"  {row.build:<11} {row.machine:<13} {'right' if row.right else 'WRONG':<6} "
                f"{row.cycles:>16,} "
                f"{row.fabric['compute']:>8,} {row.fabric['words_in']:>9,} {row.fabric['words_out']:>10,} "
                f"{row.system_calls:>13,}",
                flush=True,
            )
        for bare, process in zip(rows[::2], rows[1::2], strict=True):
            equal = bare.cycles == process.cycles and bare.work == process.work
            same &= equal and bare.right and process.right
            print(f"  {bare.machine}: {'the same cycles' if equal else 'NOT the same cycles'}")
    if not same:
        sys.exit(1)
