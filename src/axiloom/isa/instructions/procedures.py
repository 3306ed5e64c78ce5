"""Procedures: statements that stand in several places, written once; the reader inlines them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from axiloom.isa.instructions.tree import Range


@dataclass(frozen=True)
class Procedure:
    """`parameters` and what the procedure does, as text."""

    name: str
    parameters: Mapping[str, Range]
    body: Sequence[ast.stmt]

    def inlined(
        self, taken: Collection[str], state: Collection[str]
    ) -> tuple[Mapping[str, str], list[ast.stmt]]:
        """New names of its parameters, and its body with new names: ``k`` of ``run`` becomes ``run_k``.

        None of them is in `taken`; what is assigned and in `state` is a register and keeps its name.
        """
        bound = {
            node.id
            for statement in self.body
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        own = sorted({*self.parameters, *bound} - set(state))
        names: dict[str, str] = {}
        for attempt in count(1):
            names = {name: f"{self.name}_{name}" + (f"_{attempt}" if attempt > 1 else "") for name in own}
            if not set(names.values()) & set(taken):
                break
        renaming = _Renaming(names)
        return names, [renaming.visit(copy.deepcopy(statement)) for statement in self.body]


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node
