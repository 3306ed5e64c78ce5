"""Where the tensors between layers lie: one arena, planned before anything runs.

Buffers whose lives do not overlap share memory. The largest ones are placed first, each in the smallest gap
between those that live at the same time (best fit by size; Pisarchyk and Lee, "Efficient Memory Management
for Deep Neural Net Inference", 2020, "greedy by size").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes; buffers begin on cache lines of their own, as the DMA's receives need."""


@dataclass(frozen=True)
class Buffer:
    """A tensor between layers: written by layer `first`, read for the last time by layer `last`."""

    name: str
    size: int
    """Bytes."""
    first: int
    last: int

    def lives_with(self, other: Buffer) -> bool:
        """Both hold something while some layer runs."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Place:
    """A buffer, and where in the arena it begins."""

    buffer: Buffer
    offset: int

    @property
    def end(self) -> int:
        return self.offset + self.buffer.size


@dataclass(frozen=True)
class MemoryPlan:
    """Places in the order of the buffers that were given."""

    places: tuple[Place, ...] = ()

    @property
    def peak(self) -> int:
        """Bytes of the arena."""
        return max((rounded(place.end) for place in self.places), default=0)

    @property
    def total(self) -> int:
        """Bytes if no buffer shared memory with another."""
        return sum(rounded(place.buffer.size) for place in self.places)


def rounded(size: int) -> int:
    """`size`, in whole units of ALIGNMENT."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def plan(buffers: Sequence[Buffer]) -> MemoryPlan:
    """An offset for each buffer, so that no two that live at the same time overlap."""
    places: dict[int, Place] = {}
    for number in sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, buffers[i].first, i)):
        buffer = buffers[number]
        busy = sorted(
            (place for place in places.values() if place.buffer.lives_with(buffer)),
            key=lambda place: place.offset,
        )
        places[number] = Place(buffer, _best_gap(busy, buffer.size))
    return MemoryPlan(tuple(places[number] for number in range(len(buffers))))


def _best_gap(busy: Sequence[Place], size: int) -> int:
    """The start of the smallest gap between `busy` (by offset) with room; behind them all if none has."""
    best: tuple[int, int] | None = None
    end = 0
    for place in busy:
        gap = place.offset - end
        if gap >= size and (best is None or gap < best[0]):
            best = (gap, end)
        end = max(end, rounded(place.end))
    return end if best is None else best[1]
