"""When results leave an array's buffer, which are sent while the last multiply-adds of their tile still run.

The array computes block after block, row of blocks after row of blocks, and the sender sends line after line.
So a row of blocks leaves once it is whole; of its first line, each block's part as soon as that is computed.
``cosim/replay/device.hpp`` says the same in C++.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from axiloom.isa import AcceleratorSpec


@dataclass(frozen=True)
class Leaving:
    """A result of `bands` rows of blocks with `across` blocks each; `lines` lines are sent."""

    bands: int = 1
    across: int = 1
    lines: int = 1

    def first(self, compute: float, beats: float) -> float:
        """Cycles from the first multiply-add until sending may begin, so that it need not pause until the
        last row of blocks. The last compute takes `compute`; `beats` are sent."""
        band = compute / self.bands
        return max(band / self.across, band - beats * self._ahead)

    def behind(self, beats: float) -> float:
        """Of so many beats, those that are left when the last multiply-add is done, at least."""
        return beats * (1 / self.bands - self._ahead)

    @property
    def _ahead(self) -> float:
        """Of the beats, those of a row of blocks that leave before it is whole."""
        return (self.across - 1) / self.across / self.lines


def leaving_of(spec: AcceleratorSpec, tile: Mapping[str, int]) -> Leaving:
    """Of a tile of a matrix product; where C's columns are sent first, nothing leaves before the last row of
    blocks, about."""
    m, n, *_ = spec.dims
    if spec.data.get("C") != (m, n):
        return Leaving()
    rows, cols = spec.block
    return Leaving(max(1, tile[m] // rows), max(1, tile[n] // cols), tile[m])
