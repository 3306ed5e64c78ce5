"""What a rule is about: ranks, sizes, numbers and attributes, one case after the other.

Sizes are unknowns, or, where a proof must be content with stated shapes, integers. All else is tried value by
value: ranks, permutations, numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from axiloom.graph.graph import Type
from axiloom.selection.rules.expressions import Unsaid, compiled, names_of
from axiloom.selection.rules.prove.conditions import Dropped
from axiloom.selection.rules.prove.context import Context
from axiloom.selection.rules.rule import MOST_RANK, Expr, Parameter, Rule, sizes_of

NUMBERS = {
    "exact": ("float32", "bfloat16", "int8", "int32", "uint8", "bool"),
    "integers": ("int32", "int8", "uint8", "int16"),
    "reals": ("float32", "bfloat16"),
}
"""One of each kind stands for all: elements know a number by its name, and by whether it is narrow."""
LOWEST = {"natural": 0, "positive": 1, "naturals": 0, "positives": 1}


@dataclass
class Case:
    """The values of a rule's names on one path. `sizes`: what to try for each; None: unknowns."""

    rule: Rule
    context: Context
    sizes: Callable[[str], Sequence[int]] | None = None
    numbers: Sequence[str] | None = None
    """Of tensors; None: all that the sense has."""
    env: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Type] = field(default_factory=dict)

    def fill(self) -> None:
        """Raises Dropped where a condition does not hold."""
        early = [step for step in self.rule.steps if isinstance(step, Expr)]
        for tensor in self.rule.tensors:
            shape = self._shape(tensor)
            number = self._one(self.numbers or NUMBERS[self.rule.sense])
            self.tensors[tensor.name] = self.env[tensor.name] = Type(shape, number)
            # What is already known ends a path before more is chosen.
            for step in [step for step in early if names_of(step) <= self.env.keys()]:
                early.remove(step)
                self._holds(step)
        for attribute in self.rule.attributes:
            if attribute.name not in self.env:
                self.env[attribute.name] = self._attribute(attribute)
        for one_step in self.rule.steps:
            if isinstance(one_step, tuple):
                self.env[one_step[0]] = self._value(one_step[1])
            elif one_step in early:
                self._holds(one_step)

    def _holds(self, step: Expr) -> None:
        value = self._value(step)
        if value is False:
            raise Dropped
        if value is not True:
            self._assume(value)

    def _assume(self, condition: Any) -> None:
        if self.context.valid(condition.opposite()):
            raise Dropped
        self.context.assume(condition)

    def _value(self, expr: Expr) -> Any:
        try:
            return compiled(expr)(self.env)
        except Unsaid:
            raise Dropped from None

    def _one(self, values: Sequence[Any]) -> Any:
        return values[self.context.pick(len(values))]

    def size(self, name: str, low: int = 1) -> Any:
        if self.sizes is None:
            return self.context.unknown(name, low)
        return self._one([size for size in self.sizes(name) if size >= low] + ([0] if low == 0 else []))

    def _shape(self, parameter: Parameter) -> tuple[Any, ...]:
        if parameter.form is None:
            rank = self.context.pick(MOST_RANK + 1)
            return tuple(self.size(f"{parameter.name}{i}") for i in range(rank))
        tree = parameter.form.tree
        if not isinstance(tree, ast.Tuple):
            return self._named(tree, MOST_RANK)
        shape: list[Any] = []
        for entry in tree.elts:
            if isinstance(entry, ast.Starred):
                shape += self._named(entry.value, MOST_RANK - len(tree.elts) + 1)
            elif isinstance(entry, ast.Name) and entry.id not in self.env:
                self.env[entry.id] = self.size(entry.id)
                shape.append(self.env[entry.id])
            else:
                shape.append(self._value(Expr(ast.unparse(entry))))
        return tuple(shape)

    def _named(self, tree: ast.expr, most: int) -> tuple[Any, ...]:
        """Some dimensions under a name."""
        if isinstance(tree, ast.Name) and tree.id not in self.env:
            count = self.context.pick(most + 1)
            self.env[tree.id] = tuple(self.size(f"{tree.id}{i}") for i in range(count))
        value = self._value(Expr(ast.unparse(tree)))
        if not isinstance(value, tuple):
            raise Dropped
        return value

    def _attribute(self, parameter: Parameter) -> Any:
        if parameter.form is None:
            raise Unsaid(f"no values are stated for {parameter.name}: they cannot be tried")
        match parameter.form.tree:
            case ast.Name(id="numbers"):
                return self._one(NUMBERS[self.rule.sense])
            case ast.Name(id=("natural" | "positive") as name):
                return self.size(parameter.name, LOWEST[name])
            case ast.Call(func=ast.Name(id=("naturals" | "positives") as name), args=[count]):
                many = self._value(Expr(ast.unparse(count)))
                return tuple(self.size(f"{parameter.name}{i}", LOWEST[name]) for i in range(many))
            case ast.Call(func=ast.Name(id="permutations"), args=[count]):
                return self._one(list(permutations(range(self._value(Expr(ast.unparse(count)))))))
        values = self._value(parameter.form)
        return self._one(values)


def bounds_of(rule: Rule) -> Callable[[str], Sequence[int]]:
    """Sizes to try by name."""
    return lambda name: sizes_of(rule, name)


def _open(parameter: Parameter) -> bool:
    """Whether the tensor's rank is not stated."""
    return parameter.form is None or any(
        isinstance(node, ast.Starred) for node in ast.walk(parameter.form.tree)
    )


def about(rule: Rule, bounded: bool) -> str:
    """In words."""
    ranks = [f"ranks to {MOST_RANK}"] if any(map(_open, rule.tensors)) else []
    if not bounded:
        return ", ".join(["all sizes", *ranks])
    of = bounds_of(rule)
    stated: dict[str, Sequence[int]] = {**dict(rule.bounds)} or {"others": of("")}
    sizes = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in stated.items())
    return ", ".join([f"sizes {sizes}", *ranks])
