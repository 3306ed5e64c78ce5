"""Number formats as operators see them: raw bits, and the integers that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import UsageError
from axiloom.isa.numerics.formats import Kind, format_of

FLOAT32 = "float32"
BOOL = "bool"

Raw = npt.NDArray[np.unsignedinteger[Any]]
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
    """The format of an integer or a fixed-point number; None for other names."""
    try:
        format = format_of(name)
    except ValueError:
        return None
    if format.kind not in (Kind.INTEGER, Kind.FIXED):
        return None
    return Whole(format.bits, format.signed, format.fraction, format.kind is Kind.FIXED)


def bits_of(name: str) -> int:
    """Bits of an element of this format. Raises :exc:`UsageError` for a name of none."""
    try:
        return format_of(name).bits
    except ValueError as error:
        raise UsageError(str(error)) from error


def unsigned(bits: int) -> np.dtype[Any]:
    """The smallest type of NumPy that holds raw elements of `bits` bits."""
    return np.dtype(next(f"uint{size}" for size in (8, 16, 32, 64) if size >= bits))
