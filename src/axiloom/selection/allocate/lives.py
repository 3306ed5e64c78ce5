"""Values whose lifetimes are known: how many rows they need, and who meets whom."""

from __future__ import annotations

from collections.abc import Sequence
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


def beside(lives: Sequence[Life]) -> list[list[int]]:
    """For each life those that are there at the same time, by number."""
    found: list[list[int]] = [[] for _ in lives]
    there: list[int] = []
    for number in sorted(range(len(lives)), key=lambda i: lives[i].start):
        there = [other for other in there if lives[other].end > lives[number].start]
        for other in there:
            found[number].append(other)
            found[other].append(number)
        there.append(number)
    return found
