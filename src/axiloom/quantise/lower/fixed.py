"""Real factors as integers: multipliers with shifts, and tables of functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

MULTIPLIER_BITS = 16
"""Of the unsigned multiplier of a requantisation, as the accelerators have it."""
LONGEST_SHIFT = 47
"""The longest shift of a requantisation."""
LONGEST_COMMON_SHIFT = 24
"""Of a sum of two: what is added to round must not fill 32 bits."""
LONGEST_PLAIN_SHIFT = 15
"""Of sums that have no multiplier: what one instruction of an ALU can say."""
_LOOKED_AT = 1 << 17
"""Elements of a tensor that are enough to choose its scale by."""
LIMIT = 127
"""Largest magnitude of a symmetric int8."""


class FactorError(ValueError):
    """A real factor that has no integer form."""


def scale_of(largest: float) -> float:
    """What one step of int8 is worth where `largest` is the largest magnitude."""
    return largest / LIMIT if largest > 0 else 1.0 / LIMIT


def best_scale(values: Array, largest: float | None = None) -> float:
    """The scale of int8 that loses least of `values` (summed squares), between the largest magnitude and
    half of it: what is cut off at the ends against coarser steps everywhere.

    `largest`: the largest magnitude, where `values` are a part of them only.
    """
    flat = np.asarray(values, np.float64).ravel()
    flat = flat[:: max(1, len(flat) // _LOOKED_AT)]
    top = float(np.abs(values).max(initial=0.0)) if largest is None else largest
    scales = [scale_of(top * share / 20) for share in range(20, 9, -1)]
    losses = [float(((to_int8(flat, scale) * scale - flat) ** 2).sum()) for scale in scales]
    return scales[int(np.argmin(losses))]


def to_int8(values: Array, scale: float | Array) -> Array:
    """Real values in steps of `scale`, rounded to the nearest, limited to -127 ... 127."""
    return np.clip(np.rint(np.asarray(values, np.float64) / scale), -LIMIT, LIMIT).astype(np.int8)


def multiplier(factor: float, bits: int = MULTIPLIER_BITS) -> tuple[int, int]:
    """``m, shift`` with factor ~ m / 2**shift, m below 2**bits and as large as it can be.

    Raises FactorError where the factor is negative or too large for a shift of 0.
    """
    if factor == 0:
        return 0, 0
    if factor < 0 or not math.isfinite(factor):
        raise FactorError(f"factor {factor} has no multiplier: it must be positive and finite")
    fraction, exponent = math.frexp(factor)
    whole, shift = round(fraction * 2**bits), bits - exponent
    if whole == 2**bits:
        whole, shift = whole // 2, shift - 1
    if shift > LONGEST_SHIFT:
        whole, shift = round(whole / 2 ** (shift - LONGEST_SHIFT)), LONGEST_SHIFT
    if shift < 0:
        raise FactorError(f"factor {factor} is too large: it must be below {2**bits}")
    return whole, shift


def multipliers(factors: Array) -> tuple[Array, Array]:
    """`multiplier` of each of `factors`, int32."""
    pairs = [multiplier(float(factor)) for factor in factors]
    whole, shifts = zip(*pairs, strict=True)
    return np.array(whole, np.int32), np.array(shifts, np.int32)


def common_multipliers(first: float, second: float) -> tuple[int, int, int]:
    """Two factors with one shift: both products of an int8, and their sum, stay within 31 bits."""
    shift = min(multiplier(max(first, second))[1], LONGEST_COMMON_SHIFT)
    return round(first * 2**shift), round(second * 2**shift), shift


def table(function: Callable[[Array], Array], scale: float, result: float) -> Array:
    """int8 (256,): `function` of ``scale * (i - 128)``, in steps of `result`."""
    real = np.arange(-128, 128, dtype=np.float64) * scale
    return to_int8(function(real), result)
