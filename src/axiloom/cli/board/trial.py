"""``axiloom board test`` (a folder's programs on the board, over ssh), ``board simulate`` (without one)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.board_folder import trial as board_trial
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_file
from axiloom.library.progress import told
from axiloom.remote.board import RemoteBoard


def run(
    host: str,
    folder: Path = Path(),
    user: str | None = None,
    port: int | None = None,
    identity: Path | None = None,
    ssh_option: Sequence[str] = (),
    prefix: str = "",
    load: bool = False,
    timeout: int = 120,
    no_simulation: bool = False,
    json_file: Path | None = None,
) -> None:
    if identity is not None and not identity.is_file():
        raise UsageError(f"--identity {identity}: no such file")
    board = RemoteBoard(host, user, port, identity, prefix, tuple(ssh_option))
    rows = board_trial.run(
        board,
        folder,
        load=load,
        compare=not no_simulation,
        timeout_s=timeout,
        progress=told(),
    )
    print(board_trial.table(rows))
    if json_file:
        write_whole(
            json_file, json.dumps([{**asdict(row), "same": row.same} for row in rows], indent=2) + "\n"
        )
    if not no_simulation:
        board_trial.check(rows)


def simulate(folder: Path, program: Path) -> int:
    if not program.is_file():
        raise UsageError(f"{program}: no such file")
    ((code, console),) = board_trial.simulate(folder, [program], told())
    sys.stdout.write(console)
    return code


TEST = Applet(
    "board test",
    "copy the programs of a board folder to the board, run them over ssh, compare with simulation",
    run,
    (
        option("host", metavar="HOST", help="as ssh takes it"),
        option("folder", type=Path, nargs="?", metavar="DIR", help="default: here"),
        option("--user", metavar="NAME", help="who to log in as"),
        option("--port", type=shared.positive, metavar="N", help="of sshd there"),
        option("--identity", type=Path, metavar="FILE", help="private key"),
        option("--ssh-option", action="append", metavar="NAME=VALUE", help="further ones, as for ssh -o"),
        option("--prefix", metavar="WORDS", help='in front of each program there: --prefix "sudo -n"'),
        option(
            "--load",
            action="store_true",
            help="first put build/NAME.bit into the programmable logic, by the kernel's FPGA manager (as "
            "root)",
        ),
        option("--timeout", type=shared.positive, metavar="S", help="of a program (default 120)"),
        option("--no-simulation", action="store_true", help="run there only, compare with nothing"),
        option(
            "--json",
            dest="json_file",
            type=output_file,
            metavar="FILE",
            help="write results and times as JSON too",
        ),
    ),
    "The bring-up ladder, then the self-test. Exit code 0: both pass, and their results are "
    "those of the simulated board; 1: other results; 2: no board folder, or no ssh here; 5: a program or "
    "the bitstream is not built; 6: a program has not ended; 7: one failed; 8: the board is not reached.",
)
SIMULATE = Applet(
    "board simulate",
    "run a Linux program of a board folder on the simulated board",
    simulate,
    (
        option("folder", type=Path, metavar="DIR"),
        option("program", type=Path, metavar="PROGRAM", help="build/selftest, build/ladder, ..."),
    ),
    "It says what the program says, and ends as the program ends.",
)
