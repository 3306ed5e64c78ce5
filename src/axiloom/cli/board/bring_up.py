"""``axiloom bring-up``: the ladder that a new board climbs, climbed in simulation first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from axiloom import boards
from axiloom.base.errors import DriverError
from axiloom.bringup import ladder as bring_up
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.explore.asked import Asked
from axiloom.library.progress import told
from axiloom.run.run import folder_or_temporary


def execute(
    asked: Asked, board: str = boards.DEFAULT, sim: str = "verilator", keep: Path | None = None
) -> None:
    asked = replace(asked, board=board)
    spec, profile, progress = asked.spec(), boards.load(board), told()
    soc = Soc(System(spec, profile, sim, **asked.stands_in(spec)))
    with folder_or_temporary(keep) as folder:
        progress("compiling the ladder")
        elf = bring_up.build(spec, folder, profile)
        soc.build(progress=progress)
        progress("")
        ladder = bring_up.run(elf, soc)
    print(ladder.console, end="")
    if not ladder.passed:
        raise DriverError(str(ladder))


APPLETS = (
    Applet(
        "bring-up",
        HELP["bring-up"],
        execute,
        (shared.accelerator(), shared.BOARD, shared.SIM, shared.KEEP),
        "Six steps: the DMA's registers, its memory, an instruction, a tile by an identity, "
        "a tile, a whole kernel. A new board begins with --accel loopback, then identity. The program is the "
        "static Linux one that the board runs (--keep has it).",
    ),
)
