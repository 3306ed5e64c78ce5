"""Products and sums of arrays in one number, as all contractions make them."""

from __future__ import annotations

import numpy as np

from axiloom.graph.numbers import Array, Number

_EXACT = {np.float32: float(1 << 24), np.float64: float(1 << 53)}
"""Below it, each whole number of the type is exact."""


def products(a: Array, b: Array, of: Number) -> Array:
    """a @ b, for values of `of`: integers mod 2^64, floats in float64, not yet rounded."""
    if of.kind == "float":
        with np.errstate(all="ignore"):
            return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)))
    # Floats, for which NumPy has fast products, if no sum of some of the products is larger.
    first, last = _largest(a), _largest(b) * a.shape[-1]
    if _EXACT[np.float32] <= first * last < _EXACT[np.float64]:
        last = float(np.abs(b.astype(np.float64)).sum(-2).max(initial=0.0))
    for real, exact in _EXACT.items():
        if first * last < exact:
            return np.asarray(np.matmul(a.astype(real), b.astype(real)).astype(np.int64))
    return np.asarray(np.matmul(a.astype(np.int64), b.astype(np.int64)))


def _largest(values: Array) -> float:
    return max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0
