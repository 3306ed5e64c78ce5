"""Small applications without torch, and data for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from axiloom.graph import Graph, Node, Type
from axiloom.graph.ops import Builder

Array = np.ndarray[Any, Any]


class Making:
    """A graph being made; weights are normal."""

    def __init__(self, seed: int = 0) -> None:
        self.builder, self.rng = Builder(), np.random.default_rng(seed)
        self.constants: dict[str, Array] = {}

    def parameter(self, name: str, *shape: int) -> Node:
        return self.builder.leaf("parameter", name, Type(shape, "float32"))

    def constant(self, name: str, array: Array) -> Node:
        self.constants[name] = array.astype(np.float32)
        return self.builder.leaf("constant", name, Type(array.shape, "float32"))

    def weights(self, name: str, *shape: int, size: float = 0.2) -> Node:
        return self.constant(name, size * self.rng.standard_normal(shape))

    def op(self, name: str, *operands: Node, place: str = "", **attributes: Any) -> Node:
        return self.builder.op(name, *operands, place=place, **attributes)

    def graph(self, result: Node, *parameters: Node) -> Graph:
        return Graph("small", parameters, (result,), self.constants)


CONVOLUTION = {
    "dims": "bf01_oi01->bf01", "strides": (2, 1), "padding": (1, 1, 1, 0), "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1), "feature_group_count": 1, "number": "float32",
}  # fmt: skip


def network(batch: int = 3, **changes: Any) -> Graph:
    """A convolution, an activation, a dense layer with a bias: (batch, 5, 9, 8) to (batch, 7)."""
    make = Making()
    x = make.parameter("x", batch, 5, 9, 8)
    y = make.op(
        "convolution", x, make.weights("conv.w", 12, 5, 3, 2), place="conv", **{**CONVOLUTION, **changes}
    )
    y = make.op("relu", y)
    flat = make.op("reshape", y, shape=(batch, y.type.elements // batch))
    w = make.weights("dense.w", 7, flat.type.shape[1], size=0.1)
    z = make.op("dense", flat, w, number="float32", place="dense")
    return make.graph(make.op("bias_add", z, make.weights("dense.b", 7), dimension=1, place="dense.bias"), x)


def recurrent(
    steps: int = 8, batch: int = 2, width: int = 20, hidden: int = 24, size: float = 0.8, back: float = 0.8
) -> Graph:
    """An LSTM whose cell's state passes 1 soon: (steps, batch, width) to (steps, batch, hidden)."""
    make = Making(1)
    xs, h, c = (
        make.parameter("xs", steps, batch, width),
        *(make.parameter(name, batch, hidden) for name in ("h", "c")),
    )
    weights = [
        make.constant(name, (back if name == "wh" else size) * make.rng.uniform(-1, 1, shape))
        for name, shape in (("wx", (4 * hidden, width)), ("wh", (4 * hidden, hidden)), ("b", (4 * hidden,)))
    ]
    return make.graph(make.op("lstm", xs, h, c, *weights, place="lstm"), xs, h, c)


def images(calls: int = 2, batch: int = 3) -> dict[str, Array]:
    rng = np.random.default_rng(5)
    return {"x": rng.standard_normal((calls * batch, 5, 9, 8)).astype(np.float32)}


def sequences(
    calls: int = 2, steps: int = 8, batch: int = 2, width: int = 20, hidden: int = 24
) -> dict[str, Array]:
    rng = np.random.default_rng(6)
    xs = (0.8 * rng.uniform(-1, 1, (calls, steps, batch, width))).astype(np.float32)
    return {"xs": xs, **{name: np.zeros((calls, batch, hidden), np.float32) for name in ("h", "c")}}
