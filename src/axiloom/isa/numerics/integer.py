"""Integers in two's complement or without sign: products and sums are int32 and wrap mod 2^32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.numerics import WORD_BITS, Numerics, Raw, Values


@dataclass(frozen=True)
class Integer(Numerics):
    """Values are int32 arrays, which wrap by themselves."""

    signed: bool = True

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(f"{'' if self.signed else 'u'}int{self.bits}")

    @property
    def mlir(self) -> str:
        return f"i{self.bits}"

    @property
    def integral(self) -> bool:
        return True

    @property
    def extend(self) -> str | None:
        if self.bits == WORD_BITS:
            return None
        return "arith.extsi" if self.signed else "arith.extui"

    @property
    def accumulator(self) -> Integer:
        return INT32

    @property
    def rounding(self) -> str:
        return "products and sums are int32 and wrap mod 2^32"

    def decode(self, raw: Raw) -> Values:
        return np.asarray(raw).view(self.numpy).astype(np.int32)

    def encode(self, values: Values) -> Raw:
        return np.asarray(values).astype(self.raw)

    def multiply(self, a: Values, b: Values) -> Values:
        return np.asarray(np.multiply(a, b, dtype=np.int32))

    def add(self, a: Values, b: Values) -> Values:
        return self.narrow(np.add(a, b, dtype=np.int32))

    def negate(self, values: Values) -> Values:
        return self.narrow(np.negative(values))

    def widen(self, values: Values) -> Values:
        return values

    def narrow(self, sums: Values) -> Values:
        """The low bits, as arith.trunci takes them."""
        return sums if self.bits == WORD_BITS else self.decode(self.encode(sums))

    @property
    def lowest(self) -> Values:
        return np.array(np.iinfo(self.numpy).min, np.int32)

    @property
    def highest(self) -> Values:
        return np.array(np.iinfo(self.numpy).max, np.int32)

    def dot(self, sums: Values, a: Values, b: Values) -> Values:
        return np.asarray(sums + a @ b)

    def real(self, values: Values) -> npt.NDArray[np.float64]:
        return np.asarray(values, np.float64)

    def nearest(self, reals: npt.ArrayLike) -> Values:
        return np.asarray(np.rint(np.clip(reals, float(self.lowest), float(self.highest))), np.int32)


INT8 = Integer("int8", 8)
INT16 = Integer("int16", 16)
INT32 = Integer("int32", 32)
UINT8 = Integer("uint8", 8, signed=False)
SIGNED = (INT8, INT16, INT32)
