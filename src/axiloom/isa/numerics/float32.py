"""float32 of IEEE 754: each product and each sum is rounded to the nearest, halves to even."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.numerics import Numerics, Raw, Values

UNIT = 2.0**-24
"""Half the distance from 1 to the next float32: one rounding changes a number by at most this part of it."""
_SMALLEST = 2.0**-149


@dataclass(frozen=True)
class Float32(Numerics):
    """Values are float32 arrays. No product and sum are fused: each of the two is rounded."""

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(np.float32)

    @property
    def mlir(self) -> str:
        return "f32"

    @property
    def accumulator(self) -> Float32:
        return self

    @property
    def rounding(self) -> str:
        return "products and sums are float32, each rounded to the nearest, halves to even"

    @property
    def associative(self) -> bool:
        return False

    def decode(self, raw: Raw) -> Values:
        return np.asarray(raw).view(np.float32)

    def encode(self, values: Values) -> Raw:
        return np.asarray(values, np.float32).view(np.uint32)

    def multiply(self, a: Values, b: Values) -> Values:
        with np.errstate(all="ignore"):
            return np.multiply(a, b, dtype=np.float32)

    def add(self, a: Values, b: Values) -> Values:
        with np.errstate(all="ignore"):
            return np.add(a, b, dtype=np.float32)

    def accumulate(self, sums: Values, terms: Values) -> Values:
        with np.errstate(all="ignore"):
            total = np.asarray(np.add(sums, terms[0]))
            for term in terms[1:]:
                np.add(total, term, out=total)
        return total

    def widen(self, values: Values) -> Values:
        return values

    def narrow(self, sums: Values) -> Values:
        return sums

    @property
    def lowest(self) -> Values:
        return np.array(-np.inf, np.float32)

    @property
    def highest(self) -> Values:
        return np.array(np.inf, np.float32)

    def real(self, values: Values) -> npt.NDArray[np.float64]:
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            return np.asarray(values, np.float64)

    def nearest(self, reals: npt.ArrayLike) -> Values:
        with np.errstate(over="ignore"):
            return np.asarray(reals, np.float64).astype(np.float32)

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Uniform from -1 to 1, so that nearly every sum is rounded and none overflows."""
        return rng.uniform(-1, 1, shape).astype(np.float32)

    def margin(self, roundings: int, magnitude: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """n u / (1 - n u) of the magnitude (Higham, Accuracy and Stability of Numerical Algorithms, 3.1); and
        where products underflow, half the smallest float32 for each."""
        relative = roundings * UNIT / (1 - roundings * UNIT)
        return relative * np.asarray(magnitude, np.float64) + roundings * _SMALLEST

    @property
    def compared(self) -> str:
        return "within n u / (1 - n u) of sum |a||b|, which sums in any order keep; u = 2^-24, n roundings"


FLOAT32 = Float32("float32", 32)
