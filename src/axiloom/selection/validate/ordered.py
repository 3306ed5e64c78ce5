"""`ordered`: what a graph computes where sums of floats have an order: from index 0 up, each sum rounded in
the accumulator, as texts have it.

:func:`axiloom.graph.evaluate.evaluate` makes such sums in float64. The two are the same but where
something overflows, cancels or is a subnormal: at the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.graph import Graph, Node
from axiloom.graph.numbers import accumulator, number
from axiloom.graph.ops import OPS, Builder
from axiloom.selection.validate.contract import sides
from axiloom.selection.validate.graphs import ELEMENTWISE, MOVES

Raw = NDArray[np.generic]
_PLAIN = ELEMENTWISE | MOVES | {"convert"}
"""Operations in which no sum is made."""


def ordered(graph: Graph, inputs: Mapping[str, Raw]) -> list[Raw] | None:
    """The results, raw, in order; None where an operation sums floats in an order that is not said here."""
    values: dict[int, Raw] = {}
    for node in graph.nodes():
        if node.op == "parameter":
            values[id(node)] = inputs[str(node.attributes["name"])]
        elif node.op == "constant":
            values[id(node)] = graph.constant(node)
        else:
            computed = _value(node, [values[id(operand)] for operand in node.operands])
            if computed is None:
                return None
            values[id(node)] = computed
    return [values[id(result)] for result in graph.results]


def _value(node: Node, operands: Sequence[Raw]) -> Raw | None:
    types = [operand.type for operand in node.operands]
    floats = number(node.type.number).kind == "float"
    if floats and node.op in _SUMS:
        return _SUMS[node.op](node, operands)
    definition = OPS[node.op].definition
    if floats and definition is not None:
        builder = Builder()
        leaves = [builder.leaf("parameter", str(i), type_) for i, type_ in enumerate(types)]
        inner = Graph(node.op, tuple(leaves), (definition(builder.op, leaves, node.attributes),))
        nested = ordered(inner, {str(i): operand for i, operand in enumerate(operands)})
        return nested[0] if nested else None
    if floats and operands and node.op not in _PLAIN:
        return None
    return OPS[node.op].evaluate(list(operands), types, node.attributes)


def _dense(node: Node, operands: Sequence[Raw]) -> Raw:
    x, w = operands
    return _products(node, x.reshape(1, -1, x.shape[-1]), w[None])


def _dot_general(node: Node, operands: Sequence[Raw]) -> Raw:
    return _products(node, *sides(node, operands))


def _products(node: Node, left: Raw, right: Raw) -> Raw:
    """Of batches of rows."""
    of = accumulator(number(node.type.number))
    a, b = (
        _inner(factor, operand.type.number, of.values)
        for factor, operand in zip((left, right), node.operands, strict=True)
    )
    total = np.zeros((len(a), a.shape[1], b.shape[1]), of.values)
    with np.errstate(all="ignore"):
        for k in range(a.shape[2]):
            total = total + a[:, :, None, k] * b[:, None, :, k]
    return number(node.type.number).encode(total.reshape(node.type.shape))


def _reduce(node: Node, operands: Sequence[Raw]) -> Raw | None:
    kind, dimensions = node.attributes["kind"], node.attributes["dimensions"]
    assert isinstance(dimensions, tuple)
    of = number(node.type.number)
    if kind not in ("add", "mul"):
        return OPS["reduce"].evaluate(list(operands), [node.operands[0].type], node.attributes)
    values = _inner(operands[0], of.name, accumulator(of).values)
    with np.errstate(all="ignore"):
        for dimension in sorted(dimensions, reverse=True):
            turns = np.moveaxis(values, dimension, 0)
            total = np.zeros_like(turns[0]) if kind == "add" else np.ones_like(turns[0])
            for turn in turns:
                total = total + turn if kind == "add" else total * turn
            values = total
    return of.encode(values)


def _inner(raw: Raw, source: str, kind: np.dtype[Any]) -> NDArray[Any]:
    return number(source).decode(raw).astype(kind)


_SUMS: Mapping[str, Callable[[Node, Sequence[Raw]], Raw | None]] = {
    "dense": _dense,
    "dot_general": _dot_general,
    "reduce": _reduce,
}
