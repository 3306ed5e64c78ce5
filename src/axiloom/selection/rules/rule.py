"""`Rule`: two patterns that compute the same, what they may be matched with, and in which sense."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from axiloom.base.errors import SpecError

SENSES = ("exact", "integers", "reals")
"""exact: the same for whatever the scalar functions are, so for all numbers, bit for bit, but for the order
of sums, which the IR does not say, and for the sign of a maximum of -0 and 0. integers: bit for bit, for
integers alone. reals: for floats alone, equal in real numbers; roundings differ."""


MOST_RANK = 4
"""Of a tensor without a stated shape, or with ``*rows`` in it: proofs try all ranks up to it, and matches
have no more."""


class RuleError(SpecError):
    """A rule, or a file of rules, that means nothing or is wrong."""


@cache
def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@dataclass(frozen=True)
class Expr:
    """An expression over sizes and attributes. Equal if its text is."""

    text: str

    @property
    def tree(self) -> ast.expr:
        """To read, not to change: all that are equal share it."""
        return _tree(self.text)


@dataclass(frozen=True)
class Var:
    """Any value; one of the rule's tensors."""

    name: str


@dataclass(frozen=True)
class Term:
    """An operation on patterns. Shared parts are equal terms."""

    op: str
    operands: tuple[Pattern, ...]
    attributes: tuple[tuple[str, Expr], ...]
    """By name, sorted."""


Pattern: TypeAlias = Var | Term


@dataclass(frozen=True)
class Parameter:
    """A tensor or an attribute that a rule is about. `form`: of tensors their shape, of attributes what
    values they can have, which are proved one by one; None: anything."""

    name: str
    form: Expr | None


@dataclass(frozen=True)
class Rule:
    """``old`` becomes ``new`` beside it."""

    name: str
    sense: str
    tensors: tuple[Parameter, ...]
    attributes: tuple[Parameter, ...]
    steps: tuple[tuple[str, Expr] | Expr, ...]
    """In order: names that get a value, and conditions."""
    old: Pattern
    new: Pattern
    bounds: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Sizes that proofs may have to try instead of all."""
    choices: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Attributes that the left side does not say, such as the size of a tile: each of these is tried. Proofs
    are for all that the parameter's form allows."""
    bounded: bool = False
    """Proved for the sizes of `bounds` alone, so it matches no others."""
    text: str = ""
    """The docstring."""
    place: str = ""
    """File and line."""

    def __str__(self) -> str:
        return self.name


DEFAULT_SIZES = (1, 2, 3)
"""What a proof tries for a size where no rule says what."""


def sizes_of(rule: Rule, name: str) -> tuple[int, ...]:
    """Sizes to try for a name: its own, or all others'. Of ``rows0`` they are those of ``rows``."""
    stated = dict(rule.bounds)
    plain = name.rstrip("0123456789")
    return stated.get(name) or stated.get(plain) or stated.get("others") or DEFAULT_SIZES


def terms(pattern: Pattern) -> Iterator[Term]:
    """Each term once, operands first."""
    seen: set[Term] = set()

    def walk(pattern: Pattern) -> Iterator[Term]:
        if isinstance(pattern, Var) or pattern in seen:
            return
        seen.add(pattern)
        for operand in pattern.operands:
            yield from walk(operand)
        yield pattern

    yield from walk(pattern)


def variables(pattern: Pattern) -> tuple[str, ...]:
    """Names of tensors, in the order in which they come."""
    names: dict[str, None] = {}

    def walk(pattern: Pattern) -> None:
        if isinstance(pattern, Var):
            names[pattern.name] = None
            return
        for operand in pattern.operands:
            walk(operand)

    walk(pattern)
    return tuple(names)


def enumerable(form: Expr) -> bool:
    """Whether all values of a parameter can be listed."""
    tree = form.tree
    called = tree.func.id if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""
    named = tree.id if isinstance(tree, ast.Name) else ""
    return called not in ("naturals", "positives") and named not in ("numbers", "natural", "positive")
