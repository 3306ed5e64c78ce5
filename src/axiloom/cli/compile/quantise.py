"""``axiloom quantize``: a float model and calibration data in, an int8 network as MLIR out."""

from __future__ import annotations

from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.base.files import check_file
from axiloom.cli import HELP
from axiloom.cli import options as shared
from axiloom.cli.applet import Applet, option, output_file
from axiloom.library.models import KEPT, compared, emitted, of_file
from axiloom.library.progress import told
from axiloom.read import models
from axiloom.read.context.model import weights_file

RANDOM = "-random"


def execute(
    model: str,
    calibration: str,
    output: Path | None = None,
    shifts: bool = False,
    seed: int | None = None,
) -> None:
    if seed is not None and not calibration.endswith(RANDOM):
        raise UsageError("--seed: of random calibration data (--calibration N-random)")
    if not models.is_network(model):  # before seconds of imports
        raise UsageError(f"`{model}`: expected is model.py:build (torch) or model.onnx")
    output = output or Path(f"{Path(model.rpartition(':')[0] or model).stem}.mlir")
    if output.suffix != ".mlir":
        raise UsageError(f"--output {output}: expected is a name that ends in .mlir")
    for file in (output, weights_file(output)):  # before minutes of calibration
        check_file(file)
    progress = told()
    quantised = of_file(
        model, calibration, name=output.stem, shifts=shifts, seed=seed or 0, progress=progress
    )
    from axiloom.quantise import report  # needs torch

    table = report.rows(quantised, progress=progress)
    progress("comparing with the model itself")
    held = compared(quantised)
    progress("")
    checked = min(KEPT, len(quantised.samples))
    heading = f"{model}: ranges over {len(quantised.samples)} samples, errors over {checked}"
    print(report.text(table, heading=heading))
    if table:
        last = table[-1]
        print(f"result `{last.name}` against float: cosine {last.cosine:.5f}, SQNR {last.sqnr:.1f} dB")
    print(*held.lines(), sep="\n")
    held.check(model)  # what is wrong is not written
    progress(f"writing {output}")
    written = emitted(quantised, held, model)
    written.write(output)
    progress("")
    weights = sum(array.nbytes for array in written.weights.values())
    beside = weights_file(output).name
    print(f"{output}: {len(quantised.values)} ops; {beside}: {weights:,} bytes of weights")


APPLETS = (
    Applet(
        "quantize",
        HELP["quantize"],
        execute,
        (
            option("model", help="model.py:build, or model.onnx"),
            option(
                "--calibration",
                required=True,
                metavar="FILE.npz|FILE.py:NAME|N-random",
                help="an array for each input, samples first; a function that returns a list of tuples of "
                "inputs; or at least N random inputs",
            ),
            option(
                "-o",
                "--output",
                type=output_file,
                metavar="FILE.mlir",
                help="default: the model's name, in this folder",
            ),
            option(
                "--shifts",
                action="store_true",
                help="sums become int8 by a shift alone, one scale a weight: for accelerators that have no "
                "multiplier behind their sums, as an accelerator's page says",
            ),
            option("--seed", type=shared.natural, help="of random calibration data (default 0)"),
        ),
        "Writes FILE.mlir and FILE.npz (weights) for `axiloom run`, and prints range, scale and "
        "error of each layer. What is read of the model and its integers are compared with ONNX Runtime, "
        "ONNX's evaluator or PyTorch on the model itself; where one differs too much the exit code is 1, and "
        "no files are written. "
        "Needs the extra [torch].",
        aliases=("quantise",),
    ),
)
