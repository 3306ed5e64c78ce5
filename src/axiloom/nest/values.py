"""Random inputs of a program, the same with resident arrays and on the SoC."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program import Program

RANGE = 1000
"""Integers, and units of fixed-point, are of at most this size."""


def random_values(program: Program, seed: int) -> dict[str, npt.NDArray[Any]]:
    """What the caller gives: small integers, and numbers of -1 to 1; the same for the same seed."""
    random = np.random.default_rng(seed)
    arrays = {}
    for array in program.arrays:
        if not array.role.is_given:
            continue
        format = format_of(array.number)
        if format.kind is Kind.FLOAT:
            values: Any = random.uniform(-1, 1, array.shape)
        else:
            low, high = max(format.lowest, -RANGE), min(format.highest, RANGE)
            values = random.integers(low, high, array.shape, endpoint=True)
        arrays[array.name] = np.asarray(values).astype(format.numpy)
    return arrays
