"""``axiloom board``: new (a folder that brings accelerators up on a board), check, test, simulate,
build, list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from axiloom import board_folder
from axiloom.base import processes
from axiloom.base.errors import BuildError, CompileError, UsageError
from axiloom.base.files import read_text
from axiloom.board_folder.design.plan import Plan
from axiloom.boards import hardware
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_folder
from axiloom.cli.board import open_flow
from axiloom.cli.board import trial as board_trial
from axiloom.cli.kinds import Kind, Short
from axiloom.cli.nest.run import is_c
from axiloom.cli.nest.source import DEFINE, INCLUDE, PLAIN, SCHEDULE, defines, load, scheduled
from axiloom.explore.asked import Asked
from axiloom.isa import AcceleratorSpec
from axiloom.library.progress import told

MOST_FAULTS = 5
"""Of a tool that are printed: the others mostly follow from them."""
DMAS = ("simple", "sg", "xilinx", "xilinx-sg")


def new(
    board: str,
    output: Path,
    asked: Asked,
    problem: Sequence[str] = (),
    rebase: bool = False,
    force: bool = False,
) -> None:
    hardware_of = hardware.load(board)
    board_folder.refuse(output, force=force)
    dma, asked = _dma(asked.dma), replace(asked, dma=_form(asked.dma))
    parsed = [(text, *shared.problem(text)) for text in problem]
    specs = asked.specs([kind for _, _, kind in parsed])
    plan = board_folder.make(
        hardware_of,
        specs,
        dma=dma,
        problems=[(text, mlir) for text, mlir, _ in parsed],
        rebase=rebase or asked.file is None,
        user_rtl=asked.user_rtl(*specs, command="board"),
    )
    _write(plan, output, force=force)


def _dma(dma: str | None) -> str:
    return board_folder.XILINX if (dma or "").startswith("xilinx") else board_folder.OWN


def _form(dma: str | None) -> str | None:
    """Direct register mode, or scatter-gather."""
    return None if dma is None else "sg" if dma.endswith("sg") else "simple"


def new_of_loops(
    board: str,
    problem: Sequence[str],
    output: Path,
    define: Sequence[str] = (),
    include: Sequence[Path] = (),
    schedule: Path | None = None,
    plain: bool = False,
    stream_width: int | None = None,
    dma: str | None = None,
    force: bool = False,
) -> None:
    """A folder for loop nests. Without a processor's memory: 32 bits, and no descriptors."""
    from axiloom.nest.accelerator import accelerator
    from axiloom.nest.driver import driver_of
    from axiloom.run.nest import on_cpu

    hardware_of = hardware.load(board)
    board_folder.refuse(output, force=force)
    if len(problem) > 1:
        raise UsageError(f"{', '.join(problem)}: loops are one accelerator; give one --problem")
    loaded = load(problem[0], defines(define), include)
    form, has_memory = _form(dma), hardware_of.memory is not None
    built = accelerator(
        scheduled(loaded.program, schedule),
        stream_width or (64 if has_memory else 32),
        plain=plain,
        scatter_gather=form == "sg" or (form is None and has_memory),
    )
    source = problem[0].partition(":")[0]
    program, text, sizes = loaded.program, read_text(source), defines(define)
    function = loaded.function
    if (
        function is None
        or function.variables
        or function.result
        or loaded.contents
        or not all(parameter.array for parameter in function.parameters)
        or '#include "' in text
    ):
        raise CompileError(
            f"{source}: a board's folder has the file itself for its CPU: sizes as macros, results as "
            "arrays, no variables and tables of the file, no headers of its own"
        )
    with processes.scratch("axiloom-") as folder:
        plan = board_folder.make(
            hardware_of,
            [AcceleratorSpec(built.link)],
            dma=_dma(dma),
            rebase=True,
            user_rtl=built.rtl(Path(folder)),
            loops=lambda spec: (driver_of(program, *built.packets, spec.link), on_cpu(program, text, sizes)),
        )
        _write(plan, output, force=force)


def _write(plan: Plan, output: Path, *, force: bool) -> None:
    folder = board_folder.contents(plan)
    board_folder.write(folder, output, force=force)
    print(f"{output}: {len(folder.files)} files for {plan.hardware.description}; see its README.md")
    for line in folder.missing:
        print(f"not written: {line}")


