"""VTA's GEMM and the ALU instructions after it on whole arrays, as `vta.isa` computes them."""

from __future__ import annotations

import numpy as np

from axiloom.application.units.counts import Array, Places, clamped, wrapped

LIMIT = 127


def product(x: Array, w: Array, added: Array, shift: int, places: Places) -> Array:
    """int8 (rows, inputs) by int8 (outputs, inputs), on int32 (outputs): int8 (rows, outputs).

    After the GEMM: ADD of half a unit, SHR by `shift`, MIN 127 and MAX -127, of which the low bytes are
    stored. Sums wrap at 32 bits.
    """
    sums = (x.astype(np.float64) @ w.astype(np.float64).T).astype(np.int64) + added
    if shift:
        sums = wrapped(sums + (1 << shift - 1), 32, places["sums"]) >> shift
    else:
        sums = wrapped(sums, 32, places["sums"])
    return clamped(sums, -LIMIT, LIMIT, places["output"]).astype(np.int8)
