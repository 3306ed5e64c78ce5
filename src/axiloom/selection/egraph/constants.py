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
        for eclass, nodes in enumerate(saturated.classes):
            if eclass in enodes:
                continue
            for node in nodes:
                if node.op != "parameter" and all(need in enodes for need in node.operands):
                    enodes[eclass] = node
                    changed = True
                    break
    return enodes


class Constants:
    """Their contents; `arrays` are those of the graph's constants, by name."""

    def __init__(self, saturated: Saturated, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.saturated, self.given = saturated, arrays
        self._made: dict[int, Node] = {}
        self._values: dict[int, NDArray[np.generic]] = {}

    @cached_property
    def classes(self) -> Mapping[int, ENode]:
        return constant_classes(self.saturated)

    def value(self, eclass: int) -> NDArray[np.generic] | None:
        """Raw host values; None for a class that is no constant."""
        if eclass not in self.classes:
            return None
        if eclass not in self._values:
            graph = Graph("constant", (), (self._node(eclass),), self.given)
            self._values[eclass] = np.asarray(evaluate(graph, {})[0])
        return self._values[eclass]

    def _node(self, eclass: int) -> Node:
        if eclass not in self._made:
            way = self.classes[eclass]
            operands = tuple(self._node(need) for need in way.operands)
            self._made[eclass] = Node(way.op, operands, dict(way.attributes), self.saturated.types[eclass])
        return self._made[eclass]
