"""Float models as integer ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base import extras
from axiloom.base.errors import UsageError
from axiloom.library.progress import told
from axiloom.library.works import Work, of_model

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
    for module in ("torch", "torch_mlir"):
        extras.require(module, "ax.quantize")
    from axiloom.quantise import report
    from axiloom.quantise.network import quantise
    from axiloom.read.models import network as load
    from axiloom.read.pytorch.module import inputs_of

    say = told(progress)
    if isinstance(model, (str, Path)):
        (network, examples), name = load(str(model)), str(model)
    elif inputs is None:
        raise UsageError(
            "ax.quantize: a torch module needs its example inputs: ax.quantize(module, data, (x,))"
        )
    else:
        network, examples, name = model, tuple(inputs), type(model).__name__
    data = calibration
    if not isinstance(data, (str, Path)):
        data = [inputs_of([np.asarray(array) for array in sample], examples) for sample in data]
    quantised = quantise(
        network,
        examples,
        str(data) if isinstance(data, Path) else data,
        name=Path(name.rpartition(":")[0] or name).stem,
        keep=KEPT,
        seed=seed,
        shifts=shifts,
        progress=say,
    )
    say("comparing with the model itself")
    held = report.held(quantised)
    held.check(name)
    say("")
    said = f"{Path(name).name} by {held.referee.name} on {held.samples} samples: {held.integers}"
    work = of_model(name, quantised.model(said))
    return replace(work, said=tuple(held.lines()))
