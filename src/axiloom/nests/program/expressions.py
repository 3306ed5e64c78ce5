"""Expressions: trees of loads, literals and operators. Each says the number format of its value.

Numbers are formats of ``isa/numerics`` by name, and ``bool`` for what comparisons give. Nothing converts by
itself: operands of an operator are of one format, and ``convert`` goes from one to another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from axiloom.base.affine import Affine

BOOL = "bool"
DOUBLE = "float64"


@dataclass(frozen=True)
class Literal:
    """A constant; `value` is exact in its format: a Python int, or a float that float32 holds."""

    value: int | float
    number: str


@dataclass(frozen=True)
class Index:
    """The value of an affine form of the iterators, as an integer of format `number`."""

    value: Affine
    number: str


@dataclass(frozen=True)
class Load:
    """An element of an array; a scalar is an array without dimensions. `number` is the array's format."""

    array: str
    subscripts: tuple[Affine, ...]
    number: str


@dataclass(frozen=True)
class Op:
    """An operator of `hw/nest/operators` by name: ``add``, ``mul``, ``max``, ``lt``, ``select``,
    ``convert``...

    `number` is the result's format: that of the operands, but for comparisons (``bool``), for ``convert``
    and for ``select`` (whose first operand is ``bool``).
    """

    name: str
    operands: tuple[Expression, ...]
    number: str


Expression = Literal | Index | Load | Op


def loads(expression: Expression) -> Iterator[Load]:
    """All loads in it, in order of evaluation: left to right, operands before their operator."""
    if isinstance(expression, Load):
        yield expression
    elif isinstance(expression, Op):
        for operand in expression.operands:
            yield from loads(operand)


def numbers(expression: Expression) -> Iterator[str]:
    """The format of each part."""
    yield expression.number
    if isinstance(expression, Op):
        for operand in expression.operands:
            yield from numbers(operand)
