"""Addresses for values whose lifetimes are known: quick ways first, then orders that learn, then CP-SAT."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from axiloom.selection.allocate import exact
from axiloom.selection.allocate.lives import Life, beside, live_peak
from axiloom.selection.allocate.repaired import repaired


def place(lives: Sequence[Life], capacity: int, seconds: float = 0.0) -> list[int] | None:
    """Addresses below `capacity`; None: no quick way found any, and neither did CP-SAT in `seconds`."""
    if capacity < live_peak(lives):
        return None
    others = beside(lives)
    for rank in RANKS:
        order = sorted(range(len(lives)), key=lambda i: (lives[i].at is None, *rank(lives[i]), i))
        found = _lowest(lives, others, order, capacity)
        if found is not None:
            return found
    if seconds <= 0:
        return None
    if (learned := repaired(lives, others, capacity)) is not None:
        return learned
    return exact.within(seconds, exact.place, tuple(lives), capacity, seconds)


RANKS: tuple[Callable[[Life], tuple[int, ...]], ...] = (
    lambda one: (-one.units, one.start - one.end, one.start),
    lambda one: (one.start, -one.units, -one.end),
    lambda one: (-one.units * (one.end - one.start), one.start),
    lambda one: (one.start - one.end, -one.units),
    lambda one: (one.start, -one.end, -one.units),
    lambda one: (-one.end, -one.units),
)
"""Orders in which values get the lowest address that is left."""


def _lowest(
    lives: Sequence[Life], others: Sequence[Sequence[int]], order: Sequence[int], capacity: int
) -> list[int] | None:
    found = [-1] * len(lives)
    for number in order:
        one = lives[number]
        taken = sorted((found[i], found[i] + lives[i].units) for i in others[number] if found[i] >= 0)
        at = _gap(taken, one) if one.at is None else one.at
        if at + one.units > capacity or (one.at is not None and not _free(taken, one)):
            return None
        found[number] = at
    return found


def _gap(taken: Sequence[tuple[int, int]], life: Life) -> int:
    """The lowest address between what is taken."""
    at = 0
    for low, high in taken:
        if low - at >= life.units:
            return at
        at = max(at, -(-high // life.align) * life.align)
    return at


def _free(taken: Sequence[tuple[int, int]], life: Life) -> bool:
    assert life.at is not None
    return all(high <= life.at or low >= life.at + life.units for low, high in taken)
