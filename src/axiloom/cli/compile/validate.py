"""``axiloom validate``: a whole application on its data, in the numbers of accelerators."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from axiloom.base.accelerators import accelerators
from axiloom.base.files import write_whole
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_file
from axiloom.library.progress import told
from axiloom.run.selection import EGRAPH, MATCHING, check_extra

METRICS = ("accuracy", "perplexity", "error")
NUMBERS = ("chosen", "published")


def _set(text: str) -> tuple[str, str, int]:
    match = re.fullmatch(r"(.+)\.(\w+)=(-?\d{1,9})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not OPERATOR.KNOB=N, such as '*.weight_bytes=2'")
    return match[1], match[2], int(match[3])


def execute(
    model: str,
    accel: str,
    data: str,
    words: Sequence[str],
    select: str = MATCHING,
    calibration: str | None = None,
    metric: str | None = None,
    numbers: str = NUMBERS[0],
    sets: Sequence[tuple[str, str, int]] = (),
    advise: int = 0,
    replay: int = 0,
    calls: int | None = None,
    seed: int = 0,
    lose: float | None = None,
    page: Path | None = None,
    json_file: Path | None = None,
) -> int:
    # Imported here: graphs and pages are for this command alone.
    from axiloom.application import data as datas
    from axiloom.application import model as applications
    from axiloom.application import page as pages
    from axiloom.application import result, text
    from axiloom.application.validate import Request, validate

    progress = told()
    progress("reading the model")
    graph = applications.load(model)
    samples = datas.load(data, graph)
    if calls:
        samples = samples.first(calls)
    calibrating = datas.load(calibration, graph) if calibration else None
    request = Request(
        tuple(accel.split(",")),
        numbers,
        metric or ("accuracy" if samples.labels is not None else "error"),
        tuple(sets),
        replays=replay,
        advise=advise,
        seed=seed,
        selecting=select == EGRAPH,
    )
    if request.selecting:
        check_extra()
    validation = validate(graph, samples, request, progress, calibrating)
    progress("")
    print(text.text(validation))
    if page:
        pages.write(validation, page, shlex.join(["axiloom", *words]))
    if json_file:
        write_whole(json_file, json.dumps(result.as_json(validation), indent=1) + "\n")
    lost = validation.metric.gain(validation.run.found, validation.run.exact)
    too_much = lose is not None and not lost <= lose
    return int(too_much or any(replayed.wrong for replayed in validation.replayed))


APPLETS = (
    Applet(
        "validate",
        HELP["validate"],
        execute,
        (
            option("model", help="model.py:build, model.onnx, model.pt2, HLO or linalg text"),
            option(
                "--accel",
                first=True,
                required=True,
                metavar="NAME[,NAME]",
                help=", ".join(name for name, accelerator in accelerators().items() if accelerator.units)
                + "; the first that takes an operation",
            ),
            option(
                "--select",
                first=True,
                choices=(MATCHING, EGRAPH),
                help="matching: an operation goes to the first that takes it; egraph: proved rules make "
                "all forms of the application, and the cheapest choice for all operations at once is taken "
                "(default matching)",
            ),
            option(
                "--data",
                first=True,
                required=True,
                metavar="FILE.npz|FILE.py:NAME",
                help="an array for each input, and `labels`; or a function that returns a dict of them",
            ),
            option(
                "--calibration",
                metavar="FILE.npz|FILE.py:NAME",
                help="data that exponents and scales come from (default: the first call of --data)",
            ),
            option(
                "--metric", first=True, choices=METRICS, help="default: accuracy with labels, error without"
            ),
            option(
                "--numbers",
                choices=NUMBERS,
                help="exponents and widths by the checked pass (default), or as the published drivers set "
                "them",
            ),
            option(
                "--set",
                action="append",
                type=_set,
                metavar="OPERATOR.KNOB=N",
                dest="sets",
                help="set a knob of an operator, or with * of all; once for each",
            ),
            option(
                "--advise",
                type=shared.positive,
                metavar="CALLS",
                help="measure changes on so many calls of the data",
            ),
            option(
                "--replay",
                type=shared.positive,
                metavar="N",
                help="give N sampled calls as commands to the text and the RTL, and compare",
            ),
            option("--calls", type=shared.positive, metavar="N", help="the first N calls of the data alone"),
            option(
                "--seed",
                type=shared.natural,
                needs={"replay": "of sampled calls"},
                help="of the sampled calls (default 0)",
            ),
            option(
                "--lose",
                first=True,
                type=float,
                metavar="X",
                help="exit code 1 if the figure is worse than float32's by more",
            ),
            option("--page", first=True, type=output_file, metavar="FILE.html", help="write a page"),
            option(
                "--json",
                first=True,
                dest="json_file",
                type=output_file,
                metavar="FILE",
                help="write all figures as JSON",
            ),
        ),
        "Runs all data through the application twice: in float32, and with the operators that "
        "the accelerators take in their numbers. Prints both figures, each operator's error on its real "
        "inputs, what saturated, was flushed or wrapped, and what to change. Exit code 1 if the figure is "
        "worse than --lose allows, or a sampled call differs. Models in PyTorch need the extra [torch].",
    ),
)
