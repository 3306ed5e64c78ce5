"""A graph on NumPy arrays: the meaning of an application, which every program is judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from axiloom.graph.graph import Graph, GraphError, Node, Type
from axiloom.graph.numbers import Array, number
from axiloom.graph.ops.registry import OPS


def evaluate(graph: Graph, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """The results on `inputs`, raw host values by the names of parameters. Raises GraphError."""
    values = evaluate_all(graph, inputs, keep=False)
    return tuple(values[id(result)] for result in graph.results)


def evaluate_all(graph: Graph, inputs: Mapping[str, Array], *, keep: bool = True) -> dict[int, Array]:
    """By ``id`` of nodes: all values, or without `keep` those of the results."""
    names = {str(parameter.attributes["name"]) for parameter in graph.parameters}
    if names != set(inputs):
        raise GraphError(f"{graph.name}: takes {sorted(names)}, not {sorted(inputs)}")
    nodes = list(graph.nodes())
    uses = Counter(id(operand) for node in nodes for operand in node.operands)
    uses.update(id(result) for result in graph.results)
    values: dict[int, Array] = {}
    for node in nodes:
        values[id(node)] = _value(graph, node, inputs, values)
        for operand in node.operands:
            uses[id(operand)] -= 1
            if not keep and not uses[id(operand)]:
                values.pop(id(operand), None)
    return values


def _value(graph: Graph, node: Node, inputs: Mapping[str, Array], values: Mapping[int, Array]) -> Array:
    if node.op == "parameter":
        return _given(inputs[str(node.attributes["name"])], node)
    if node.op == "constant":
        return _given(graph.constant(node), node)
    arrays = [values[id(operand)] for operand in node.operands]
    array = OPS[node.op].evaluate(arrays, [operand.type for operand in node.operands], node.attributes)
    if array.shape != node.type.shape or array.dtype != number(node.type.number).host:
        raise GraphError(f"{node.place or node.op}: computed {array.dtype}{array.shape}, not {node.type}")
    return array


def _given(array: Array, node: Node) -> Array:
    array, wanted = np.asarray(array), node.type
    if array.shape != wanted.shape or array.dtype != number(wanted.number).host:
        name = node.attributes["name"]
        raise GraphError(f"{name} is {array.dtype}{array.shape}, not {wanted} ({_host(wanted)})")
    return array


def _host(type_: Type) -> str:
    return f"a NumPy array of {number(type_.number).host}"
