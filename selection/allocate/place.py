"""Addresses for values whose lifetimes are known: quick ways first, then CP-SAT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Life:
    """A value from `start` to below `end`, `units` rows at a multiple of `align`, or at `at`."""

    start: int
    end: int
    units: int
    align: int = 1
    at: int | None = None


def live_peak(lives: Sequence[Life]) -> int:
    """The most rows that are in use at once: no allocation needs fewer."""
    changes = sorted([(one.start, one.units) for one in lives] + [(one.end, -one.units) for one in lives])
    now = most = 0
    for _, units in changes:  # at one time, what ends goes first: its number is negative
        now += units
        most = max(most, now)
    return most


def place(lives: Sequence[Life], capacity: int, seconds: float = 0.0) -> list[int] | None:
    """Addresses below `capacity`; None: no quick way found any, and neither did CP-SAT in `seconds`."""
    for rank in RANKS:
        order = sorted(range(len(lives)), key=lambda i: (lives[i].at is None, *rank(lives[i]), i))
        found = _lowest(lives, order, capacity)
        if found is not None:
            return found
    if seconds <= 0:
        return None
    from axiloom.selection.allocate.process import ask

    answer = ask(("place", tuple(lives), capacity, seconds), seconds)
    assert answer is None or isinstance(answer, list)
    return answer


RANKS: tuple[Callable[[Life], tuple[int, ...]], ...] = (
    lambda one: (-one.units, one.start - one.end, one.start),
    lambda one: (one.start, -one.units, -one.end),
    lambda one: (-one.units * (one.end - one.start), one.start),
    lambda one: (one.start - one.end, -one.units),
    lambda one: (one.start, -one.end, -one.units),
    lambda one: (-one.end, -one.units),
)
"""Orders in which values get the lowest address that is left."""


def _lowest(lives: Sequence[Life], order: Sequence[int], capacity: int) -> list[int] | None:
    found = [0] * len(lives)
    done: list[tuple[int, int, int, int]] = []  # start, end, from, to
    for number in order:
        one = lives[number]
        taken = sorted((low, high) for start, end, low, high in done if start < one.end and one.start < end)
        at = _gap(taken, one) if one.at is None else one.at
        if at + one.units > capacity or (one.at is not None and not _free(taken, one)):
            return None
        found[number] = at
        done.append((one.start, one.end, at, at + one.units))
    return found


def _gap(taken: Sequence[tuple[int, int]], one: Life) -> int:
    """The lowest address between what is taken."""
    at = 0
    for low, high in taken:
        if low - at >= one.units:
            return at
        at = max(at, -(-high // one.align) * one.align)
    return at


def _free(taken: Sequence[tuple[int, int]], one: Life) -> bool:
    assert one.at is not None
    return all(high <= one.at or low >= one.at + one.units for low, high in taken)
