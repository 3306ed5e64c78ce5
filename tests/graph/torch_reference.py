"""Graphs computed by PyTorch, operation by operation: the second opinion on `evaluate`.

It knows the operations of ``graphs.py``. Integers are computed in int64 and cut to their width, bfloat16 in
float32 and rounded after each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from axiloom.graph import Graph, Node

_WIDE = {"int8": torch.int64, "int32": torch.int64, "bfloat16": torch.float32, "float32": torch.float32}
_NARROW = {
    "int8": torch.int8, "int32": torch.int32, "bfloat16": torch.bfloat16, "float32": torch.float32,
}  # fmt: skip


def _cut(values: Any, of: str) -> Any:
    return values.to(_NARROW[of]).to(_WIDE[of])


def _softmax(x: Any, given: Mapping[str, Any], of: str) -> Any:
    """Rounded where the definition rounds."""
    along = given["dimension"]
    raised = _cut(torch.exp(_cut(x - x.amax(along, keepdim=True), of)), of)
    return raised / _cut(raised.sum(along, keepdim=True), of)


def _broadcast(x: Any, given: Mapping[str, Any]) -> Any:
    (along,) = given["dimensions"]
    shape = [1] * len(given["shape"])
    shape[along] = -1
    return x.reshape(shape).expand(given["shape"])


def _reduce(x: Any, given: Mapping[str, Any]) -> Any:
    return x.amax(given["dimensions"]) if given["kind"] == "max" else x.sum(given["dimensions"])


_OPS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, **_: a + b,
    "subtract": lambda a, b, **_: a - b,
    "multiply": lambda a, b, **_: a * b,
    "maximum": lambda a, b, **_: torch.maximum(a, b),
    "relu": lambda a, **_: a.clamp(min=0),
    "exponential": lambda a, **_: torch.exp(a),
    "transpose": lambda a, given, **_: a.permute(given["permutation"]),
    "slice": lambda a, given, **_: a[tuple(map(slice, given["start"], given["limit"]))],
    "concatenate": lambda *a, given, **_: torch.cat(a, given["dimension"]),
    "convert": lambda a, **_: a,
    "dot_general": lambda a, b, **_: a @ b,
    "dense": lambda a, w, **_: a @ w.T,
    "bias_add": lambda a, b, **_: a + b,
    "softmax": lambda a, given, of: _softmax(a, given, of),
    "broadcast_in_dim": lambda a, given, **_: _broadcast(a, given),
    "reduce": lambda a, given, **_: _reduce(a, given),
}


def compute(graph: Graph, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """Results as values: int64, or float32."""
    values: dict[int, Any] = {}
    for node in graph.nodes():
        values[id(node)] = _value(node, inputs, values)
    return [values[id(one)].numpy() for one in graph.results]


def _value(node: Node, inputs: Mapping[str, NDArray[Any]], values: Mapping[int, Any]) -> Any:
    of, given = node.type.number, dict(node.attributes)
    if node.op == "parameter":
        raw = inputs[str(given["name"])]
        bits = (
            torch.tensor(raw.view(np.int16)).view(torch.bfloat16) if of == "bfloat16" else torch.tensor(raw)
        )
        return bits.to(_WIDE[of])
    if node.op == "splat":
        return torch.full(
            given["shape"], float(given["value"]) if "." in given["value"] else int(given["value"])
        )
    operands = [values[id(one)] for one in node.operands]
    return _cut(_OPS[node.op](*operands, given=given, of=of), of)
