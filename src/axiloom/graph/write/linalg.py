"""`linalg`: a graph as a function of linalg ops, with its constants as weights."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from numpy.typing import NDArray

from axiloom.graph.graph import Graph, GraphError, Node, in_order
from axiloom.graph.ops.op import Make
from axiloom.graph.ops.registry import OPS, Builder
from axiloom.graph.write import moves, quantised, scalars, sums
from axiloom.graph.write.registry import WRITERS
from axiloom.graph.write.text import Text, spelled

_ = moves, quantised, scalars, sums  # they register what they write


@dataclass(frozen=True)
class Written:
    """MLIR text of one function, and the arrays of its arguments with ``axiloom.weight``, by that name."""

    mlir: str
    weights: Mapping[str, NDArray[Any]]


def linalg(graph: Graph, attributes: Mapping[str, str] | None = None) -> Written:
    """`graph` as one function, in a module. Composites that have no writer of their own are written as they
    are defined. `attributes`: the function's, as MLIR has them.

    Raises GraphError, with the place in what the user brought, for operations and numbers that linalg, or
    our C of it, does not have.
    """
    definitions = _Definitions()
    ordered = [definitions.of(node) for node in graph.order]
    results = [definitions.of(result) for result in graph.results]
    nodes = list(in_order([*ordered, *results]))
    fixed = _fixed(nodes)
    text = Text(graph, fixed)
    for parameter in graph.parameters:
        text.parameter(parameter)
    needed = _needed(results, fixed)
    for node in nodes:
        if node in text or id(node) not in needed or node.op == "splat" or text.is_weight(node):
            continue
        if node.op == "parameter":
            raise GraphError(f"{graph.name}: `{node.attributes['name']}` is used, and is no parameter")
        writer = WRITERS.get(node.op)
        if writer is None:
            where = node.place or graph.name
            raise GraphError(
                f"{where}: {node.op} has no form in linalg; written are {', '.join(sorted(WRITERS))}"
            )
        spelled(node.type, node.place or node.op)
        text.node = node
        text[node] = writer(text, node)
    return Written(text.function(_safe(graph.name), results, attributes or {}), text.weights)


def _safe(name: str) -> str:
    """As an identifier of MLIR and of C."""
    identifier = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:40]
    return identifier if identifier and not identifier[0].isdigit() else f"graph_{identifier}"


def _fixed(nodes: Sequence[Node]) -> set[int]:
    """``id`` of what is computed here, once, as it follows from constants alone and is no larger than they
    are: nothing is repeated that a loop can read where it is."""
    largest: dict[int, int] = {}
    for node in nodes:
        if node.op == "parameter":
            continue
        if node.op in ("constant", "iota"):
            largest[id(node)] = node.type.elements
        elif node.op == "splat":
            largest[id(node)] = 1
        elif all(id(operand) in largest for operand in node.operands):
            largest[id(node)] = max(largest[id(operand)] for operand in node.operands)
    return {
        id(node)
        for node in nodes
        if node.op not in ("constant", "splat") and node.type.elements <= largest.get(id(node), -1)
    }


def _needed(results: Sequence[Node], fixed: set[int]) -> set[int]:
    """``id`` of what is written: all but what only `fixed` nodes are made of."""
    needed: set[int] = set()
    stack = list(results)
    while stack:
        node = stack.pop()
        if id(node) not in needed:
            needed.add(id(node))
            stack += () if id(node) in fixed else node.operands
    return needed


@dataclass
class _Definitions:
    """Composites without a writer become what they are defined as, again and again."""

    builder: Builder = field(default_factory=Builder)
    plain: dict[int, Node] = field(default_factory=dict)
    """By ``id`` of a node: what it has become. What has is there as itself."""
    kept: list[Node] = field(default_factory=list)
    """So that no other node gets the ``id`` of one that has been replaced."""

    def of(self, result: Node) -> Node:
        stack = [result]
        while stack:
            node = stack[-1]
            missing = [operand for operand in node.operands if id(operand) not in self.plain]
            if id(node) in self.plain:
                stack.pop()
            elif missing:
                stack += reversed(missing)
            else:
                self._set(node, self._one(node, [self.plain[id(operand)] for operand in node.operands]))
                stack.pop()
        return self.plain[id(result)]

    def _one(self, node: Node, operands: list[Node]) -> Node:
        definition = OPS[node.op].definition if node.op in OPS else None
        if definition is None or node.op in WRITERS:
            if all(old is new for old, new in zip(node.operands, operands, strict=True)):
                return node
            return self.builder.op(node.op, *operands, place=node.place, **node.attributes)
        make = cast(Make, partial(self.builder.op, place=node.place))
        return self.of(definition(make, operands, node.attributes))

    def _set(self, node: Node, definition: Node) -> None:
        self.plain[id(node)] = self.plain[id(definition)] = definition
        self.kept += [node, definition]
