"""Float models as integer ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axiloom.base import extras
from axiloom.base.errors import UsageError
from axiloom.library.progress import Progress, silent, told
from axiloom.library.works import Work, of_model
from axiloom.read.context.model import Model

if TYPE_CHECKING:
    from axiloom.quantise.network import Quantised
    from axiloom.quantise.report import Held

KEPT = 4
"""Samples on which each layer is compared."""


def quantize(
    model: Any,
    calibration: str | Path | Sequence[Any],
    inputs: Sequence[Any] | None = None,
    *,
    shifts: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> Work:
    """A float model as an int8 one: ``net.onnx``, ``model.py:build``, or a torch module with example
    `inputs`.

    `calibration`: samples, each a tuple of arrays; a file (``.npz``, ``FILE.py:NAME``); or
    ``"8-random"``. `shifts`: sums become int8 by a shift alone. What it computes is compared with the
    model itself: `Work.said` has both cosines and the largest error. Raises CompileError for an op
    without an integer form, with all of them, and MismatchError beyond the stated limits.
    """
    say, name = told(progress), str(model)
    if isinstance(model, (str, Path)):
        quantised = of_file(str(model), calibration, shifts=shifts, seed=seed, progress=say)
    elif inputs is None:
        raise UsageError(
            "ax.quantize: a torch module needs its example inputs: ax.quantize(module, data, (x,))"
        )
    else:
        name = type(model).__name__
        quantised = _of_module(model, tuple(inputs), calibration, name, shifts, seed, say)
    say("comparing with the model itself")
    held = compared(quantised)
    held.check(name)
    say("")
    return replace(of_model(name, emitted(quantised, held, name)), said=tuple(held.lines()))


def of_file(
    model: str,
    calibration: Any,
    *,
    name: str = "",
    shifts: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Quantised:
    """The integer graph of ``net.onnx`` or ``model.py:build``, not yet compared; by the file's `name`, where
    there is no other."""
    _check_extras()
    from axiloom.read.models import network

    name = name or Path(model.rpartition(":")[0] or model).stem
    return _of_module(*network(model), calibration, name, shifts, seed, progress)


def compared(quantised: Quantised) -> Held:
    """With the model itself."""
    from axiloom.quantise import report

    return report.held(quantised)


def emitted(quantised: Quantised, held: Held, name: str) -> Model:
    """As MLIR, which says what it was compared with."""
    said = f"{Path(name).name} by {held.referee.name} on {held.samples} samples: {held.integers}"
    return quantised.model(said)


def _of_module(
    network: Any,
    examples: tuple[Any, ...],
    calibration: Any,
    name: str,
    shifts: bool,
    seed: int,
    progress: Progress,
) -> Quantised:
    _check_extras()
    from axiloom.quantise.network import quantise
    from axiloom.read.pytorch.module import inputs_of

    data = str(calibration) if isinstance(calibration, Path) else calibration
    if not isinstance(data, str):
        data = [inputs_of([np.asarray(array) for array in sample], examples) for sample in data]
    return quantise(
        network, examples, data, name=name, keep=KEPT, seed=seed, shifts=shifts, progress=progress
    )


def _check_extras() -> None:
    for module in ("torch", "torch_mlir"):
        extras.require(module, "quantize")
