"""What isl gives by cases, ``t1 <= 1 ? 0 : 1``: IR has one affine form at a place, so each case becomes a
branch of ``affine.if`` around whatever uses the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, Union

from xdsl.ir.affine import AffineExpr

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Guard:
    """`value` is at least 0, or is 0."""

    value: AffineExpr
    equal: bool


Condition: TypeAlias = list[list[Guard]]
"""A disjunction of conjunctions."""


@dataclass(frozen=True)
class Choice(Generic[T]):
    """`then` where `condition` holds, else `other`."""

    condition: Condition
    then: Cases[T]
    other: Cases[T]


Cases: TypeAlias = Union[T, Choice[T]]  # noqa: UP007  # a string is no operand of |
"""One value, or several by cases."""


def combined(function: Callable[[Sequence[T]], Cases[R]], parts: Sequence[Cases[T]]) -> Cases[R]:
    """`function` of the parts, in each of their cases."""
    for place, part in enumerate(parts):
        if isinstance(part, Choice):
            before, after = parts[:place], parts[place + 1 :]
            then, other = (combined(function, [*before, side, *after]) for side in (part.then, part.other))
            return Choice(part.condition, then, other)
    return function(parts)  # type: ignore[arg-type]  # no part is a choice


def flattened(cases: Cases[Condition]) -> Condition:
    """A condition that has cases, as one without."""
    if not isinstance(cases, Choice):
        return cases
    then, other = flattened(cases.then), flattened(cases.other)
    return [*both(cases.condition, then), *both(negated(cases.condition), other)]


def both(left: Condition, right: Condition) -> Condition:
    return [[*a, *b] for a in left for b in right]


def negated(condition: Condition) -> Condition:
    """One guard of each conjunction fails."""
    negation: Condition = [[]]
    for conjunction in condition:
        negation = both(negation, [[fail] for guard in conjunction for fail in _fails(guard)])
    return negation


def _fails(guard: Guard) -> list[Guard]:
    below = Guard(guard.value * -1 + -1, False)
    return [below, Guard(guard.value + -1, False)] if guard.equal else [below]
