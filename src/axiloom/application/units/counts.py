"""What happened to numbers that a format could not hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass
class Counts:
    """Of one place of an operator: of `elements` so many `saturated` (became the largest number), were
    `flushed` (were not zero and became zero) or `wrapped`."""

    elements: int = 0
    saturated: int = 0
    flushed: int = 0
    wrapped: int = 0

    def add(self, elements: int, saturated: Any = 0, flushed: Any = 0, wrapped: Any = 0) -> None:
        self.elements += int(elements)
        self.saturated += int(saturated)
        self.flushed += int(flushed)
        self.wrapped += int(wrapped)

    @property
    def lost(self) -> int:
        """Numbers that are wrong by more than rounding."""
        return self.saturated + self.wrapped


@dataclass
class Places:
    """`Counts` by the name of a place (input, weights, sums, cell, output), made when it is first met."""

    of: dict[str, Counts] = field(default_factory=dict)

    def __getitem__(self, place: str) -> Counts:
        return self.of.setdefault(place, Counts())

    def join(self, other: Places) -> None:
        for place, counts in other.of.items():
            self[place].add(counts.elements, counts.saturated, counts.flushed, counts.wrapped)


def wrapped(values: Array, bits: int, counts: Counts | None = None) -> Array:
    """Integers as two's complement of `bits`."""
    half = 1 << bits - 1
    low = np.asarray((values + half & (1 << bits) - 1) - half)
    if counts is not None:
        counts.add(values.size, wrapped=np.count_nonzero(low != values))
    return low


def clamped(values: Array, low: int, high: int, counts: Counts | None = None) -> Array:
    if counts is not None:
        past = values.size and (values.min() < low or values.max() > high)
        counts.add(values.size, np.count_nonzero((values < low) | (values > high)) if past else 0)
    return np.asarray(np.minimum(np.maximum(values, low), high))


def in_units(
    values: Array, scale: int, bits: int, counts: Counts, *, least: int | None = None, nearest: bool = True
) -> Array:
    """Units of 2^-scale, to the nearest, halves to even, or downwards; symmetric where no `least` is told."""
    units = np.ldexp(values.astype(np.float64), scale)
    whole = np.rint(units) if nearest else np.floor(units)
    most = (1 << bits - 1) - 1
    clipped = np.clip(whole, -most if least is None else least, most)
    counts.add(
        values.size, np.count_nonzero(clipped != whole), np.count_nonzero((whole == 0) & (values != 0))
    )
    return clipped.astype(np.int64)
