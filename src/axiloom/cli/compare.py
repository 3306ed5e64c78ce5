"""``axiloom report``: two runs beside each other."""

from __future__ import annotations

import argparse
from pathlib import Path

from axiloom.cli import HELP


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "report",
        help=HELP["report"],
        description="Compares two reports that `axiloom run --json FILE` wrote. The last column says by how "
        "much B is more or less than A.",
    )
    command.add_argument("first", type=Path, metavar="A.json")
    command.add_argument("second", type=Path, metavar="B.json")
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    from axiloom.report import compare

    for line in compare.compare(compare.read(options.first), compare.read(options.second)):
        print(line)
    return 0
