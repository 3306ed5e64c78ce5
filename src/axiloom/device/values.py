"""Random inputs of a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.graph.numbers import number
from axiloom.selection.program.program import Program

RANGE = 100
"""Integers are of at most this size."""


def random_values(program: Program, seed: int) -> dict[str, npt.NDArray[Any]]:
    """Raw host values of all that is given: floats as of a normal distribution, small integers; the same for
    the same seed."""
    random = np.random.default_rng(seed)
    arrays = {}
    for array in program.arrays:
        if array.role != "in":
            continue
        kind = number(array.number)
        if kind.kind == "float":
            arrays[array.name] = kind.encode(random.standard_normal(array.shape))
            continue
        if kind.kind == "integer":
            ends = np.iinfo(kind.host)
            low, high = max(int(ends.min), -RANGE), min(int(ends.max), RANGE)
        else:
            low, high = 0, (1 << kind.bits) - 1
        arrays[array.name] = random.integers(low, high, array.shape, endpoint=True).astype(kind.host)
    return arrays
