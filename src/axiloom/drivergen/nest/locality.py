"""What a nest of placed transfers reads from memory, because the caches of the board no longer hold it.

A tile is read again in every iteration of the loops that do not move it. Whether L2 has it still depends on
all that is touched in between, and on the sets in which that lies: a column of tiles of a matrix whose rows
are a power of two apart takes few sets, and more ways than there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from axiloom.drivergen.nest.layout import WORD_CYCLES, Layout, choose, cost, stage_words
from axiloom.drivergen.nest.matrix import LINE_BYTES, Matrix
from axiloom.drivergen.nest.moves import Moves
from axiloom.isa.contract.types import WORD_BITS

WORTHWHILE = 0.95
"""Blocks must cost less than this part of what the nest costs without them."""
MISS_CYCLES = 65
"""CPU cycles that a line from DDR takes longer than one from L2 (``ddr`` in the boards' profiles)."""


@dataclass(frozen=True)
class Caches:
    """The cache that the DMA's memory is behind; sizes in bytes. The default is a Zynq-7000's."""

    l2_size: int = 512 << 10
    l2_ways: int = 8
    line_bytes: int = LINE_BYTES
    """What the DMA and the CPU must not share. Estimates are made with lines of LINE_BYTES."""

    @property
    def sets(self) -> int:
        return self.l2_size // self.l2_ways // LINE_BYTES


ZYNQ_7000 = Caches()


def lines_from_memory(nest: Moves, caches: Caches, layout: Layout | None = None) -> float:
    """Cache lines that a run of the nest brings from DDR, or writes there.

    `layout`: packets keep what they can, so that it is not read again.
    """
    window = _window_words(nest, layout) * WORD_BITS // 8
    return lines_brought(nest.matrices(), nest.trips, window, caches, layout)


class Kept(Protocol):
    """What a layout of packets says of tiles that stay in the window."""

    @property
    def level(self) -> int: ...
    @property
    def apart(self) -> bool: ...


def lines_brought(
    matrices: Sequence[Matrix], trips: Sequence[int], window: int, caches: Caches, layout: Kept | None
) -> float:
    """The same for `matrices` that are moved by loops with so many `trips`, and `window` bytes of windows."""
    total = 0.0
    levels = range(len(trips) + 1)
    touched = [[matrix.touched(trips, level, caches.sets) for matrix in matrices] for level in levels]
    for number, matrix in enumerate(matrices):
        fetched = float(touched[matrix.level + 1][number][0])
        for level in range(matrix.level, -1, -1):
            if level in matrix.moved[0] | matrix.moved[1]:
                fetched *= trips[level]
            elif not _is_kept(matrix, level, layout):
                hit = _hit(touched[level + 1], number, window // LINE_BYTES, caches)
                fetched *= 1 + (trips[level] - 1) * (1 - hit)
        total += fetched * matrix.weight
    return total


def _window_words(nest: Moves, layout: Layout | None) -> int:
    """Words of the windows that are used: where packets lie, or one tile; and two tiles that come back."""
    sent = [item.words for _, item in nest.items() if item.sent and item.is_tile]
    received = [item.words for _, item in nest.items() if not item.sent]
    there = layout.words * layout.copies if layout else max(sent, default=0)
    return there + 2 * max(received, default=0)


def _is_kept(matrix: Matrix, level: int, layout: Kept | None) -> bool:
    """Does the tile stay in the window over the iterations of a loop that does not move it?"""
    if layout is None or level >= layout.level + (not layout.apart):
        return False
    moved = [n for n in matrix.moved[0] | matrix.moved[1] if n < layout.level + (not layout.apart)]
    return level > max(moved, default=-1)


def _hit(touched: list[tuple[int, float]], own: int, others: int, caches: Caches) -> float:
    """How much of a matrix L2 holds still when it is read again, after all that was `touched` meanwhile.

    Lines are replaced at random: with three quarters of the ways taken nothing is lost, with half more than
    there are everything.
    """
    ways = touched[own][1] + (sum(n for i, (n, _) in enumerate(touched) if i != own) + others) / caches.sets
    return min(1.0, max(0.0, 2 - ways / caches.l2_ways / 0.75))


def nest_cost(nest: Moves, caches: Caches | None, buffers: int, keep: bool, loops: bool = True) -> float:
    """CPU cycles that depend on the order of loops: packing, and with `caches` lines from DDR.

    `buffers`, `keep` and `loops` are those of accel-coalesce-loops; with `buffers=0` it does not run.
    """
    layout = choose(nest, buffers=buffers, keep=keep, loops=loops) if buffers else None
    sent = sum(prod(nest.trips[: n + 1]) * stage_words([item]) for n, item in nest.items())
    packing = cost(nest, layout, keep=keep) if layout else sent * WORD_CYCLES
    if caches is None:
        return packing
    return packing + MISS_CYCLES * lines_from_memory(nest, caches, layout if keep else None)


L1_SETS, L1_WAYS = 256, 4
"""A Cortex-A9's, 32 KiB."""
L1_MISS_CYCLES = 12
"""CPU cycles that a line from L2 costs where it is prefetched (``line_gap`` in the boards' profiles)."""
STREAM_CYCLES = 6.5
"""CPU cycles (650 MHz) that a beat takes on the stream (100 MHz)."""


def queue_cost(nest: Moves, beat_words: int) -> float:
    """CPU cycles that depend on the order of loops where the DMA works on the matrices themselves.

    They are for the words sent, and for tiles of partial sums that are added to lines which L1 has lost since
    the last tile in the same place. `beat_words`: words of a beat of the stream.
    """
    trips = nest.trips
    total = 0.0
    for level, item in nest.items():
        if item.sent:
            total += prod(trips[: level + 1]) * item.words * STREAM_CYCLES / beat_words
    for matrix in nest.matrices():
        moving = matrix.moved[0] | matrix.moved[1]
        still = [number for number in range(matrix.level + 1) if number not in moving]
        if matrix.weight == 1 or not still:
            continue
        _, ways = matrix.touched(trips, still[-1] + 1, L1_SETS)
        if ways > L1_WAYS / 2:  # slots and operands take the rest
            lines, _ = matrix.touched(trips, len(trips), L1_SETS)
            total += prod(trips[: matrix.level + 1]) * lines * L1_MISS_CYCLES
    return total
