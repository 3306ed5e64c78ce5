"""Formats by name, as programs of loop nests have them: any width that a circuit can hold.

Wider than what travels in a stream word (`registry.py`): ``int<n>`` and ``uint<n>`` are written ``int12``,
``uint64``; then ``fixed<B,F>``, ``ufixed<B,F>``, ``float32``, ``float64`` (for the interpreter: circuits have
none), and ``bool`` for what comparisons give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np

WIDEST = 64


class Kind(StrEnum):
    INTEGER = "integer"
    FIXED = "fixed"
    FLOAT = "float"
    BOOL = "bool"


@dataclass(frozen=True)
class Format:
    """`fraction` is the number of bits behind the point; only fixed-point has any."""

    name: str
    kind: Kind
    bits: int
    signed: bool = True
    fraction: int = 0

    @property
    def container(self) -> int:
        """Bits of the element of a NumPy or C array that holds it: 8, 16, 32 or 64, sign or zero extended."""
        return max(8, 1 << (self.bits - 1).bit_length())

    @property
    def numpy(self) -> np.dtype[Any]:
        """Of an array on the host. Fixed-point is in units of 2^-fraction."""
        if self.kind is Kind.BOOL:
            return np.dtype(np.bool_)
        if self.kind is Kind.FLOAT:
            return np.dtype(self.name)
        return np.dtype(f"{'' if self.signed else 'u'}int{self.container}")

    @property
    def lowest(self) -> int:
        """The least integer, in units for fixed-point."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        return (1 << (self.bits - self.signed)) - 1


_BOOL = Format("bool", Kind.BOOL, 1, signed=False)
_FLOATS = {"float32": Format("float32", Kind.FLOAT, 32), "float64": Format("float64", Kind.FLOAT, 64)}
FORMS = "int1 to int64, uint1 to uint64, fixed<B,F>, ufixed<B,F>, float32, float64"


@cache
def format_of(name: str) -> Format:
    """The format of this name. Raises ValueError if there is none."""
    if name == _BOOL.name:
        return _BOOL
    if name in _FLOATS:
        return _FLOATS[name]
    if match := re.fullmatch(r"(u?)int(\d+)", name):
        bits = int(match[2])
        if 1 <= bits <= WIDEST:
            return Format(name, Kind.INTEGER, bits, not match[1])
    if match := re.fullmatch(r"(u?)fixed<\s*(\d+)\s*,\s*(\d+)\s*>", name):
        bits, fraction = int(match[2]), int(match[3])
        if 1 <= bits <= WIDEST and fraction <= bits:
            return Format(name, Kind.FIXED, bits, not match[1], fraction)
    raise ValueError(f"unknown number format `{name}`; there are {FORMS}, with B of 1 to {WIDEST} and F <= B")
