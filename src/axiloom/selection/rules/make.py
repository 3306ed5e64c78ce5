"""The right side of a rule: operations with their attributes and types, operands first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from axiloom.graph.graph import Type
from axiloom.graph.ops import OPS
from axiloom.selection.rules.expressions import Code, compiled
from axiloom.selection.rules.rule import Pattern, Rule, Term, Var, terms


@dataclass(frozen=True)
class Step:
    """An operation. An operand is a tensor's name, or the number of an earlier step."""

    op: str
    operands: tuple[str | int, ...]
    attributes: tuple[tuple[str, Code], ...]

    def given(self, env: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes. Raises Unsaid."""
        return {name: code(env) for name, code in self.attributes}


@cache
def plan_of(pattern: Pattern) -> tuple[Step, ...]:
    """The steps that make a pattern; the last is its root. Empty for a variable."""
    number: dict[Term, int] = {}
    steps: list[Step] = []
    for term in terms(pattern):
        operands = tuple(
            operand.name if isinstance(operand, Var) else number[operand] for operand in term.operands
        )
        steps.append(Step(term.op, operands, tuple((name, compiled(expr)) for name, expr in term.attributes)))
        number[term] = len(number)
    return tuple(steps)


def build(
    pattern: Pattern,
    env: Mapping[str, Any],
    tensors: Mapping[str, Any],
    make: Callable[[str, Sequence[Any], Mapping[str, Any]], Any],
) -> Any:
    """What `make` gives for the root, from operations, operands and attributes. Raises Unsaid."""
    if isinstance(pattern, Var):
        return tensors[pattern.name]
    values: list[Any] = []
    for step in plan_of(pattern):
        operands = [
            values[operand] if isinstance(operand, int) else tensors[operand] for operand in step.operands
        ]
        values.append(make(step.op, operands, step.given(env)))
    return values[-1]


def type_of(op: str, types: Sequence[Type], attributes: Mapping[str, Any]) -> Type:
    """Raises GraphError."""
    return OPS[op].result(types, attributes)


def sides(rule: Rule) -> tuple[Pattern, Pattern]:
    return rule.old, rule.new
