"""Graphs as lists of rows: pickle descends into operands, and graphs are deep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axiloom.graph.graph import Graph, Node


def flat(graph: Graph) -> list[tuple[Any, ...]]:
    """The graph without nesting: pickle descends into operands."""
    number: dict[int, int] = {}
    rows: list[tuple[Any, ...]] = []
    for node in graph.nodes():
        operands = tuple(number[id(operand)] for operand in node.operands)
        number[id(node)] = len(rows)
        rows.append((node.op, operands, dict(node.attributes), node.type, node.place))
    return [(graph.name, tuple(number[id(result)] for result in graph.results)), *rows]


def unflat(rows: Sequence[tuple[Any, ...]]) -> Graph:
    """The graph of `flat`."""
    nodes: list[Node] = []
    for op, operands, attributes, type_, place in rows[1:]:
        nodes.append(Node(op, tuple(nodes[operand] for operand in operands), attributes, type_, place))
    name, results = rows[0]
    parameters = tuple(node for node in nodes if node.op == "parameter")
    return Graph(name, parameters, tuple(nodes[result] for result in results))
