"""``axiloom bring-up``: the ladder that a new board climbs, climbed in simulation first."""

from __future__ import annotations

import argparse

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.bringup import ladder as bring_up
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import output_folder
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.library.progress import told
from axiloom.run.run import folder_or_temporary


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "bring-up",
        help=HELP["bring-up"],
        description="Six steps: the DMA's registers, its memory, an instruction, a tile by an identity, "
        "a tile, a whole kernel. A new board begins with --accel loopback, then identity. The program is the "
        "static Linux one that the board runs (--keep has it).",
    )
    shared.add_accelerator(command)
    command.add_argument(
        "--board",
        default=boards.DEFAULT,
        metavar="NAME|FILE.toml",
        help=f"{', '.join(boards.names())}, or a profile of your own (default %(default)s)",
    )
    command.add_argument(
        "--sim", choices=("verilator", "icarus"), default="verilator", help="default %(default)s"
    )
    command.add_argument(
        "--keep", type=output_folder, metavar="DIR", help="keep the program and its sources there"
    )
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    spec, board, progress = shared.asked(options).spec(), boards.load(options.board), told()
    soc = Soc(System(spec, board, options.sim, **shared.asked(options).stands_in(spec)))
    with folder_or_temporary(options.keep) as folder:
        progress("compiling the ladder")
        elf = bring_up.build(spec, folder, board)
        soc.build(progress=progress)
        progress("")
        ladder = bring_up.run(elf, soc)
    print(ladder.console, end="")
    if not ladder.passed:
        raise DriverError(str(ladder))
    return 0
