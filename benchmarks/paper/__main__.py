"""``python -m benchmarks.paper``: the published figures anew, and the figures that this project claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.base.files import check_folder
from axiloom.cli import given, guarded
from axiloom.cli.given import Refusal, has, output_file, output_folder, refuse, reject
from axiloom.cli.options import positive
from benchmarks import paper as experiments
from benchmarks.paper import document
from benchmarks.paper.experiment import Experiment, Options
from benchmarks.paper.runner import run

OF_SOME = ("sizes", "pipeline", "layers", "scale", "model")
"""Options that some of the experiments honour."""


def parser() -> argparse.ArgumentParser:
    bench = given.Parser(
        prog="python -m benchmarks.paper",
        description="Every run is checked against NumPy. Writes NAME.csv, NAME.txt (table and conclusion) "
        "and NAME.svg; what has been run is kept and not run again. docs/limits.md says what they are.",
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
        "--scale",
        type=positive,
        default=0,
        metavar="N",
        help="fig16 with N times fewer channels in and out (default 1; 8 with --quick)",
    )
    bench.add_argument(
        "--model",
        type=Path,
        metavar="FILE.mlir",
        help="fig17 with this network (default: examples/networks/tinybert.py, quantised; needs [torch])",
    )
    bench.add_argument("--jobs", type=positive, metavar="N", help="processes (default: one a core)")
    bench.add_argument("--dask", metavar="ADDRESS", help="run on the Dask scheduler there")
    bench.add_argument(
        "--output", type=output_folder, default=Path("bench"), metavar="DIR", help="default %(default)s"
    )
    bench.add_argument(
        "--store",
        type=output_file,
        metavar="FILE",
        help="results of finished runs (default DIR/results.jsonl)",
    )
    bench.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help=f"put table and plot into FILE too, between `{document.begin('NAME')}` and `{document.END}`",
    )
    refuse(bench, Refusal("jobs", has("dask"), "for local processes; with --dask its workers run"))
    return bench


def main(argv: Sequence[str] | None = None) -> int:
    """Run the experiments named on the command line; exit codes are those of ``axiloom``."""
    options = parser().parse_args(argv)

    def command() -> int:
        given.check(options)
        return execute(options)

    return guarded(command)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 and int(part) % 16 == 0 for part in parts):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of positive multiples of 16 such as 64,128: drivers by hand do not pad"
        )
    return tuple(dict.fromkeys(map(int, parts)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _check(options: argparse.Namespace, chosen: Sequence[Experiment]) -> None:
    """UsageError for an option that none of the experiments honours, and for an output that cannot be."""
    named = ", ".join(experiment.name for experiment in chosen)
    taking = {name: [experiment for experiment in chosen if name in experiment.takes] for name in OF_SOME}
    reject(
        options, (Refusal(name, lambda _: True, f"{named} has none") for name in OF_SOME if not taking[name])
    )
    if options.quick and options.sizes and len(taking["sizes"]) == len(chosen):
        raise UsageError(
            f"--quick: takes smaller sizes in {named}, and --sizes says which: leave one of them out"
        )
    check_folder(options.output, "--output")


def execute(options: argparse.Namespace) -> int:
    names = experiments.NAMES if "all" in options.names else tuple(dict.fromkeys(options.names))
    _check(options, [experiments.find(name) for name in names])
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
