"""Random inputs of a program, the same with resident arrays and on the SoC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import UsageError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program import Program
from axiloom.nests.program.expressions import loads
from axiloom.nests.program.loaded import Loaded

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


def values_of(
    loaded: Loaded, arrays: Mapping[str, npt.NDArray[Any]] | None, seed: int, where: str
) -> dict[str, npt.NDArray[Any]]:
    """What a caller gives a program: `arrays` by name, or random ones; contents that are known count unless
    they are given; what nothing reads begins as zeros. `where`: begins the errors.

    Raises UsageError for arrays that are missing, unknown, or of another type or shape.
    """
    program = loaded.program
    if arrays is None:
        return {**random_values(program, seed), **loaded.contents}
    expected = {array.name: array for array in program.arrays if array.role.is_given}
    if unknown := sorted(set(arrays) - set(expected)):
        raise UsageError(f"{where}: {program.name} takes no {', '.join(unknown)}; {', '.join(expected)}")
    read = {load.array for statement in program.statements for load in loads(statement.value)}
    zeros = {
        name: np.zeros(array.shape, format_of(array.number).numpy)
        for name, array in expected.items()
        if name not in read
    }
    values = {**zeros, **loaded.contents, **arrays}
    if missing := sorted(set(expected) - set(values)):
        raise UsageError(f"{where}: there is no {', '.join(missing)}")
    for name, array in values.items():
        wanted = (format_of(expected[name].number).numpy, expected[name].shape)
        if (array.dtype, array.shape) != wanted:
            raise UsageError(f"{where}: {name} is {array.dtype} {array.shape}, not {wanted[0]} {wanted[1]}")
        if loaded.function and name in loaded.contents and not np.array_equal(array, loaded.contents[name]):
            raise UsageError(f"{where}: {name} starts as {loaded.function.path.name} says; leave it out")
    return values
