"""``axiloom report``: runs beside each other."""

from __future__ import annotations

import argparse
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli.given import output_folder


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "report",
        help=HELP["report"],
        description="Compares reports that `axiloom run` wrote. The last column says by how much a run is "
        "more or less than A, the first.",
    )
    command.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="what --report or --json wrote: DIR or FILE.json"
    )
    command.add_argument(
        "--report", type=output_folder, metavar="DIR", help="write a page to DIR: both, with their timelines"
    )
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    from axiloom.report.compare import compare
    from axiloom.report.page import compare as page

    if len(options.runs) < 2:
        raise UsageError("axiloom report: two runs or more, each DIR of --report or FILE of --json")
    sides = [page.read(path) for path in options.runs]
    print(*compare([side.report for side in sides]), sep="\n")
    if options.report:
        page.write(sides, options.report)
    return 0
