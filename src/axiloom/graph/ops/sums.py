"""Products and sums of arrays in one number, as all contractions make them."""

from __future__ import annotations

import numpy as np

from axiloom.graph.numbers import Array, Number

_EXACT = float(1 << 53)


def products(a: Array, b: Array, of: Number) -> Array:
    """a @ b, for values of `of`: integers mod 2^64, floats in float64, not yet rounded."""
    if of.kind == "float":
        with np.errstate(all="ignore"):
            return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)))
    if _largest(a) * _largest(b) * a.shape[-1] < _EXACT:
        # Exact in float64, for which NumPy has fast products.
        return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64))
    return np.asarray(np.matmul(a.astype(np.int64), b.astype(np.int64)))


def _largest(values: Array) -> float:
    return max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0
