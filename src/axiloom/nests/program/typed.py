"""Expressions with checked types: what the builder and every reader make them with.

`SIGNATURES` has every operator that a program may name. What hardware has of them is said in
``hw/nest/operators``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axiloom.base.affine import Affine
from axiloom.base.wording.names import hint
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program.expressions import BOOL, Expression, Index, Literal, Op


@dataclass(frozen=True)
class Signature:
    """`operands` of one format; of which kinds; whether the result is ``bool``."""

    operands: int
    kinds: frozenset[Kind]
    boolean: bool = False
    takes_bool: bool = False
    """Operands may be ``bool`` too (then so is the result)."""


_ALL = frozenset({Kind.INTEGER, Kind.FIXED, Kind.FLOAT})
_INTEGER = frozenset({Kind.INTEGER})
_FLOAT = frozenset({Kind.FLOAT})
SIGNATURES = {
    **{name: Signature(2, _ALL) for name in ("add", "sub", "mul", "div", "max", "min")},
    **{name: Signature(1, _ALL) for name in ("neg", "abs")},
    **{name: Signature(1, _FLOAT) for name in ("sqrt", "exp")},
    **{name: Signature(2, _INTEGER) for name in ("rem", "shl", "shr")},
    **{name: Signature(2, _INTEGER, takes_bool=True) for name in ("and", "or", "xor")},
    "not": Signature(1, _INTEGER, takes_bool=True),
    **{name: Signature(2, _ALL, boolean=True) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}
"""Integer ``div`` and ``rem`` round towards zero, as C's; ``shr`` keeps the sign of signed numbers. ``not``
of an integer inverts its bits."""


def literal(value: int | float, number: str) -> Literal:
    """The literal of this value. A float is rounded to the nearest one, or unit of fixed-point, whose
    literal holds the units. Raises ValueError for what the format cannot hold."""
    if number == BOOL:
        return Literal(int(bool(value)), BOOL)
    format = format_of(number)
    if format.kind is Kind.FLOAT:
        with np.errstate(over="ignore"):
            return Literal(float(format.numpy.type(value)), number)
    units = value * 2**format.fraction
    if format.kind is Kind.FIXED:
        units = round(units)
    if int(units) != units:
        raise ValueError(f"{value} is no {number}; convert, or write a whole number")
    if not format.lowest <= units <= format.highest:
        range_ = f"{format.lowest} to {format.highest}"
        raise ValueError(f"{value} is no {number}: it holds {range_} units of 2^-{format.fraction}")
    return Literal(int(units), number)


def index(value: Affine, number: str = "int32") -> Index | Literal:
    if format_of(number).kind is not Kind.INTEGER:
        raise ValueError(f"the value of {value} is an integer; convert it to {number}")
    return literal(value.constant, number) if value.is_constant else Index(_in_64_bits(value), number)


def _in_64_bits(value: Affine) -> Affine:
    """With the same value in any format: those have at most 64 bits, and wrap."""
    terms = tuple((name, _signed(factor)) for name, factor in value.terms)
    return Affine(tuple(term for term in terms if term[1]), _signed(value.constant))


def _signed(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def apply(name: str, *operands: Expression) -> Op:
    """An operator of `SIGNATURES`. Raises ValueError where the operands are not what it takes."""
    if name not in SIGNATURES:
        raise ValueError(
            f"unknown operator `{name}`{hint(name, SIGNATURES)}; there are {', '.join(SIGNATURES)}"
        )
    signature = SIGNATURES[name]
    numbers = [operand.number for operand in operands]
    if len(operands) != signature.operands:
        raise ValueError(f"`{name}` takes {signature.operands} operands, not {len(operands)}")
    if len(set(numbers)) > 1:
        raise ValueError(
            f"`{name}` of {' and '.join(numbers)}: operands are of one format; convert one of them"
        )
    if numbers[0] == BOOL:
        if not signature.takes_bool:
            raise ValueError(f"`{name}` of bool; select between two numbers instead")
    elif format_of(numbers[0]).kind not in signature.kinds:
        kinds = ", ".join(sorted(signature.kinds))
        raise ValueError(f"`{name}` of {numbers[0]}; it takes {kinds}")
    return Op(name, operands, BOOL if signature.boolean else numbers[0])


def select(condition: Expression, yes: Expression, no: Expression) -> Op:
    """`yes` where the condition holds, else `no`; both are evaluated."""
    if condition.number != BOOL:
        raise ValueError(f"a condition is a comparison, not {condition.number}")
    if yes.number != no.number:
        raise ValueError(f"`select` of {yes.number} and {no.number}: convert one of them")
    return Op("select", (condition, yes, no), yes.number)


def convert(value: Expression, number: str) -> Expression:
    """The value in another format; of a literal and an index, at once where that is exact."""
    if value.number == number:
        return value
    format_of(number)
    if value.number == BOOL:
        if isinstance(value, Literal):
            return literal(value.value, number)
        return select(value, literal(1, number), literal(0, number))
    if isinstance(value, Literal) and format_of(value.number).kind is Kind.INTEGER:
        if format_of(number).kind is Kind.INTEGER:
            low = format_of(number).lowest
            return Literal((int(value.value) - low) % (1 << format_of(number).bits) + low, number)
        if format_of(number).kind is Kind.FLOAT:
            return literal(value.value, number)
    return Op("convert", (value,), number)
