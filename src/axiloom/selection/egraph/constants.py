"""Classes of a saturated graph that follow from constants alone, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, Node
from axiloom.selection.egraph.saturated import ENode, Saturated


def constant_classes(saturated: Saturated) -> dict[int, ENode]:
    """Classes that follow from constants alone, with a node that says how."""
    enodes: dict[int, ENode] = {}
    changed = True
    while changed:
        changed = False
        for one, nodes in enumerate(saturated.classes):
            if one in enodes:
                continue
            for node in nodes:
                if node.op != "parameter" and all(need in enodes for need in node.operands):
                    enodes[one] = node
                    changed = True
                    break
    return enodes


class Constants:
    """Their contents; `given` are those of the graph's constants, by name."""

    def __init__(self, saturated: Saturated, given: Mapping[str, NDArray[Any]]) -> None:
        self.saturated, self.given = saturated, given
        self._made: dict[int, Node] = {}
        self._values: dict[int, NDArray[np.generic]] = {}

    @cached_property
    def classes(self) -> Mapping[int, ENode]:
        return constant_classes(self.saturated)

    def value(self, one: int) -> NDArray[np.generic] | None:
        """Raw host values; None for a class that is no constant."""
        if one not in self.classes:
            return None
        if one not in self._values:
            graph = Graph("constant", (), (self._node(one),), self.given)
            self._values[one] = np.asarray(evaluate(graph, {})[0])
        return self._values[one]

    def _node(self, one: int) -> Node:
        if one not in self._made:
            way = self.classes[one]
            operands = tuple(self._node(need) for need in way.operands)
            self._made[one] = Node(way.op, operands, dict(way.attributes), self.saturated.types[one])
        return self._made[one]
