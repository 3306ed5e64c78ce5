"""The integer graph: what a quantised network computes, in a small set of nodes.

Every value is an array of integers. An int8 value q stands for the real number ``scale * q`` (symmetric, one
scale a tensor); sums are int32 and wrap. `execute` runs a graph in NumPy, `emit` writes it as MLIR; both
follow the formulas that stand here, and neither knows the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """One value. `inputs` are names of values before it."""

    name: str
    """Unique in the graph; that of the layer that it comes from."""
    shape: Shape
    inputs: tuple[str, ...] = ()
    dtype: str = "int8"
    scale: float | None = None
    """What one step is worth; None for sums on the way to a requantisation, and for indices."""

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


@dataclass(frozen=True, eq=False, kw_only=True)
class Input(Node):
    """An argument of the network: int8, or int32 indices."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Constant(Node):
    """An array that is known, int8."""

    data: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Conv(Node):
    """int32 sums of x (b, ic, h, w) with weight (oc, ic / groups, fh, fw), padded with zeros."""

    weight: Array
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    """1, or ic: one filter a channel (depthwise)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Linear(Node):
    """int32 sums: x (m, k) times weight (k, n)."""

    weight: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class MatMul(Node):
    """int32 sums: a (b, m, k) times b (b, k, n)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SumPool(Node):
    """int32 sums over windows of x (b, c, h, w); padding counts as zeros."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bias(Node):
    """x + bias[channel] of int32 sums, wrapping."""

    axis: int
    bias: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Requantise(Node):
    """int8 of int32 sums::

        y = min(max((((x + bias) * multiplier + half) >> shift) + 0, lo), hi),  half = (1 << shift) >> 1

    x + bias wraps, the rest is exact in 64 bits; arrays int32, one element a channel along `axis`.
    """

    axis: int
    bias: Array
    multiplier: Array
    shift: Array
    lo: int = -128
    hi: int = 127


@dataclass(frozen=True, eq=False, kw_only=True)
class Shift(Node):
    """int8 of int32 sums, for accelerators without a multiplier behind their sums::

        y = min(max((x + bias) >> shift, lo), hi)

    x + bias wraps; `bias` (int32, one element a channel along `axis`) has the half that rounds in it.
    """

    axis: int
    bias: Array
    shift: int
    lo: int = -128
    hi: int = 127


@dataclass(frozen=True, eq=False, kw_only=True)
class Add(Node):
    """int8: ``clamp((a * first + b * second + half) >> shift)`` in int32; b is broadcast as in NumPy."""

    first: int
    second: int
    shift: int
    lo: int = -128
    hi: int = 127


@dataclass(frozen=True, eq=False, kw_only=True)
class Mul(Node):
    """int8: ``clamp((a * b * factor + half) >> shift)`` in int32; b is broadcast as in NumPy."""

    factor: int
    shift: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Node):
    """int8: ``table[x + 128]``."""

    table: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class MaxPool(Node):
    """int8: the largest of each window of x (b, c, h, w); padding is -128."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Softmax(Node):
    """int8, over the last axis of x, in int32::

        e = table[max(x) - x]                       16,384 where x is the largest
        y = min((e * (numerator / sum(e)) + half) >> shift, 127),  half = (1 << shift) >> 1

    The quotient is an integer, rounded down: one division a row.
    """

    table: Array
    numerator: int
    shift: int


@dataclass(frozen=True, eq=False, kw_only=True)
class LayerNorm(Node):
    """int8, over the last axis of x, n long, in int32 but for one quotient a row in float32::

    s = sum(x), d = n * sum(x * x) - s * s              d in 64 bits
    r = int(16777216 / sqrt(float(d) + epsilon))        truncated
    z = ((n * x - s) * r + 8192) >> 14                  the normalised value, times 1024
    y = clamp((z * gain[i] + offset[i]) >> shift)       offset holds the half that rounds
    """

    epsilon: float
    gain: Array
    offset: Array
    shift: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Embedding(Node):
    """int8: rows of `table` (words, n) by indices of any shape."""

    table: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Reshape(Node):
    """The same elements in row-major order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Transpose(Node):
    permutation: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Slice(Node):
    """x[offsets : offsets + shape * strides : strides] in every axis."""

    offsets: Shape
    strides: Shape


@dataclass(frozen=True, eq=False, kw_only=True)
class Pad(Node):
    """x with `value` around it: so many elements before and behind in every axis."""

    low: Shape
    high: Shape
    value: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Concat(Node):
    axis: int


@dataclass
class Graph:
    """Nodes in an order of execution, and the names of the outputs."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[Input]:
        return [node for node in self.nodes if isinstance(node, Input)]

    def __getitem__(self, name: str) -> Node:
        return self._index[name]

    def __contains__(self, name: object) -> bool:
        return any(node.name == name for node in self.nodes)

    @property
    def _index(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    def operands(self, node: Node) -> Sequence[Node]:
        index = self._index
        return [index[name] for name in node.inputs]
