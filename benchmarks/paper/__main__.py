"""``python -m benchmarks.paper``: the published figures anew, and the figures that this project claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from axiloom import boards
from axiloom.cli import guarded
from benchmarks import paper as experiments
from benchmarks.paper import document
from benchmarks.paper.experiment import Options
from benchmarks.paper.runner import run


def parser() -> argparse.ArgumentParser:
    bench = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
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
        "--sizes",
        type=_sizes,
        default=(),
        metavar="N,...",
        help="M = N = K in fig10, fig11, fig13, against-hand and crossover, multiples of 16",
    )
    bench.add_argument(
        "--pipeline",
        default="copying",
        metavar="NAME",
        help="passes of our own drivers (default %(default)s)",
    )
    bench.add_argument(
        "--board",
        default=boards.DEFAULT,
        metavar="NAME|FILE.toml",
        help=f"{', '.join(boards.names())}, or a profile of your own (default %(default)s)",
    )
    bench.add_argument(
        "--layers",
        type=_names,
        default=(),
        metavar="LAYER,...",
        help="only these of fig16, such as 58_64_3_64_1; conv_v3 takes minutes for each at full size",
    )
    bench.add_argument(
        "--scale", type=int, default=1, metavar="N", help="fig16 with N times fewer channels in and out"
    )
    bench.add_argument(
        "--model",
        type=Path,
        metavar="FILE.mlir",
        help="fig17 with this network (default: examples/networks/tinybert.py, quantised; needs [torch])",
    )
    bench.add_argument("--jobs", type=int, metavar="N", help="processes (default: one a core)")
    bench.add_argument("--dask", metavar="ADDRESS", help="run on the Dask scheduler there")
    bench.add_argument(
        "--output", type=Path, default=Path("bench"), metavar="DIR", help="default %(default)s"
    )
    bench.add_argument(
        "--store", type=Path, metavar="FILE", help="results of finished runs (default DIR/results.jsonl)"
    )
    bench.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help=f"put table and plot into FILE too, between `{document.begin('NAME')}` and `{document.END}`",
    )
    return bench


def main(argv: Sequence[str] | None = None) -> int:
    """Run the experiments named on the command line; exit codes are those of ``axiloom``."""
    options = parser().parse_args(argv)
    return guarded(lambda: execute(options))


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 and int(part) % 16 == 0 for part in parts):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of positive multiples of 16 such as 64,128: drivers by hand do not pad"
        )
    return tuple(dict.fromkeys(map(int, parts)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def execute(options: argparse.Namespace) -> int:
    names = experiments.NAMES if "all" in options.names else tuple(dict.fromkeys(options.names))
    chosen = Options(
        quick=options.quick,
        sizes=options.sizes,
        pipeline=options.pipeline,
        board=options.board,
        layers=options.layers,
        scale=options.scale,
        model=options.model,
    )
    for name in names if options.markdown else ():
        document.check(options.markdown, name)  # before hours of runs
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
        if options.markdown:
            document.fill(options.markdown, name, done.text, done.drawing)
        for line in done.failed:
            print(f"axiloom: {line}", file=sys.stderr)
        code = code or done.exit_code
    return code


if __name__ == "__main__":
    sys.exit(main())
