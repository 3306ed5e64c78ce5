"""Number formats as hardware sees them: how many bits, with a sign or without, how many of fraction."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.errors import UsageError
from axiloom.hw.nest.operators.operator import Operator, Raw

FLOAT32 = "float32"
BOOL = "bool"
WIDEST = 64
_UNARY = ("neg", "abs", "not", "convert", "sqrt", "exp")

_INTEGER = re.compile(r"(u?)int(\d+)")
_FIXED = re.compile(r"fixed<\s*(\d+)\s*,\s*(\d+)\s*>")

Units = npt.NDArray[Any]
"""Integers of a format. Python's own (dtype object): a product of two has up to 128 bits."""


@dataclass(frozen=True)
class Whole:
    """A number in units of 2^-fraction, in `bits` bits of two's complement, or without sign."""

    bits: int
    signed: bool = True
    fraction: int = 0
    is_fixed: bool = False

    @property
    def lowest(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    def decode(self, raw: Raw) -> Units:
        units = np.asarray(raw).astype(object) & ((1 << self.bits) - 1)
        return np.where(units > self.highest, units - (1 << self.bits), units) if self.signed else units

    def encode(self, units: Units) -> Raw:
        """Wraps."""
        return np.asarray(units & ((1 << self.bits) - 1)).astype(unsigned(self.bits))

    def saturated(self, units: Units) -> Units:
        return np.minimum(np.maximum(units, self.lowest), self.highest)


@cache
def whole(name: str) -> Whole | None:
    """The format of an integer of 8 to 64 bits or a fixed-point number of 2 to 32; None for other names."""
    found = _INTEGER.fullmatch(name)
    if found is not None:
        bits = int(found[2])
        return Whole(bits, signed=not found[1]) if 8 <= bits <= WIDEST else None
    found = _FIXED.fullmatch(name)
    if found is not None:
        bits, fraction = int(found[1]), int(found[2])
        return Whole(bits, True, fraction, True) if 2 <= bits <= 32 and fraction < bits else None
    return None


def bits_of(name: str) -> int:
    """Bits of an element of this format. Raises :exc:`UsageError` for a name of none."""
    known = {BOOL: 1, FLOAT32: 32}
    if name in known:
        return known[name]
    number = whole(name)
    if number is None:
        raise UsageError(
            f"there are no operators for numbers of format `{name}`; there are for float32, bool, "
            f"int8 to int64, uint8 to uint64, and fixed<BITS,FRACTION> of 2 to 32 bits"
        )
    return number.bits


def operand_bits(operator: Operator) -> list[int]:
    """Bits of each operand."""
    bits = bits_of(operator.number)
    if operator.name == "select":
        return [1, bits, bits]
    return [bits] * (1 if operator.name in _UNARY else 2)


def unsigned(bits: int) -> np.dtype[Any]:
    """The smallest type of NumPy that holds raw elements of `bits` bits."""
    return np.dtype(next(f"uint{size}" for size in (8, 16, 32, 64) if size >= bits))
