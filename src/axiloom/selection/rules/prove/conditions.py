"""`Condition`: what is said of sizes and indices, and what it is on plain values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import z3

from axiloom.selection.rules.prove.sizes import Size, parts_of


class Undecided(Exception):  # noqa: N818 - a path that ends, not a fault
    """A proof that cannot go on: a condition on an index of a sum, or too many ways."""


class Dropped(Exception):  # noqa: N818 - the same
    """A way that says nothing: the left side has no type there, or a condition does not hold."""


class Decides(Protocol):
    """What knows of unknowns: `prove.context.Context`."""

    def decide(self, condition: Condition) -> bool: ...
    def valid(self, condition: Any) -> bool: ...
    def term(self, value: Any) -> z3.ArithRef: ...


@dataclass(frozen=True, eq=False)
class Condition:
    """Of sizes: `value` >= 0, == 0; or of others: and, or, not."""

    context: Decides
    form: str
    """>=, ==, and, or, not"""
    parts: tuple[Any, ...]

    def __bool__(self) -> bool:
        return self.context.decide(self)

    @property
    def certain(self) -> bool:
        return self.context.valid(self)

    def both(self, other: Any) -> Any:
        if isinstance(other, bool):
            return self if other else False
        return Condition(self.context, "and", (self, other))

    def either(self, other: Any) -> Any:
        return Condition(self.context, "or", (self, other))

    def opposite(self) -> Condition:
        if self.form == ">=":
            return Condition(self.context, ">=", (-self.parts[0] - 1,))
        return self.parts[0] if self.form == "not" else Condition(self.context, "not", (self,))

    @property
    def unknowns(self) -> frozenset[str]:
        names: frozenset[str] = frozenset()
        for part in self.parts:
            names |= part.unknowns if isinstance(part, (Size, Condition)) else frozenset()
        return names

    @cached_property
    def key(self) -> tuple[Any, ...]:
        parts = (part.parts if isinstance(part, Size) else _condition_key(part) for part in self.parts)
        return (self.form, *parts)

    def term(self) -> z3.BoolRef:
        match self.form:
            case ">=":
                return self.context.term(self.parts[0]) >= 0
            case "==":
                return self.context.term(self.parts[0]) == 0
            case "and":
                return z3.And(*(part.term() for part in self.parts))
            case "or":
                return z3.Or(*(part.term() for part in self.parts))
        return z3.Not(self.parts[0].term())


def computed(value: Any, values: dict[str, int]) -> int:
    total = 0
    for names, factor in parts_of(value):
        for name in names:
            factor *= values[name]
        total += factor
    return total


def holds(condition: Any, values: dict[str, int]) -> bool:
    """On plain values."""
    if isinstance(condition, bool):
        return condition
    match condition.form:
        case ">=":
            return computed(condition.parts[0], values) >= 0
        case "==":
            return computed(condition.parts[0], values) == 0
        case "and":
            return all(holds(part, values) for part in condition.parts)
        case "or":
            return any(holds(part, values) for part in condition.parts)
    return not holds(condition.parts[0], values)


def _condition_key(part: Any) -> Any:
    return part.key if isinstance(part, Condition) else part
