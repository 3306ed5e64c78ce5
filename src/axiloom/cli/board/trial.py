"""``axiloom board test`` (a folder's programs on the board, over ssh), ``board simulate`` (without one)."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole
from axiloom.board_folder import trial as board_trial
from axiloom.cli import options as shared
from axiloom.cli.given import output_file
from axiloom.library.progress import told
from axiloom.remote.board import RemoteBoard


def add_commands(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    test = actions.add_parser(
        "test",
        help="copy the programs of a board folder to the board, run them over ssh, compare with simulation",
        description="The bring-up ladder, then the self-test. Exit code 0: both pass, and their results are "
        "those of the simulated board; 1: other results; 2: no board folder, or no ssh here; 5: a program or "
        "the bitstream is not built; 6: a program has not ended; 7: one failed; 8: the board is not reached.",
    )
    test.add_argument("host", metavar="HOST", help="as ssh takes it")
    test.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR", help="default: here")
    test.add_argument("--user", metavar="NAME", help="who to log in as")
    test.add_argument("--port", type=shared.positive, metavar="N", help="of sshd there")
    test.add_argument("--identity", type=Path, metavar="FILE", help="private key")
    test.add_argument(
        "--ssh-option", action="append", default=[], metavar="NAME=VALUE", help="further ones, as for ssh -o"
    )
    test.add_argument(
        "--prefix", default="", metavar="WORDS", help='in front of each program there: --prefix "sudo -n"'
    )
    test.add_argument(
        "--load",
        action="store_true",
        help="first put build/NAME.bit into the programmable logic, by the kernel's FPGA manager (as root)",
    )
    test.add_argument(
        "--timeout", type=shared.positive, default=120, metavar="S", help="of a program (default %(default)s)"
    )
    test.add_argument("--no-simulation", action="store_true", help="run there only, compare with nothing")
    test.add_argument("--json", type=output_file, metavar="FILE", help="write results and times as JSON too")
    test.set_defaults(execute=execute_test)

    simulate = actions.add_parser(
        "simulate",
        help="run a Linux program of a board folder on the simulated board",
        description="It says what the program says, and ends as the program ends.",
    )
    simulate.add_argument("folder", type=Path, metavar="DIR")
    simulate.add_argument("program", type=Path, metavar="PROGRAM", help="build/selftest, build/ladder, ...")
    simulate.set_defaults(execute=execute_simulate)


def execute_test(options: argparse.Namespace) -> int:
    if options.identity is not None and not options.identity.is_file():
        raise UsageError(f"--identity {options.identity}: no such file")
    board = RemoteBoard(
        options.host,
        options.user,
        options.port,
        options.identity,
        options.prefix,
        tuple(options.ssh_option),
    )
    rows = board_trial.run(
        board,
        options.folder,
        load=options.load,
        compare=not options.no_simulation,
        timeout_s=options.timeout,
        progress=told(),
    )
    print(board_trial.table(rows))
    if options.json:
        write_whole(
            options.json, json.dumps([{**asdict(row), "same": row.same} for row in rows], indent=2) + "\n"
        )
    if not options.no_simulation:
        board_trial.check(rows)
    return 0


def execute_simulate(options: argparse.Namespace) -> int:
    if not options.program.is_file():
        raise UsageError(f"{options.program}: no such file")
    ((code, console),) = board_trial.simulate(options.folder, [options.program], told())
    sys.stdout.write(console)
    return code
