"""Accesses that turn together: what the shifters take. `hw/nest/rotation.py` builds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import Place
from axiloom.hw.nest.forms import Range
from axiloom.hw.nest.rotation import Turn

_POINTS = 64
"""Values of the counters at which addresses are compared."""


def there(turn: Turn, bits: int, keys: Sequence[object], banks: int | None = None) -> int:
    """LUTs from lanes to all banks, or to so many `banks`: none for what the lanes have in common."""
    if len(set(keys)) == 1:
        return 0
    return bits * (turn.count if banks is None else banks) * ceil(_stages(turn) / 2)


def own(turns: Sequence[Turn], addresses: Sequence[Place], ranges: Mapping[str, Range]) -> int:
    """Banks whose address, turned, is no lane's. Of B elements that follow each other, bank b holds the one
    whose row is that of lane B - 1 - b: Yosys finds the two equal, and nothing turns."""
    names = {name for place in addresses for term in place for name in term.value.names}
    names |= set(turns[0].by.names)
    random = np.random.default_rng(0)
    points = {
        name: random.integers(ranges[name][0], ranges[name][1], _POINTS, endpoint=True)
        for name in sorted(names)
    }
    count, by = turns[0].count, np.broadcast_to(turns[0].by.values(points), _POINTS)
    lanes, there = np.zeros((count, _POINTS), np.int64), np.zeros(count, np.bool_)
    for turn, place in zip(turns, addresses, strict=True):
        lanes[turn.offset], there[turn.offset] = _at(place, points), True
    found = 0
    for bank in range(count):
        lane = (bank - by) % count
        alike = (lanes[there] == lanes[lane, np.arange(_POINTS)]) | ~there[lane]
        found += not alike.all(axis=1).any()
    return found


def _at(place: Place, points: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    total = np.zeros(_POINTS, np.int64)
    for term in place:
        value = term.value.values(points) // term.divisor
        total = total + term.factor * (value % term.modulus if term.modulus else value)
    return total


def back(turn: Turn, bits: int, offsets: Sequence[int]) -> int:
    """LUTs from banks to the lanes at `offsets`: two stages, a choice among four, are one LUT."""
    wanted, lut = set(offsets), 0
    for stage in range(_stages(turn)):
        if stage % 2 == 0:
            lut += bits * len(wanted)
        wanted |= {(x + (1 << stage)) % turn.count for x in wanted}
    return lut


def _stages(turn: Turn) -> int:
    return (turn.count - 1).bit_length()
