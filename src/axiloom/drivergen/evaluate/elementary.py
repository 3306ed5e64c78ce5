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


def log1p(x: Array) -> Array:
    """Natural logarithm of 1 + x."""
    x = np.asarray(x, F)
    u = F(1) + x
    usual = (u > 0) & (u <= F(3.4028234e38))
    safe, rest = np.where(usual, u, F(1)).astype(F), np.where(usual, x, F(0)).astype(F)
    return np.where(usual, log(safe) - ((safe - F(1)) - rest) / safe, log(u)).astype(F)


def expm1(x: Array) -> Array:
    """e to the x, less 1."""
    x = np.asarray(x, F)
    z = np.where(np.abs(x) < F(1), x, F(0)).astype(F)
    series = (2.08767570e-9, 2.50521084e-8, 2.75573192e-7, 2.75573192e-6, 2.48015873e-5)
    more = (1.98412698e-4, 1.38888889e-3, 8.33333333e-3, 4.16666667e-2, 1.66666667e-1, 0.5)
    near = (_polynomial(z, *series, *more) * z) * z + z
    return np.where(np.abs(x) < F(1), np.where(x == 0, x, near), exp(x) - F(1)).astype(F)


def powi(x: Array, n: Array) -> Array:
    """x to the power n, an integer."""
    x, y = np.asarray(x, F), np.ones(np.broadcast_shapes(np.shape(x), np.shape(n)), F)
    k = np.where(n < 0, -n, n).astype(np.uint64)
    while k.any():
        y, x, k = np.where(k & np.uint64(1), y * x, y).astype(F), x * x, k >> np.uint64(1)
    return np.where(n < 0, F(1) / y, y).astype(F)


_ONE_OVER_2_PI = (0, 0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770, 0x36D8A566, 0x4F10E410, 0)


def _sine(x: Array, quarters: int) -> Array:
    """The sine of x and so many quarter turns."""
    x = np.asarray(x, F)
    bits = x.view(np.uint32) & np.uint32(0x7FFFFFFF)
    far = (bits > 0x3F490FDA) & (bits < 0x7F800000)
    shift = np.where(far, (bits >> np.uint32(23)).astype(np.int64) - 126, 0)
    words, part = np.array(_ONE_OVER_2_PI, np.uint64), (shift % 32).astype(np.uint64)
    m = ((bits << np.uint32(8)) | np.uint32(0x80000000)).astype(np.uint64)
    half = np.uint64(32)
    w = [((words[shift // 32 + i] << half | words[shift // 32 + i + 1]) << part) >> half for i in range(3)]
    turns = ((m * w[0]) << half) + m * w[1] + ((m * w[2]) >> half)
    whole = (turns + np.uint64(1 << 61)) >> np.uint64(62)
    near = (
        (turns - (whole << np.uint64(62))).view(np.int64).astype(np.float64) * 3.4061215800304934e-19
    ).astype(F)
    r = np.where(far, np.where(x < 0, -near, near), np.where(bits < 0x7F800000, x, F(0))).astype(F)
    count = np.where(far, np.where(x < 0, -whole.astype(np.int64), whole.astype(np.int64)), 0) + quarters
    z = r * r
    sine = (_polynomial(z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1) * z) * r + r
    p = _polynomial(z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
    y = np.where(count & 1, (p * z) * z - z * F(0.5) + F(1), sine)
    return _choose([bits >= 0x7F800000, (count & 2) != 0], [np.nan, -y], y)


def sin(x: Array) -> Array:
    return _sine(x, 0)


def cos(x: Array) -> Array:
    return _sine(x, 1)


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
