"""``axiloom bench``: the published figures anew, and the figures that this project claims."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from axiloom import boards, experiments
from axiloom.experiments.experiment import Options
from axiloom.experiments.runner import run


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bench = commands.add_parser(
        "bench",
        help="experiments: published figures anew, and against drivers by hand",
        description="Every run is checked against NumPy. Writes NAME.csv, NAME.txt (table and conclusion) "
        "and NAME.svg; what has been run is kept and not run again. docs/experiments.md explains each.",
    )
    bench.add_argument(
        "names",
        nargs="+",
        choices=(*experiments.NAMES, "all"),
        metavar="NAME",
        help=f"{', '.join(experiments.NAMES)}, or all",
    )
    bench.add_argument("--quick", action="store_true", help="fewer and smaller sizes")
    bench.add_argument(
        "--pipeline",
        default="copying",
        metavar="NAME",
        help="passes of our own drivers (default %(default)s)",
    )
    bench.add_argument("--board", default=boards.DEFAULT, choices=boards.names(), help="default %(default)s")
    bench.add_argument("--jobs", type=int, metavar="N", help="processes (default: one a core)")
    bench.add_argument("--dask", metavar="ADDRESS", help="run on the Dask scheduler there")
    bench.add_argument(
        "--output", type=Path, default=Path("bench"), metavar="DIR", help="default %(default)s"
    )
    bench.add_argument(
        "--store", type=Path, metavar="FILE", help="results of finished runs (default DIR/results.jsonl)"
    )
    bench.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    names = experiments.NAMES if "all" in options.names else tuple(dict.fromkeys(options.names))
    chosen = Options(quick=options.quick, pipeline=options.pipeline, board=options.board)
    code = 0
    for name in names:
        done = run(
            experiments.find(name),
            chosen,
            output=options.output,
            store=options.store or options.output / "results.jsonl",
            jobs=options.jobs,
            dask=options.dask,
        )
        print(done.text, flush=True)
        for line in done.failed:
            print(f"axiloom: {line}", file=sys.stderr)
        code = code or done.exit_code
    return code
