"""One ONNX model through the readers of Axiloom, held against ONNX Runtime by code of its own.

Verdicts: ``right``; ``refused`` with a message; ``caught`` by Axiloom's own referee; ``wrong``, what nobody
said; and ``crash``, what would be exit code 70.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from axiloom.base.errors import AxiloomError, MismatchError
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.quantise import report
from axiloom.quantise.network import quantise
from axiloom.read.onnx.model import import_file
from axiloom.read.onnx.network import load_network
from axiloom.read.pytorch.module import results_of
from axiloom.run.scales import of

Array = np.ndarray[Any, Any]
SAMPLES = 4
PYTHON = re.compile(
    r"Traceback|\b(Key|Type|Runtime|Index|Value|Attribute|Assertion|Name)Error\b|object at 0x"
)
"""What no message for a user has in it."""


@dataclass(frozen=True)
class Verdict:
    word: str
    why: str = ""


class Outside:
    """ONNX Runtime on a file, and inputs for it."""

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def inputs(self, rng: np.random.Generator) -> list[Array]:
        return [_random(rng, value) for value in self.session.get_inputs()]

    def results(self, inputs: list[Array]) -> list[Array]:
        names = [value.name for value in self.session.get_inputs()]
        return [np.asarray(r) for r in self.session.run(None, dict(zip(names, inputs, strict=True)))]


def _random(rng: np.random.Generator, value: Any) -> Array:
    kind = np.dtype(
        {"float": "float32", "uint8": "uint8", "int8": "int8", "int32": "int32", "int64": "int64"}[
            value.type[7:-1]
        ]
    )
    if kind.kind == "f":
        return rng.standard_normal(value.shape).astype(kind)
    if kind.itemsize == 1:
        return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, value.shape).astype(kind)
    return rng.integers(0, 40, value.shape).astype(kind)


def off(got: list[Array], want: list[Array]) -> float:
    """The largest error in parts of the largest magnitude, infinite for another shape."""
    if [g.shape for g in got] != [w.shape for w in want]:
        return np.inf
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        a, b = g.astype(np.float64), w.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        error = np.where(same, 0.0, np.abs(a - b))
        top = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
        worst = max(
            worst, float(error.max(initial=0.0)) / (top or 1.0) if np.isfinite(error).all() else np.inf
        )
    return worst


def quantised(path: Path) -> Verdict:
    """``axiloom quantize``, and its integers on inputs of ours."""
    outside, rng = Outside(path), np.random.default_rng(7)
    import torch

    try:
        network, examples = load_network(path)
        samples = [tuple(map(torch.from_numpy, outside.inputs(rng))) for _ in range(SAMPLES)]
        integers = quantise(network, examples, samples, name="net")
        report.rows(integers)
        held = report.held(integers)
        held.check("net.onnx")
    except MismatchError as error:
        return Verdict(
            "caught" if "as read" in str(error) or "what is read" in str(error) else "inexact", str(error)
        )
    except AxiloomError as error:
        return _refusal(error)
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {error}")
    wanted = [outside.results([value.numpy() for value in sample]) for sample in samples]
    read = [results_of(integers.module, sample) for sample in samples]
    got = [integers.real(sample) for sample in samples]
    for results, limit in ((read, 1e-3), (got, 0.6)):
        distance = off(
            *([np.stack(output) for output in zip(*some, strict=True)] for some in (results, wanted))
        )
        if not distance <= limit:
            return Verdict("wrong", f"off by {distance:.3g}, {limit} allowed")
    return Verdict("right", f"{held.sqnr:.1f}")


def imported(path: Path) -> Verdict:
    """The float model of ``axiloom run``, in NumPy."""
    outside, rng = Outside(path), np.random.default_rng(8)
    try:
        model = import_file(path)
        function = only_function(parse(model.mlir, model.name), model.name)
        inputs = outside.inputs(rng)
        borders = of(function, "input", len(inputs))
        arrays = [
            border.given(array, "x", array.shape, "int8" if array.dtype == np.uint8 else str(array.dtype))
            for border, array in zip(borders, inputs, strict=True)
        ]
        got = evaluate(function, [*arrays, *model.weights.values()])
    except AxiloomError as error:
        return _refusal(error)
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {error}")
    assert model.referee is not None
    caught = off(got, model.referee.run(inputs)) > 1e-3
    distance = off(got, outside.results(inputs))
    if distance > 1e-3:
        return Verdict("caught" if caught else "wrong", f"off by {distance:.3g}")
    return Verdict("right")


def _refusal(error: AxiloomError) -> Verdict:
    if PYTHON.search(str(error)):
        return Verdict("crash", f"a message for programmers: {error}")
    return Verdict("refused", str(error))


def save(proto: Any, path: Path) -> bool:
    """Whether ONNX Runtime takes the model, and computes something: else it says nothing about us."""
    onnx.save(proto, path)
    try:
        outside = Outside(path)
        outside.results(outside.inputs(np.random.default_rng(0)))
    except Exception:
        return False
    return True
