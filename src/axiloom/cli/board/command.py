"""``axiloom board``: new (a folder that brings accelerators up on a board), check, test, simulate,
build, list."""

from __future__ import annotations

import argparse
from pathlib import Path

from axiloom import board_folder
from axiloom.base import processes
from axiloom.base.errors import BuildError, CompileError, UsageError
from axiloom.base.files import read_text
from axiloom.board_folder.design.plan import Plan
from axiloom.boards import hardware
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.board import open_flow
from axiloom.cli.board import trial as board_trial
from axiloom.cli.given import Refusal, output_folder, refuse, reject
from axiloom.cli.nest import run as nest_run
from axiloom.library.progress import told

MOST_FAULTS = 5
"""Of a tool that are printed: the others mostly follow from them."""
DMAS = ("simple", "sg", "xilinx", "xilinx-sg")


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    board = commands.add_parser("board", help=HELP["board"])
    actions = board.add_subparsers(dest="action", metavar="ACTION", required=True)

    new = actions.add_parser(
        "new",
        help="write the folder: Verilog, Vivado scripts, driver, self-test, Makefile, README",
        description="With --accel NAME,NAME the system has several accelerators.",
    )
    new.add_argument("board", metavar="BOARD", help=", ".join(hardware.names()))
    shared.add_accelerator(new, dmas=DMAS)
    new.add_argument(
        "--problem",
        action="append",
        metavar="PROBLEM",
        help="what the driver computes: matmul:MxNxK, conv:... or FILE.mlir (default: a few tiles); once "
        "for each accelerator, whose type a built-in one takes",
    )
    new.add_argument("--data-type", choices=("int8", "int16", "int32"), help="of a built-in accelerator")
    new.add_argument(
        "--rebase", action="store_true", help="move the registers of --spec to where the board has them"
    )
    nest_run.add_options(new)
    new.add_argument("-o", "--output", type=output_folder, metavar="DIR", required=True)
    new.add_argument("--force", action="store_true", help="replace a board folder that is there")
    new.set_defaults(execute=execute_new)

    check = actions.add_parser("check", help="check every file of such a folder by a tool")
    check.add_argument("folder", type=Path, metavar="DIR")
    check.add_argument("--only", metavar="TOOL,...", help="some of the tools")
    check.add_argument(
        "--waivers",
        type=Path,
        metavar="FILE.vlt",
        help="what Verilator's linter is not to say of your own Verilog, in its own form (lint_off ...)",
    )
    refuse(
        check,
        Refusal(
            "waivers",
            lambda o: bool(o.only) and "verilator" not in o.only.split(","),
            "for Verilator's linter, which --only leaves out",
        ),
    )
    check.set_defaults(execute=execute_check)

    board_trial.add_commands(actions)
    open_flow.add_build(actions)

    list_ = actions.add_parser("list", help="the boards")
    list_.set_defaults(execute=execute_list)


def execute_new(options: argparse.Namespace) -> int:
    board = hardware.load(options.board)
    board_folder.refuse(options.output, force=options.force)
    dma = board_folder.XILINX if (options.dma or "").startswith("xilinx") else board_folder.OWN
    if options.dma is not None:
        options.dma = "sg" if options.dma.endswith("sg") else "simple"
    if options.problem and any(nest_run.is_c(text) for text in options.problem):
        return _loops(options, board, dma)
    reject(options, [Refusal(nest_run.OPTIONS, lambda _: True, "for loops: --problem FILE.c[:FUNCTION]")])
    parsed = [(text, *shared.problem(text)) for text in options.problem or ()]
    problems = [(text, mlir) for text, mlir, _ in parsed]
    specs = shared.asked(options).specs(options.data_type or [kind for _, _, kind in parsed])
    plan = board_folder.make(
        board,
        specs,
        dma=dma,
        problems=problems,
        rebase=options.rebase or options.spec is None,
        user_rtl=shared.asked(options).user_rtl(*specs, command=options.command),
    )
    return _write(options, plan)


def _loops(options: argparse.Namespace, board: hardware.Hardware, dma: str) -> int:
    """A folder for loop nests. Without a processor's memory: 32 bits, and no descriptors."""
    from axiloom.run.nest import driver_of, on_cpu

    if len(options.problem) > 1:
        raise UsageError(f"{', '.join(options.problem)}: loops are one accelerator; give one --problem")
    reject(options, [Refusal(nest_run.OTHERS, lambda _: True, "not for loops: they are an accelerator")])
    loaded, accelerator = nest_run.compiled(
        options,
        options.stream_width or (32 if board.memory is None else 64),
        scatter_gather=options.dma == "sg" or (options.dma is None and board.memory is not None),
    )
    source = options.problem[0].partition(":")[0]
    program, text, sizes = loaded.program, read_text(source), nest_run.sizes(options)
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
            board,
            [accelerator.link],
            dma=dma,
            rebase=True,
            user_rtl=accelerator.rtl(Path(folder)),
            loops=lambda spec: (driver_of(program, *accelerator.packets, spec), on_cpu(program, text, sizes)),
        )
        return _write(options, plan)


def _write(options: argparse.Namespace, plan: Plan) -> int:
    folder = board_folder.contents(plan)
    board_folder.write(folder, options.output, force=options.force)
    print(f"{options.output}: {len(folder.files)} files for {plan.hardware.description}; see its README.md")
    for line in folder.missing:
        print(f"not written: {line}")
    return 0


def execute_check(options: argparse.Namespace) -> int:
    from axiloom.board_folder.check import check as checks

    tools = tuple(options.only.split(",")) if options.only else ()
    if options.waivers and not options.waivers.is_file():
        raise UsageError(f"--waivers {options.waivers}: no such file")
    rows = []
    for row in checks.rows(options.folder, tools, options.waivers, told()):
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
        for name in checks.unchecked(options.folder, rows):
            print(f"  no tool has read {name}")
    if faulty:
        raise BuildError(f"{options.folder}: {faulty} fault{'s' * (faulty > 1)}")
    return 0


def execute_list(_options: argparse.Namespace) -> int:
    for name in hardware.names():
        board = hardware.load(name)
        print(f"  {name:<9} {board.part:<22} {board.fabric_hz / 1e6:g} MHz  {board.description}")
    return 0
