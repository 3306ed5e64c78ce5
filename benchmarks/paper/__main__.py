"""``python -m benchmarks.paper``: the published figures anew, and the figures that this project claims."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.base.files import check_folder
from axiloom.cli import guarded
from axiloom.cli.applet import Applet, option, output_file, output_folder
from axiloom.cli.options import positive
from benchmarks import paper as experiments
from benchmarks.paper import document
from benchmarks.paper.experiment import Options
from benchmarks.paper.runner import run

OF_SOME = ("sizes", "pipeline", "layers", "scale", "model")
"""Options that some of the experiments honour."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the experiments named on the command line; exit codes are those of ``axiloom``."""
    words = [*(sys.argv[1:] if argv is None else argv)]
    return guarded(lambda: APPLET.call(APPLET.values(words), words))


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 and int(part) % 16 == 0 for part in parts):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of positive multiples of 16 such as 64,128: drivers by hand do not pad"
        )
    return tuple(dict.fromkeys(map(int, parts)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def execute(
    names: Sequence[str],
    quick: bool = False,
    board: str = boards.DEFAULT,
    output: Path = Path("bench"),
    store: Path | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    markdown: Path | None = None,
    **some: Any,
) -> int:
    """`some`: options that some of the experiments honour."""
    names = experiments.NAMES if "all" in names else tuple(dict.fromkeys(names))
    chosen = [experiments.find(name) for name in names]
    named = ", ".join(names)
    taking = {name: [experiment for experiment in chosen if name in experiment.takes] for name in some}
    if faults := [f"--{name}: {named} has none" for name in OF_SOME if name in some and not taking[name]]:
        raise UsageError("; ".join(faults))
    if quick and "sizes" in some and len(taking["sizes"]) == len(chosen):
        raise UsageError(
            f"--quick: takes smaller sizes in {named}, and --sizes says which: leave one of them out"
        )
    check_folder(output, "--output")
    if markdown:
        for name in names:
            document.check(markdown, name)  # before hours of runs
    code = 0
    for experiment in chosen:
        done = run(
            experiment,
            Options(quick=quick, board=board, **some),
            output=output,
            store=store or output / "results.jsonl",
            jobs=jobs,
            dask=dask,
        )
        print(done.text, flush=True)
        if markdown:
            document.fill(markdown, experiment.name, done.text, done.drawing)
        for line in done.failed:
            print(f"axiloom: {line}", file=sys.stderr)
        code = code or done.exit_code
    return code


APPLET = Applet(
    "bench",
    "the published figures anew, and the figures that this project claims",
    execute,
    (
        option(
            "names",
            nargs="+",
            choices=(*experiments.NAMES, "all"),
            metavar="NAME",
            help=f"{', '.join(experiments.NAMES)}, or all",
        ),
        option("--quick", action="store_true", help="fewer and smaller sizes"),
        option(
            "--sizes",
            type=_sizes,
            metavar="N,...",
            help="M = N = K in fig10, fig11, fig13, against-hand and crossover, multiples of 16",
        ),
        option("--pipeline", metavar="NAME", help="passes of our own drivers (default copying)"),
        option(
            "--board",
            metavar="NAME|FILE.toml",
            help=f"{', '.join(boards.names())}, or a profile of your own (default {boards.DEFAULT})",
        ),
        option(
            "--layers",
            type=_names,
            metavar="LAYER,...",
            help="only these of fig16, such as 58_64_3_64_1; conv_v3 takes minutes for each at full size",
        ),
        option(
            "--scale",
            type=positive,
            metavar="N",
            help="fig16 with N times fewer channels in and out (default 1; 8 with --quick)",
        ),
        option(
            "--model",
            type=Path,
            metavar="FILE.mlir",
            help="fig17 with this network (default: examples/networks/tinybert.py, quantised; needs [torch])",
        ),
        option(
            "--jobs",
            excludes={"dask": "for local processes; with --dask its workers run"},
            type=positive,
            metavar="N",
            help="processes (default: one a core)",
        ),
        option("--dask", metavar="ADDRESS", help="run on the Dask scheduler there"),
        option("--output", type=output_folder, metavar="DIR", help="default bench"),
        option(
            "--store",
            type=output_file,
            metavar="FILE",
            help="results of finished runs (default DIR/results.jsonl)",
        ),
        option(
            "--markdown",
            type=Path,
            metavar="FILE",
            help=f"put table and plot into FILE too, between `{document.begin('NAME')}` and `{document.END}`",
        ),
    ),
    "Every run is checked against NumPy. Writes NAME.csv, NAME.txt (table and conclusion) and NAME.svg; what "
    "has been run is kept and not run again. docs/limits.md says what they are.",
    prog="python -m benchmarks.paper",
)


if __name__ == "__main__":
    sys.exit(main())
