"""Where simulations run, and what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.cli.applet import Group, option, output_file
from axiloom.cli.options import positive


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
