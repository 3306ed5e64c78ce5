"""A float32's parts and special values. A subnormal operand counts as the zero of its sign, and a subnormal
result becomes one; every NaN that comes out is 0x7fc00000."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Value

from axiloom.hw.nest.operators.formats import Raw

NAN = 0x7FC00000
FRACTION = 23
BIAS = 127

Reals = npt.NDArray[np.float32]


def exponent(raw: Value) -> Value:
    return raw[FRACTION:31]


def fraction(raw: Value) -> Value:
    return raw[:FRACTION]


def is_zero(raw: Value) -> Value:
    """A subnormal number is one."""
    return exponent(raw) == 0


def is_nan(raw: Value) -> Value:
    return exponent(raw).all() & fraction(raw).any()


def decode(raw: Raw) -> Reals:
    """Subnormals are flushed."""
    bits = np.asarray(raw).astype(np.uint32)
    return np.where(bits & 0x7F800000 == 0, bits & np.uint32(0x80000000), bits).view(np.float32)


def encode(values: npt.NDArray[Any]) -> Raw:
    """Rounded to float32 first, flushed then."""
    with np.errstate(all="ignore"):
        reals = np.asarray(values).astype(np.float32)
    bits = reals.view(np.uint32)
    bits = np.where(bits & 0x7F800000 == 0, bits & np.uint32(0x80000000), bits)
    return np.where(np.isnan(reals), np.uint32(NAN), bits)
