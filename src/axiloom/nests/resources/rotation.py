"""Accesses that turn together: what the shifters take. `hw/nest/rotation.py` builds them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from axiloom.hw.nest.rotation import Turn


def there(turn: Turn, bits: int, keys: Sequence[object], banks: int | None = None) -> int:
    """LUTs from lanes to all banks, or to so many `banks`: none for what the lanes have in common."""
    if len(set(keys)) == 1:
        return 0
    return bits * (turn.count if banks is None else banks) * ceil(_stages(turn) / 2)


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
