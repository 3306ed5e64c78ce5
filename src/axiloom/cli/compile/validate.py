"""``axiloom validate``: a whole application on its data, in the numbers of accelerators."""

from __future__ import annotations

import argparse
import json
import re
import shlex

from axiloom.base.accelerators import accelerators
from axiloom.base.files import write_whole
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, lacks, output_file, refuse
from axiloom.cli.run.select import check_extra
from axiloom.library.progress import told

METRICS = ("accuracy", "perplexity", "error")
NUMBERS = ("chosen", "published")
SELECTIONS = ("matching", "egraph")


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "validate",
        help=HELP["validate"],
        description="Runs all data through the application twice: in float32, and with the operators that "
        "the accelerators take in their numbers. Prints both figures, each operator's error on its real "
        "inputs, what saturated, was flushed or wrapped, and what to change. Exit code 1 if the figure is "
        "worse than --lose allows, or a sampled call differs. Models in PyTorch need the extra [torch].",
    )
    command.add_argument("model", help="model.py:build, model.onnx, model.pt2, HLO or linalg text")
    command.add_argument(
        "--accel",
        required=True,
        metavar="NAME[,NAME]",
        help=", ".join(name for name, accelerator in accelerators().items() if accelerator.units)
        + "; the first that takes an operation",
    )
    command.add_argument(
        "--select", choices=SELECTIONS, default=SELECTIONS[0],
        help="matching: an operation goes to the first that takes it; egraph: proved rules make all forms of "
        "the application, and the cheapest choice for all operations at once is taken (default %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--data", required=True, metavar="FILE.npz|FILE.py:NAME",
        help="an array for each input, and `labels`; or a function that returns a dict of them",
    )  # fmt: skip
    command.add_argument(
        "--calibration", metavar="FILE.npz|FILE.py:NAME",
        help="data that exponents and scales come from (default: the first call of --data)",
    )  # fmt: skip
    command.add_argument("--metric", choices=METRICS, help="default: accuracy with labels, error without")
    command.add_argument(
        "--numbers", choices=NUMBERS, default="chosen",
        help="exponents and widths by the checked pass (default), or as the published drivers set them",
    )  # fmt: skip
    command.add_argument(
        "--set", action="append", type=_set, metavar="OPERATOR.KNOB=N", dest="sets",
        help="set a knob of an operator, or with * of all; once for each",
    )  # fmt: skip
    command.add_argument(
        "--advise", type=shared.positive, metavar="CALLS", help="measure changes on so many calls of the data"
    )
    command.add_argument(
        "--replay",
        type=shared.positive,
        metavar="N",
        help="give N sampled calls as commands to the text and the RTL, and compare",
    )
    command.add_argument(
        "--calls", type=shared.positive, metavar="N", help="the first N calls of the data alone"
    )
    command.add_argument("--seed", type=shared.natural, default=0, help="of the sampled calls (default 0)")
    command.add_argument(
        "--lose", type=float, metavar="X", help="exit code 1 if the figure is worse than float32's by more"
    )
    command.add_argument("--page", type=output_file, metavar="FILE.html", help="write a page")
    command.add_argument("--json", type=output_file, metavar="FILE", help="write all figures as JSON")
    refuse(command, Refusal("seed", lacks("replay"), "of sampled calls: give --replay N too"))
    command.set_defaults(execute=execute)


def _set(text: str) -> tuple[str, str, int]:
    match = re.fullmatch(r"(.+)\.(\w+)=(-?\d{1,9})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not OPERATOR.KNOB=N, such as '*.weight_bytes=2'")
    return match[1], match[2], int(match[3])


def execute(options: argparse.Namespace) -> int:
    # Imported here: graphs and pages are for this command alone.
    from axiloom.application import data, model, page, result, text
    from axiloom.application.validate import Request, validate

    progress = told()
    progress("reading the model")
    graph = model.load(options.model)
    samples = data.load(options.data, graph)
    if options.calls:
        samples = samples.first(options.calls)
    calibration = data.load(options.calibration, graph) if options.calibration else None
    request = Request(
        tuple(options.accel.split(",")),
        options.numbers,
        options.metric or ("accuracy" if samples.labels is not None else "error"),
        tuple(options.sets or ()),
        replays=options.replay or 0,
        advise=options.advise or 0,
        seed=options.seed,
        selecting=options.select == SELECTIONS[1],
    )
    if request.selecting:
        check_extra()
    validation = validate(graph, samples, request, progress, calibration)
    progress("")
    print(text.text(validation))
    if options.page:
        page.write(validation, options.page, shlex.join(["axiloom", *options.words]))
    if options.json:
        write_whole(options.json, json.dumps(result.as_json(validation), indent=1) + "\n")
    lost = validation.metric.gain(validation.run.found, validation.run.exact)
    too_much = options.lose is not None and not lost <= options.lose
    return int(too_much or any(replay.wrong for replay in validation.replayed))
