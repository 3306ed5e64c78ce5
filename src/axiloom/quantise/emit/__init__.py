"""The integer graph as MLIR: one function on tensors, in the forms that the compiler offloads or lowers.

Weights, tables and factors are arguments with `axiloom.weight`; what one step of inputs and outputs is worth
stands in the function's attributes. Every op carries the name of its layer as its location. `emitter` writes
a function; `sums`, `values` and `places` have a function a kind of node.
"""

from __future__ import annotations

from collections.abc import Callable

from axiloom.quantise.emit import places, sums, values
from axiloom.quantise.emit.emitter import Emitter
from axiloom.quantise.graph import graph as nodes
from axiloom.read.context.model import Model

__all__ = ["emit"]


def emit(graph: nodes.Graph, source: str = "") -> Model:
    """MLIR and weights of `graph`; the function has its name, as far as that is one. `source`: what the
    integers were compared with, for `axiloom run` to say."""
    return Emitter(graph).model(_WRITE, source)


_WRITE: dict[type[nodes.Node], Callable[..., str]] = {
    nodes.Constant: places.constant,
    nodes.Conv: sums.conv,
    nodes.Linear: sums.linear,
    nodes.MatMul: sums.matmul,
    nodes.SumPool: sums.sum_pool,
    nodes.Bias: sums.bias,
    nodes.Requantise: sums.requantise,
    nodes.Shift: sums.shift,
    nodes.Add: values.add,
    nodes.Mul: values.mul,
    nodes.Table: values.table,
    nodes.MaxPool: places.max_pool,
    nodes.Softmax: values.softmax,
    nodes.LayerNorm: values.layer_norm,
    nodes.Embedding: places.embedding,
    nodes.Reshape: places.reshape,
    nodes.Transpose: places.transpose,
    nodes.Slice: places.cut,
    nodes.Pad: places.pad,
    nodes.Concat: places.concat,
}
