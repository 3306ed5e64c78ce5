"""Operators of programs and circuits as z3 terms, in three meanings.

``EXACT``: operators of whole numbers are what they are on bits; all others are functions without a meaning,
one for each operator and format. ``OPAQUE``: all but wires are such. ``REAL``: floats are real numbers, which
do not round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import z3

from axiloom.hw.nest.operators.lanes import JOIN, LANE
from axiloom.isa.numerics.formats import Format, Kind, format_of

Term = Any
_WHOLE = (Kind.INTEGER, Kind.FIXED)


class Meaning(StrEnum):
    EXACT = "exact"
    OPAQUE = "opaque"
    REAL = "real"


def sort(number: str, meaning: Meaning = Meaning.EXACT) -> Any:
    """Of a value of this format."""
    format = format_of(number)
    if meaning is Meaning.REAL and format.kind is Kind.FLOAT:
        return z3.RealSort()
    return z3.BitVecSort(format.bits)


def literal(value: int | float, number: str, meaning: Meaning = Meaning.EXACT) -> Term:
    """A constant; a subnormal float is zero."""
    format = format_of(number)
    if format.kind is not Kind.FLOAT:
        return z3.BitVecVal(int(value), format.bits)
    if meaning is Meaning.REAL:
        return z3.RealVal(repr(float(np.float32(value))))
    raw = int(np.float32(value).view(np.uint32))
    return z3.BitVecVal(raw if raw & 0x7F800000 else raw & 0x80000000, format.bits)


def operate(
    name: str, number: str, result: str, operands: Sequence[Term], meaning: Meaning = Meaning.EXACT
) -> Term:
    """The result of an operator of operands of format `number`, as :class:`axiloom.hw.nest.circuit.Operate`
    has it."""
    source, target = format_of(number), format_of(result)
    if meaning is Meaning.REAL and source.kind is Kind.FLOAT and name in _REAL:
        return _REAL[name](*operands)
    if name == JOIN:
        return z3.Concat(*reversed(operands))
    if name.startswith(LANE):
        low = int(name.removeprefix(LANE)) * target.bits
        return z3.Extract(low + target.bits - 1, low, operands[0])
    if meaning is not Meaning.OPAQUE:
        if name == "select":
            return z3.If(operands[0] == 1, operands[1], operands[2])
        if name in _COMPARED and source.kind in _WHOLE:
            compare = _COMPARED[name][0 if source.signed else 1]
            return z3.If(compare(*operands), z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        if name in _BITS and source.kind is not Kind.FLOAT and number == result:
            return _BITS[name](*operands)
        if name in ("abs", "max", "min") and source.kind in _WHOLE and number == result:
            return _extreme(name, source, *operands)
        if source.kind is target.kind is Kind.INTEGER and name == "mul":
            return _resized(operands[0], source, target) * _resized(operands[1], source, target)
        if source.kind is target.kind is Kind.INTEGER and name == "convert":
            return _resized(operands[0], source, target)
    return function(
        name, number, result, tuple(operand.sort() for operand in operands), sort(result, meaning)
    )(*operands)


@lru_cache(maxsize=1024)
def function(name: str, number: str, result: str, operands: tuple[Any, ...], value: Any) -> Any:
    """An operator without a meaning."""
    return z3.Function(f"{name} {number} {result}", *operands, value)


def _resized(term: Term, source: Format, target: Format) -> Term:
    more = target.bits - source.bits
    if more <= 0:
        return z3.Extract(target.bits - 1, 0, term) if more else term
    return z3.SignExt(more, term) if source.signed else z3.ZeroExt(more, term)


def _extreme(name: str, source: Format, x: Term, y: Term = None) -> Term:
    if name == "abs":
        return z3.If(x < 0, -x, x) if source.signed else x
    less = x < y if source.signed else z3.ULT(x, y)
    return z3.If(less, y, x) if name == "max" else z3.If(less, x, y)


_COMPARED: Mapping[str, tuple[Callable[..., Term], Callable[..., Term]]] = {
    "lt": (lambda a, b: a < b, z3.ULT),
    "le": (lambda a, b: a <= b, z3.ULE),
    "gt": (lambda a, b: a > b, z3.UGT),
    "ge": (lambda a, b: a >= b, z3.UGE),
    "eq": (lambda a, b: a == b, lambda a, b: a == b),
    "ne": (lambda a, b: a != b, lambda a, b: a != b),
}
_BITS: Mapping[str, Callable[..., Term]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "neg": lambda a: -a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
}
_REAL: Mapping[str, Callable[..., Term]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "max": lambda a, b: z3.If(a < b, b, a),
    "min": lambda a, b: z3.If(a < b, a, b),
}


class Numbered:
    """Terms as integers, for what carries integers: a constant of 64 bits at most stands for itself, and no
    raw value of a circuit is as large as the number of a term."""

    FIRST = 1 << 64

    def __init__(self) -> None:
        self._terms: list[Term] = []
        self._numbers: dict[int, int] = {}

    def number(self, term: Term) -> int:
        """The same for the same term."""
        if z3.is_bv_value(term) and term.as_long() < self.FIRST:
            return int(term.as_long())
        number = self._numbers.get(term.get_id())
        if number is None:
            number = self._numbers[term.get_id()] = self.FIRST + len(self._terms)
            self._terms.append(term)  # which keeps it alive, and its id with it
        return number

    def term(self, number: int, bits: int) -> Term:
        """Raises ValueError for a term of another width: something has been read as what it is not."""
        if number < self.FIRST:
            return z3.BitVecVal(number, bits)
        term = self._terms[number - self.FIRST]
        if term.size() != bits:
            raise ValueError(f"{term} has {term.size()} bits, and is taken for {bits}")
        return term
