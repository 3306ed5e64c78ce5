"""``axiloom quantize``: a float model and calibration data in, an int8 network as MLIR out."""

from __future__ import annotations

import argparse
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.base.extras import require
from axiloom.base.files import check_file
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.given import Refusal, output_file, refuse
from axiloom.library.models import KEPT
from axiloom.library.progress import told
from axiloom.read import models
from axiloom.read.context.model import weights_file


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "quantize",
        aliases=["quantise"],
        help=HELP["quantize"],
        description="Writes FILE.mlir and FILE.npz (weights) for `axiloom run`, and prints range, scale and "
        "error of each layer. What is read of the model and its integers are compared with ONNX Runtime, "
        "ONNX's evaluator or PyTorch on the model itself; where one differs too much the exit code is 1, and "
        "no files are written. "
        "Needs the extra [torch].",
    )
    command.add_argument("model", help="model.py:build, or model.onnx")
    command.add_argument(
        "--calibration",
        required=True,
        metavar="FILE.npz|FILE.py:NAME|N-random",
        help="an array for each input, samples first; a function that returns a list of tuples of inputs; "
        "or at least N random inputs",
    )
    command.add_argument(
        "-o",
        "--output",
        type=output_file,
        metavar="FILE.mlir",
        help="default: the model's name, in this folder",
    )
    command.add_argument(
        "--shifts",
        action="store_true",
        help="sums become int8 by a shift alone, one scale a weight: for accelerators that have no "
        "multiplier behind their sums, as an accelerator's page says",
    )
    command.add_argument(
        "--seed", type=shared.natural, default=0, help="of random calibration data (default 0)"
    )
    refuse(
        command,
        Refusal(
            "seed",
            lambda o: not o.calibration.endswith("-random"),
            "of random calibration data (--calibration N-random)",
        ),
    )
    command.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    if not models.is_network(options.model):  # before seconds of imports
        raise UsageError(f"`{options.model}`: expected is model.py:build (torch) or model.onnx")
    for module in ("torch", "torch_mlir"):
        require(module, "axiloom quantize")
    from axiloom.quantise import report
    from axiloom.quantise.network import quantise
    from axiloom.read.models import network as load

    source = options.model.rpartition(":")[0] or options.model
    output = options.output or Path(f"{Path(source).stem}.mlir")
    if output.suffix != ".mlir":
        raise UsageError(f"--output {output}: expected is a name that ends in .mlir")
    for file in (output, weights_file(output)):  # before minutes of calibration
        check_file(file)
    progress = told()
    network, examples = load(options.model)
    quantised = quantise(
        network,
        examples,
        options.calibration,
        name=output.stem,
        keep=KEPT,
        seed=options.seed,
        shifts=options.shifts,
        progress=progress,
    )
    table = report.rows(quantised, progress=progress)
    progress("comparing with the model itself")
    held = report.held(quantised)
    progress("")
    checked = min(KEPT, len(quantised.samples))
    heading = f"{options.model}: ranges over {len(quantised.samples)} samples, errors over {checked}"
    print(report.text(table, heading=heading))
    if table:
        last = table[-1]
        print(f"result `{last.name}` against float: cosine {last.cosine:.5f}, SQNR {last.sqnr:.1f} dB")
    print(*held.lines(), sep="\n")
    held.check(options.model)  # what is wrong is not written
    progress(f"writing {output}")
    said = f"{Path(options.model).name} by {held.referee.name} on {held.samples} samples: {held.integers}"
    model = quantised.model(said)
    model.write(output)
    progress("")
    weights = sum(array.nbytes for array in model.weights.values())
    beside = weights_file(output).name
    print(f"{output}: {len(quantised.values)} ops; {beside}: {weights:,} bytes of weights")
    return 0
