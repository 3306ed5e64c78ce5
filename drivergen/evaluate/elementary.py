"""Elementary functions of float32 arrays in NumPy, step by step those of ``sw/include/axiloom_math.h``.

Only operations that IEEE 754 defines in every bit, so that reference and driver agree in every bit. That they
are the functions they are called is tested against NumPy's own in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
F = np.float32


def _polynomial(z: Array, *coefficients: float) -> Array:
    """Horner's scheme, the highest power first."""
    p = np.full_like(z, F(coefficients[0]))
    for coefficient in coefficients[1:]:
        p = p * z + F(coefficient)
    return p


def _choose(conditions: Sequence[Array], choices: Sequence[Any], default: Array) -> Array:
    return np.select(list(conditions), [np.asarray(c, F) for c in choices], default).astype(F)


def roundeven(x: Array) -> Array:
    """To the nearest whole number, halfway cases to even."""
    return np.rint(x)


def rsqrt(x: Array) -> Array:
    """1 / sqrt(x), each of the two rounded."""
    return np.asarray(x.dtype.type(1) / np.sqrt(x))


def _power_of_2(n: Array) -> Array:
    return ((n + 127).astype(np.uint32) << np.uint32(23)).view(F)


def exp(x: Array) -> Array:
    """e to the x."""
    x = np.asarray(x, F)
    safe = np.where((x <= F(88.8)) & (x >= F(-104)), x, F(0))
    n = roundeven(safe * F(1.44269504))
    r = (safe - n * F(0.693359375)) - n * F(-2.12194440e-4)
    p = _polynomial(r, 1.98412698e-4, 1.38888889e-3, 8.33333333e-3, 4.16666667e-2, 1.66666667e-1, 0.5)
    e = (p * (r * r) + r) + F(1)
    whole = n.astype(np.int32)
    half = np.trunc(n / F(2)).astype(np.int32)
    result = (e * _power_of_2(half)) * _power_of_2(whole - half)
    return _choose([x != x, x > F(88.8), x < F(-104)], [x, np.inf, 0], result)


def log(x: Array) -> Array:
    """Natural logarithm."""
    x = np.asarray(x, F)
    tiny = (x > 0) & (x < F(1.17549435e-38))
    usual = np.where((x > 0) & (x <= F(3.4028234e38)), np.where(tiny, x * F(33554432), x), F(1)).astype(F)
    bits = usual.view(np.uint32) - np.uint32(0x3F3504F3)
    e = np.where(tiny, F(-25), F(0)) + (bits.view(np.int32) >> 23).astype(F)
    f = ((bits & np.uint32(0x7FFFFF)) + np.uint32(0x3F3504F3)).view(F) - F(1)
    s = f / (F(2) + f)
    z = s * s
    p = _polynomial(z, 2.22222222e-1, 2.85714286e-1, 4.0e-1, 6.66666667e-1)
    result = e * F(0.693359375) + ((s + s) + (s * (z * p) + e * F(-2.12194440e-4)))
    return _choose([(x != x) | (x < 0), x == 0, x > F(3.4028234e38)], [np.nan, -np.inf, x], result)


def tanh(x: Array) -> Array:
    """Hyperbolic tangent."""
    x = np.asarray(x, F)
    a = np.abs(x)
    z = np.where(a >= F(0.5), F(0), x * x)
    p = _polynomial(
        z, 3.59212803e-3, -8.86323553e-3, 2.18694885e-2, -5.39682540e-2, 1.33333333e-1, -3.33333333e-1
    )
    near = (p * z) * x + x
    bounded = np.minimum(a, F(10))
    t = np.where(a > F(10), F(1), F(1) - F(2) / (exp(bounded + bounded) + F(1)))
    return _choose([~(a >= F(0.5)), x < 0], [near, -t], t)


def erf(x: Array) -> Array:
    """Error function."""
    x = np.asarray(x, F)
    a, z = np.abs(x), x * x
    small = np.where(a >= F(1), F(0), z)
    series = (1.31225333e-8, -1.45038522e-7, 1.46003659e-6, -1.32275132e-5, 1.06837607e-4)
    more = (-7.57575758e-4, 4.62962963e-3, -2.38095238e-2, 1.0e-1, -3.33333333e-1)
    near = ((_polynomial(small, *series, *more) * small) * x + x) * F(1.12837917)
    t = F(1) / (F(1) + a * F(0.5))
    fit = (-5.354057e-2, -5.733846e-2, 4.0383749e-1, 1.0126916e-1, 3.3084022e-1, 2.7361827e-1, 6.064e-4)
    e = np.where(a < F(4), F(1) - exp(-z) * _polynomial(t, *fit), F(1))
    return _choose([~(a >= F(1)), x < 0], [near, -e], e)
