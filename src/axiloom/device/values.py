"""Inputs of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import UsageError
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


def raw_values(program: Program, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Host values of inputs by name: raw already, or floats that are rounded to the array's.

    Raises UsageError for an array that the program does not take, and another type or shape.
    """
    arrays = {array.name: array for array in program.arrays if array.role == "in"}
    values = {}
    for name, value in inputs.items():
        if name not in arrays:
            raise UsageError(f"{program.name}: takes no `{name}`; it takes {', '.join(arrays)}")
        kind, shape = number(arrays[name].number), arrays[name].shape
        if kind.kind == "float" and value.dtype.kind == "f" and value.shape == shape:
            values[name] = kind.encode(value)
        elif (value.dtype, value.shape) == (kind.host, shape):
            values[name] = value
        else:
            raise UsageError(
                f"{program.name}: `{name}` is {value.dtype} {value.shape}; it takes {kind} {shape}"
            )
    return values
