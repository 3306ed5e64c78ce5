"""Values whose lifetimes are known: how many rows they need at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Life:
    """A value from `start` to below `end`, `units` rows."""

    start: int
    end: int
    units: int


def live_peak(lives: Sequence[Life]) -> int:
    """The most rows that are in use at once: no allocation needs fewer."""
    changes = sorted(
        [(life.start, life.units) for life in lives] + [(life.end, -life.units) for life in lives]
    )
    now = most = 0
    for _, units in changes:  # at one time, what ends goes first: its number is negative
        now += units
        most = max(most, now)
    return most
