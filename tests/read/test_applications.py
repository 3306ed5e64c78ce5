"""The six applications, read from torch: as many operations as published, and torch's results."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiloom.graph.evaluate import evaluate

torch = pytest.importorskip("torch")
from axiloom.read.pytorch.exported import raw_of, read_program  # noqa: E402

FOLDER = Path(__file__).parents[2] / "examples" / "applications"
COUNTS = {
    "resnet20": {"convolution": 21, "add": 9, "dense": 1},
    "lstm_wlm": {"lstm": 1, "dense": 1, "take": 1},
    "resmlp": {"dense": 26, "convolution": 12, "gelu": 12, "bias_add": 38},
    "mobilenet_v2": {"convolution": 57, "scale_shift": 57, "dense": 1},
    "transformer": {"dense": 66, "dot_general": 36, "layer_norm": 32, "softmax": 18},
    "efficientnet": {"convolution": 51, "scale_shift": 50, "logistic": 34, "add": 9},
}
"""What the applications of the paper are made of (3la-evaluation's models, counted)."""
_QUICK = ("lstm_wlm",)


def _built(name: str) -> tuple[Any, tuple[Any, ...]]:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    network, examples = module.build()
    if any(isinstance(one, torch.nn.BatchNorm2d) for one in network.modules()):
        with torch.no_grad():  # statistics of an input: without them nothing reaches the last layer
            network.train()(*(torch.cat([one, one.flip(-1)]) for one in examples))
    return network.eval(), examples


@pytest.mark.parametrize(
    "name", [one if one in _QUICK else pytest.param(one, marks=pytest.mark.slow) for one in COUNTS]
)
def test_application(name: str) -> None:
    network, examples = _built(name)
    with torch.no_grad():
        graph = read_program(torch.export.export(network, examples), name)
        wanted = network(*examples)
    ops = Counter(one.op for one in graph.nodes())
    assert {one: ops[one] for one in COUNTS[name]} == COUNTS[name]
    names = (str(one.attributes["name"]) for one in graph.parameters)
    found = evaluate(graph, dict(zip(names, map(raw_of, examples), strict=True)))
    results = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, right in zip(found, results, strict=True):
        largest = float(right.abs().max())
        np.testing.assert_allclose(one, right.numpy(), rtol=0, atol=1e-5 * max(largest, 1e-3))
        assert float(right.std()) > 1e-4 * largest
