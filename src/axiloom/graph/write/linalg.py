"""`linalg`: a graph as a function of linalg ops, with its constants as weights."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, GraphError, Node, in_order
from axiloom.graph.ops.registry import OPS, Builder
from axiloom.graph.write import moves, scalars, sums
from axiloom.graph.write.registry import WRITERS
from axiloom.graph.write.text import Text, passed, spelled

_ = moves, scalars, sums  # they register what they write


@dataclass(frozen=True)
class Written:
    """MLIR text of one function, and the arrays of its arguments with ``axiloom.weight``, by that name."""

    mlir: str
    weights: Mapping[str, NDArray[Any]]


def linalg(graph: Graph) -> Written:
    """`graph` as one function. Composites that have no writer of their own are written as they are defined.

    Raises GraphError, with the place in what the user brought, for operations and numbers that linalg, or
    our C of it, does not have.
    """
    definitions = _Definitions()
    results = [definitions.of(result) for result in graph.results]
    fixed = _fixed(results)
    text = Text(graph)
    arguments: list[str] = []
    weights: dict[str, NDArray[Any]] = {}
    for number, node in enumerate(graph.parameters):
        arguments.append(f"%in{number}: {passed(node.type, node.place or str(node.attributes['name']))}")
        text.names[id(node)] = f"%in{number}"
    needed = _needed(results, fixed)
    for node in in_order(results):
        if id(node) in text.names or id(node) not in needed or node.op == "splat":
            continue
        if node.op == "constant" or id(node) in fixed:
            name = f"w{len(weights)}_{_safe(str(node.attributes.get('name', node.op)))}"
            weights[name] = _contents(graph, node)
            arguments.append(f'%{name}: {passed(node.type, node.place)} {{axiloom.weight = "{name}"}}')
            text.names[id(node)] = f"%{name}"
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
        text.names[id(node)] = writer(text, node)
    types = ", ".join(passed(result.type, result.place) for result in results)
    returned = ", ".join(text[result] for result in results)
    returns = f"({types})" if len(results) != 1 else types
    head = f"func.func @{_safe(graph.name)}({', '.join(arguments)}) -> {returns} {{"
    tail = [f"func.return {returned} : {types}", "}"]
    return Written("\n".join([head, *text.lines, *tail]) + "\n", weights)


def _safe(name: str) -> str:
    """As an identifier of MLIR and of C."""
    identifier = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:40]
    return identifier if identifier and not identifier[0].isdigit() else f"graph_{identifier}"


def _contents(graph: Graph, node: Node) -> NDArray[Any]:
    if node.op == "constant":
        return np.ascontiguousarray(graph.constant(node))
    (value,) = evaluate(Graph(graph.name, (), (node,), graph.constants), {})
    return np.ascontiguousarray(value)


def _fixed(results: Sequence[Node]) -> set[int]:
    """``id`` of what is computed here, once, as it follows from constants alone and is no larger than they
    are: nothing is repeated that a loop can read where it is."""
    largest: dict[int, int] = {}
    for node in in_order(results):
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
        for node in in_order(results)
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
        if not operands:
            return node
        if definition is None or node.op in WRITERS:
            return self.builder.op(node.op, *operands, place=node.place, **node.attributes)
        return self.of(definition(self.builder.op, operands, node.attributes))

    def _set(self, node: Node, definition: Node) -> None:
        self.plain[id(node)] = self.plain[id(definition)] = definition
        self.kept += [node, definition]