def check(folder: Path, only: str | None = None, waivers: Path | None = None) -> None:
    from axiloom.board_folder.check import check as checks

    tools = tuple(only.split(",")) if only else ()
    if waivers and tools and "verilator" not in tools:
        raise UsageError("--waivers: for Verilator's linter, which --only leaves out")
    if waivers and not waivers.is_file():
        raise UsageError(f"--waivers {waivers}: no such file")
    rows = []
    for row in checks.rows(folder, tools, waivers, told()):
        rows.append(row)
        shown = ", ".join(row.files[:3]) + (f" and {len(row.files) - 3} more" if len(row.files) > 3 else "")
        why = f" ({row.skipped})" if row.skipped else ""
        print(f"  {row.tool:<18} {row.outcome:<11} {shown}{why}", flush=True)
        for group, what in (
            (row.faults, ", which may follow from these"),
            (row.warnings, " about your files"),
        ):
            for fault in group[:MOST_FAULTS]:
                print(f"      {fault}", flush=True)
            if len(group) > MOST_FAULTS:
                print(f"      and {len(group) - MOST_FAULTS} more{what}")
    faulty = sum(len(row.faults) for row in rows)
    if not tools:
        for name in checks.unchecked(folder, rows):
            print(f"  no tool has read {name}")
    if faulty:
        raise BuildError(f"{folder}: {faulty} fault{'s' * (faulty > 1)}")


def list_boards() -> None:
    for name in hardware.names():
        board = hardware.load(name)
        print(f"  {name:<9} {board.part:<22} {board.fabric_hz / 1e6:g} MHz  {board.description}")


def short(words: Sequence[str]) -> int | None:
    """``axiloom board new``, by what the problem is."""
    if words[1:2] != ["new"]:
        return None
    return Short(NEW, (LOOPS,), 2)(words)


BOARD = option("board", metavar="BOARD", help=", ".join(hardware.names()))
TO = option("-o", "--output", type=output_folder, metavar="DIR", required=True, first=True, help="the folder")
FORCE = option("--force", action="store_true", first=True, help="replace a board folder that is there")
NEW = Applet(
    "board new",
    "write the folder: Verilog, Vivado scripts, driver, self-test, Makefile, README",
    new,
    (
        BOARD,
        shared.accelerator(DMAS, typed=True),
        option(
            "--problem",
            action="append",
            metavar="PROBLEM",
            first=True,
            help="what the driver computes: matmul:MxNxK, conv:... or FILE.mlir (default: a few tiles); once "
            "for each accelerator, whose type a built-in one takes; FILE.c: `axiloom board nest`",
        ),
        option(
            "--rebase", action="store_true", help="move the registers of --spec to where the board has them"
        ),
        TO,
        FORCE,
    ),
    "With --accel NAME,NAME the system has several accelerators.",
)
LOOPS = Kind(
    Applet(
        "board nest",
        "write the same folder for loops of C",
        new_of_loops,
        (
            BOARD,
            option(
                "--problem",
                action="append",
                required=True,
                metavar="FILE.c[:FUNCTION]",
                first=True,
                help="loops",
            ),
            DEFINE,
            INCLUDE,
            SCHEDULE,
            PLAIN,
            shared.stream_width("bits of the port (default 64; 32 without a processor)"),
            option("--dma", choices=DMAS, help="default: sg, ours; without a processor simple"),
            TO,
            FORCE,
        ),
    ),
    lambda said: next((f"{text} is read as loops" for text in said.get("problem", ()) if is_c(text)), ""),
)
CHECK = Applet(
    "board check",
    "check every file of such a folder by a tool",
    check,
    (
        option("folder", type=Path, metavar="DIR"),
        option("--only", metavar="TOOL,...", help="some of the tools"),
        option(
            "--waivers",
            type=Path,
            metavar="FILE.vlt",
            help="what Verilator's linter is not to say of your own Verilog, in its own form (lint_off ...)",
        ),
    ),
)
LIST = Applet("board list", "the boards", list_boards)
APPLETS = (
    *(NEW, LOOPS.applet, CHECK),
    *(board_trial.TEST, board_trial.SIMULATE, open_flow.BUILD, LIST),
)
SHORT = {"board": short}
