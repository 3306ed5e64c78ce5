"""`results`: what a graph computes, as elements.

Operations that move elements move the integers; those that compute intern what they compute of what. So
transposes, tiles, padding and another order of the same loads leave no trace, and no rule is known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from axiloom.graph.graph import Graph, Node
from axiloom.graph.numbers import number
from axiloom.graph.ops import OPS, Builder, elementwise
from axiloom.selection.validate.contract import CONTRACTIONS
from axiloom.selection.validate.elements import Elements, Ids

MOVES = frozenset(
    ("reshape", "transpose", "slice", "concatenate", "broadcast_in_dim", "pad", "reverse", "windows")
)
COMMUTES = frozenset(("add", "multiply", "maximum", "minimum", "and", "or", "xor"))
"""In floats too: there is one NaN."""
ELEMENTWISE = frozenset(op.name for op in elementwise.OPS)


def results(elements: Elements, graph: Graph, inputs: Mapping[str, Ids]) -> tuple[Ids, ...]:
    """The results, for parameters by name."""
    ids: dict[int, Ids] = {}
    for node in graph.nodes():
        if node.op == "parameter":
            ids[id(node)] = inputs[str(node.attributes["name"])]
        elif node.op == "constant":
            ids[id(node)] = elements.literal(graph.constant(node), node.type.number)
        else:
            ids[id(node)] = value(elements, node, [ids[id(operand)] for operand in node.operands])
    return tuple(ids[id(result)] for result in graph.results)


def value(elements: Elements, node: Node, operands: Sequence[Ids]) -> Ids:
    """One operation's result, for its operands."""
    types = [operand.type for operand in node.operands]
    if not operands or elements.all_literal(operands):
        arrays = [elements.raw(operand, type_) for operand, type_ in zip(operands, types, strict=True)]
        return elements.literal(OPS[node.op].evaluate(arrays, types, node.attributes), node.type.number)
    if node.op in MOVES:
        return np.asarray(OPS[node.op].evaluate(list(operands), types, node.attributes))
    if node.op == "convert":
        return elements.convert(operands[0], types[0].number, node.type.number)
    if node.op in ELEMENTWISE:
        attributes = tuple(sorted(node.attributes.items()))
        head = (node.op, attributes, *(type_.number for type_ in types))
        stacked = np.stack(
            [np.broadcast_to(operand, node.type.shape).ravel() for operand in operands], axis=1
        )
        if node.op in COMMUTES:
            stacked.sort(axis=1)
        return elements.rows(head, stacked).reshape(node.type.shape)
    if node.op in CONTRACTIONS:
        return CONTRACTIONS[node.op](elements, node, operands)
    if node.op == "reduce":
        return _reduced(elements, node, operands[0])
    definition = OPS[node.op].definition
    if definition is not None:
        return _defined(elements, node, operands)
    key = (node.op, tuple(sorted(node.attributes.items())), *(operand.tobytes() for operand in operands))
    first = elements.known.get(key)
    if first is None:
        fresh = elements.fresh(node.type.shape)
        elements.known[key] = int(fresh.flat[0]) if fresh.size else 0
        return fresh
    return np.arange(first, first + node.type.elements, dtype=np.int64).reshape(node.type.shape)


def _defined(elements: Elements, node: Node, operands: Sequence[Ids]) -> Ids:
    definition = OPS[node.op].definition
    assert definition is not None
    builder = Builder()
    leaves = [builder.leaf("parameter", str(i), operand.type) for i, operand in enumerate(node.operands)]
    result = definition(builder.op, leaves, node.attributes)
    inputs = {str(i): operand for i, operand in enumerate(operands)}
    return results(elements, Graph(node.op, tuple(leaves), (result,)), inputs)[0]


def _reduced(elements: Elements, node: Node, operand: Ids) -> Ids:
    dimensions = node.attributes["dimensions"]
    assert isinstance(dimensions, tuple)
    kept = [i for i in range(operand.ndim) if i not in dimensions]
    rows = operand.transpose(*kept, *sorted(dimensions)).reshape(node.type.elements, -1)
    kind, of = str(node.attributes["kind"]), node.type.number
    # The IR makes sums and products of narrow floats in float32, and rounds once.
    inner = "float32" if number(of).narrow and kind in ("add", "mul") else of
    reduced = elements.rows(("reduce", kind, inner), elements.convert(rows, of, inner))
    return elements.convert(reduced, inner, of).reshape(node.type.shape)
