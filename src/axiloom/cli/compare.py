"""``axiloom report``: runs beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli.applet import Applet, option, output_folder


def execute(runs: Sequence[Path], report: Path | None = None) -> None:
    from axiloom.report.compare import compare
    from axiloom.report.page import compare as page

    if len(runs) < 2:
        raise UsageError("axiloom report: two runs or more, each DIR of --report or FILE of --json")
    sides = [page.read(path) for path in runs]
    print(*compare([side.report for side in sides]), sep="\n")
    if report:
        page.write(sides, report)


APPLETS = (
    Applet(
        "report",
        HELP["report"],
        execute,
        (
            option(
                "runs",
                type=Path,
                nargs="+",
                metavar="RUN",
                help="what --report or --json wrote: DIR or FILE.json",
            ),
            option(
                "--report",
                type=output_folder,
                metavar="DIR",
                help="write a page: all of them, with their timelines",
            ),
        ),
        "Compares reports that `axiloom run` wrote. The last column says by how much a run is more or less "
        "than A, the first.",
    ),
)
