"""bfloat16 and float32 arithmetic by another way: float64 and rounding by frexp, exponentials by decimals.

Sums and products of float32, and quotients of bfloat16, are right when they are made in float64 and rounded:
it has more than twice their digits. Nothing of axiloom is imported here.
"""

from __future__ import annotations

from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


def rounded(values: Array, digits: int) -> Array:
    """To `digits` binary digits, halves to even; smallest exponent that of float32."""
    mantissa, exponent = np.frexp(np.asarray(values, np.float64))
    kept = np.minimum(digits, np.maximum(digits + exponent + 125, 0))  # subnormal numbers have fewer
    found: Array = np.ldexp(np.rint(np.ldexp(mantissa, kept)), exponent - kept)
    return found


def single(values: Array) -> Array:
    return rounded(values, 24)


def brain(values: Array) -> Array:
    return rounded(values, 8)


def bits(values: Array) -> Array:
    """Of bfloat16 numbers: their patterns."""
    return np.ascontiguousarray(values, "<f4").view("<u4") >> 16


def numbers(patterns: Array) -> Array:
    with np.errstate(invalid="ignore"):  # NaN
        found: Array = (np.ascontiguousarray(patterns, "<u4") << 16).view("<f4").astype(np.float64)
    return found


@lru_cache(1 << 16)
def _exp(value: float) -> float:
    """The nearest bfloat16, by 40 decimals."""
    exact = Decimal(value).exp(Context(prec=40))
    near = float(brain(np.array(float(exact))))
    step = abs(near) / 128
    candidates = [Decimal(float(brain(np.array(near + k * step)))) for k in (-1, 0, 1)]
    return float(min(candidates, key=lambda one: abs(one - exact)))


def exp(values: Array) -> Array:
    found: Array = np.vectorize(_exp, otypes=[np.float64])(values)
    return found


def product(a: Array, b: Array) -> Array:
    """Of bfloat16 matrices: each sum in float32 from k = 0 up, rounded once."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        total = single(total + a[:, k : k + 1] * b[k : k + 1, :])
    return brain(total)


def softmax(a: Array) -> Array:
    powers = exp(a)
    total = np.zeros(a.shape[0])
    for column in range(a.shape[1]):
        total = single(total + powers[:, column])
    return brain(powers / brain(total)[:, None])
