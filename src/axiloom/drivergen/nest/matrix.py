"""The tiles of a matrix that a nest moves, and the cache lines under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

LINE_BYTES = 32


@dataclass(frozen=True)
class Matrix:
    """The tiles of one op; elements in the order of the matrix' dims."""

    tile: tuple[int, int]
    shape: tuple[int, int]
    stride: int
    """Bytes from row to row."""
    element_bytes: int
    moved: tuple[frozenset[int], frozenset[int]]
    """The loops that move the tile along each dim."""
    level: int
    """Of the op."""
    weight: int
    """2 where tiles are read and written."""

    def touched(self, trips: Sequence[int], level: int, sets: int) -> tuple[int, float]:
        """What the loops from `level` inwards touch in one run: see `_lines`."""
        extents = []
        for tile, size, moved in zip(self.tile, self.shape, self.moved, strict=True):
            tiles = prod(trips[number] for number in moved if number >= level)
            extents.append(min(size, tile * tiles))
        return _lines(extents[0], extents[1] * self.element_bytes, self.stride, sets)


@cache
def _lines(rows: int, row_bytes: int, stride: int, sets: int) -> tuple[int, float]:
    """Cache lines of a part of a matrix, and how many of them share a set on average."""
    if row_bytes >= stride:
        lines = -(-rows * stride // LINE_BYTES)
        return lines, max(1.0, lines / sets)
    width = -(-row_bytes // LINE_BYTES)
    starts = np.arange(rows) * stride // LINE_BYTES
    occupied = np.bincount(((starts[:, None] + np.arange(width)) % sets).ravel(), minlength=sets)
    lines = occupied.sum()
    return rows * width, float((occupied**2).sum() / lines) if lines else 0.0
