"""Where simulations run, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.cli.applet import Group, Option, option, output_file
from axiloom.cli.options import FRONT, JSON_TOO, positive

SHOW = 10
"""Rows, unless ``--show`` says how many."""


@dataclass(frozen=True)
class Where:
    jobs: int | None = None
    dask: str | None = None
    store: Path | None = None


def simulations(**more: Any) -> Group:
    """The options of :class:`Where`; `more`: of each."""
    options = (
        option(
            "--jobs",
            type=positive,
            metavar="N",
            excludes={"dask": "for local processes; with --dask its workers run"},
            help="local processes (default: one a core)",
            **more,
        ),
        option("--dask", metavar="ADDRESS", help="run on the Dask scheduler there instead", **more),
        option(
            "--store",
            type=output_file,
            metavar="FILE",
            help="JSON-lines file of finished runs, which are not run again (default: in the user's cache)",
            **more,
        ),
    )
    return Group("simulations", options, "where", Where)


WHERE = simulations()


def ranked(show: str, confirm: str, rows: str, *, first: bool) -> tuple[Option | Group, ...]:
    """What is shown of a ranking, simulated and kept; each text says of what. `first`: of rows, too."""
    return (
        option("--show", type=positive, metavar="K", first=first, help=f"{show} (default {SHOW})"),
        option("--confirm", dest="confirm_first", type=positive, metavar="N", first=True, help=confirm),
        JSON_TOO,
        FRONT,
        option("--output", type=output_file, metavar="FILE.csv", first=first, help=rows),
        simulations(needs={"confirm_first": "for simulations"}),
    )
