"""Fixed-point: ``fixed<BITS,FRACTION>``, two's complement in units of 2^-FRACTION.

Of 8 and 16 bits the products are exact, in ``fixed<32,2*FRACTION>``, and sums wrap. ``fixed<32,F>`` is its
own accumulator: a product is rounded to F bits of fraction, halves up, and wraps. :meth:`Fixed.narrow`
rounds halves up, as hardware does by adding half a unit, and stops at the ends of the range.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.numerics import WORD_BITS, Numerics, Raw, Values

FORM = "fixed<BITS,FRACTION>"


@dataclass(frozen=True)
class Fixed(Numerics):
    """Values are int32 arrays of units."""

    fraction: int

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(f"int{self.bits}")

    @property
    def mlir(self) -> str:
        return f"i{self.bits}"

    @property
    def in_mlir(self) -> bool:
        """Products and sums of 8 and 16 bits are those of integers; rounded ones of 32 bits have no op."""
        return self._exact or self.fraction == 0

    @property
    def integral_sums(self) -> bool:
        return self._exact

    @property
    def extend(self) -> str | None:
        return "arith.extsi" if self._exact else None

    @property
    def _exact(self) -> bool:
        return self.bits < WORD_BITS

    @property
    def accumulator(self) -> Fixed:
        return fixed(WORD_BITS, 2 * self.fraction) if self._exact else self

    @property
    def rounding(self) -> str:
        products = "exact" if self._exact else f"rounded to {self.fraction} bits of fraction, halves up"
        return f"products are {products}, sums are {self.accumulator.name} and wrap"

    def decode(self, raw: Raw) -> Values:
        return np.asarray(raw).view(self.numpy).astype(np.int32)

    def encode(self, values: Values) -> Raw:
        return np.asarray(values).astype(self.raw)

    def multiply(self, a: Values, b: Values) -> Values:
        if self._exact:
            return np.multiply(a, b, dtype=np.int32)
        return _rounded(np.multiply(a, b, dtype=np.int64), self.fraction).astype(np.int32)

    def add(self, a: Values, b: Values) -> Values:
        return self.decode(self.encode(np.add(a, b, dtype=np.int32)))

    def accumulate(self, sums: Values, terms: Values) -> Values:
        return self.add(sums, np.asarray(np.sum(terms, axis=0, dtype=np.int32)))  # sums wrap, in any order

    def widen(self, values: Values) -> Values:
        return values << self.fraction if self._exact else values

    def narrow(self, sums: Values) -> Values:
        if not self._exact:
            return sums
        rounded = _rounded(np.asarray(sums, np.int64), self.fraction)
        return np.asarray(np.clip(rounded, self.lowest, self.highest), np.int32)

    @property
    def lowest(self) -> Values:
        return np.array(np.iinfo(self.numpy).min, np.int32)

    @property
    def highest(self) -> Values:
        return np.array(np.iinfo(self.numpy).max, np.int32)

    def dot(self, sums: Values, a: Values, b: Values) -> Values:
        return np.asarray(sums + a @ b) if self._exact else super().dot(sums, a, b)

    def real(self, values: Values) -> npt.NDArray[np.float64]:
        return np.ldexp(np.asarray(values, np.float64), -self.fraction)

    def nearest(self, reals: npt.ArrayLike) -> Values:
        units = np.ldexp(np.asarray(reals, np.float64), self.fraction)
        whole = np.rint(np.clip(units, float(self.lowest), float(self.highest)))
        return np.asarray(whole, np.int32)


def _rounded(units: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int64]:
    """Without the lowest `bits` bits, halves up."""
    return (units + ((1 << bits) >> 1)) >> bits


@cache
def fixed(bits: int, fraction: int) -> Fixed:
    """The one value of this name."""
    return Fixed(f"fixed<{bits},{fraction}>", bits, fraction)


def parse(name: str) -> Fixed | str | None:
    """The fixed-point of this name; why there is none of it; None if the name is of something else."""
    match = re.fullmatch(r"fixed<\s*(\d+)\s*,\s*(\d+)\s*>", name)
    if match is None:
        return None
    bits, fraction = int(match[1]), int(match[2])
    if bits not in (8, 16, 32):
        return f"an element of `{name}` has {bits} bits; on the stream it may have 8, 16 or 32"
    if fraction >= bits:
        return f"`{name}` has {fraction} bits of fraction; of {bits} bits they may be 0 to {bits - 1}"
    return fixed(bits, fraction)
