"""What a nest reads from memory, because the caches of the board no longer hold it, and what that costs.

A tile is read again in every iteration of the loops that do not move it. Whether L2 has it still depends on
all that is touched in between, and on the sets in which that lies: a column of tiles of a matrix whose rows
are a power of two apart takes few sets, and more ways than there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from axiloom.isa.contract.types import WORD_BITS, DmaConfig
from axiloom.plan.numbers import Num, least, most, where
from axiloom.plan.packets import WORD_CYCLES, choices, choose, cost
from axiloom.plan.tree import Packets, Plan, Receive, Region, Send

LINE_BYTES = 32
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


@dataclass(frozen=True)
class Matrix:
    """The tiles of a matrix that a command moves in loop number `level`; `weight`: 2 if read and written."""

    region: Region
    level: int
    moved: tuple[frozenset[int], ...]
    """The loops that move it along each axis."""
    weight: Num

    @property
    def loops(self) -> frozenset[int]:
        return self.moved[0] | self.moved[1]

    def touched(self, trips: Sequence[Num], level: int, sets: int) -> tuple[Num, Num]:
        """Cache lines that the loops from `level` inwards touch in one run, and how many share a set."""
        rows, cols = (
            least(span.size, span.tile * prod(trips[number] for number in moved if number >= level))
            for span, moved in zip(self.region.spans, self.moved, strict=True)
        )
        size = self.region.bits // 8
        stride = (self.region.spans[0].stride or 0) * size
        if not isinstance(rows, np.ndarray) and not isinstance(cols, np.ndarray):
            return _lines(rows, cols * size, stride, sets)
        both = zip(*np.broadcast_arrays(rows, cols * size), strict=True)
        lines, ways = zip(*(_lines(int(n), int(length), stride, sets) for n, length in both), strict=True)
        return np.array(lines), np.array(ways)


@cache
def _lines(rows: int, row_bytes: int, stride: int, sets: int) -> tuple[int, float]:
    """Of a part of a matrix."""
    if row_bytes >= stride:
        lines = -(-rows * stride // LINE_BYTES)
        return lines, max(1.0, lines / sets)
    width = -(-row_bytes // LINE_BYTES)
    starts = np.arange(rows) * stride // LINE_BYTES
    occupied = np.bincount(((starts[:, None] + np.arange(width)) % sets).ravel(), minlength=sets)
    lines = occupied.sum()
    return rows * width, float((occupied**2).sum() / lines) if lines else 0.0


def matrices(plan: Plan) -> list[Matrix]:
    """Those whose rows lie in one piece."""
    names = [level.name for level in plan.levels]
    return [
        Matrix(
            move.region,
            level,
            tuple(
                frozenset(names.index(n) for n, _ in span.loops if n in names) for span in move.region.spans
            ),
            where(isinstance(move, Receive) and move.add, 2, 1),
        )
        for level, _, move, _ in plan.items
        if isinstance(move, Send | Receive) and move.region.is_matrix
    ]


def lines_from_memory(plan: Plan, caches: Caches, packets: Packets | None = None) -> Num:
    """Cache lines that a run of the nest brings from DDR, or writes there.

    `packets` keep what they can, so that it is not read again.
    """
    trips, own = plan.trips, matrices(plan)
    window = _window_words(plan, packets) * WORD_BITS // 8
    total: Num = 0.0
    touched = [
        [matrix.touched(trips, level, caches.sets) for matrix in own] for level in range(len(trips) + 1)
    ]
    for number, matrix in enumerate(own):
        fetched = touched[matrix.level + 1][number][0]
        for level in range(matrix.level, -1, -1):
            if level in matrix.loops:
                fetched = fetched * trips[level]
            elif not _is_kept(matrix, level, packets):
                hit = _hit(touched[level + 1], number, window // LINE_BYTES, caches)
                fetched = fetched * (1 + (trips[level] - 1) * (1 - hit))
        total = total + fetched * matrix.weight
    return total


def _window_words(plan: Plan, packets: Packets | None) -> Num:
    """Words of the windows that are used: where packets lie, or one tile; and two tiles that come back."""
    sent: Num = 0
    received: Num = 0
    for _, _, move, _ in plan.items:
        if isinstance(move, Send):
            sent = most(sent, move.words)
        elif isinstance(move, Receive):
            received = most(received, move.words)
    return (packets.window if packets else sent) + 2 * received


def _is_kept(matrix: Matrix, level: int, packets: Packets | None) -> bool:
    """Does the tile stay in the window over the iterations of a loop that does not move it?"""
    if packets is None or level >= packets.level + (not packets.apart):
        return False
    moved = [number for number in matrix.loops if number < packets.level + (not packets.apart)]
    return level > max(moved, default=-1)


def _hit(touched: Sequence[tuple[Num, Num]], own: int, others: Num, caches: Caches) -> Num:
    """How much of a matrix L2 holds still when it is read again, after all that was `touched` meanwhile.

    Lines are replaced at random: with three quarters of the ways taken nothing is lost, with half more than
    there are everything.
    """
    ways = touched[own][1] + (sum(n for i, (n, _) in enumerate(touched) if i != own) + others) / caches.sets
    return least(1.0, most(0.0, 2 - ways / caches.l2_ways / 0.75))


# --- what a nest costs ---------------------------------------------------------------------------------


def nest_cost(
    plan: Plan, dma: DmaConfig, caches: Caches | None, *, buffers: int, keep: bool, loops: bool = True
) -> Num:
    """CPU cycles that depend on the order of loops: packing, and with `caches` lines from DDR.

    `buffers`, `keep` and `loops` are those of accel-place; with `buffers=0` there are no packets. Of a
    family: with packets that are kept.
    """
    if plan.count is None:
        packets = choose(plan, dma, buffers=buffers, keep=keep, loops=loops) if buffers else None
        return _cost(plan, packets, caches, keep=keep)
    if not buffers:
        return _cost(plan, None, caches, keep=keep)
    costs = np.zeros(plan.count)
    for which, packets in choices(plan, dma, buffers=buffers, keep=keep, loops=loops):
        costs[which] = _cost(plan[which], packets, caches, keep=keep)
    return costs


def _cost(plan: Plan, packets: Packets | None, caches: Caches | None, *, keep: bool) -> Num:
    if packets is None:
        sent = (prod(plan.trips[: item.level + 1]) * item.move.words for item in plan.items if item.is_sent)
        packing = sum(sent) * WORD_CYCLES
    else:
        packing = cost(plan, packets, keep=keep)
    if caches is None:
        return packing
    return packing + MISS_CYCLES * lines_from_memory(plan, caches, packets if keep else None)


L1_SETS, L1_WAYS = 256, 4
"""A Cortex-A9's, 32 KiB."""
L1_MISS_CYCLES = 12
"""CPU cycles that a line from L2 costs where it is prefetched (``line_gap`` in the boards' profiles)."""
STREAM_CYCLES = 6.5
"""CPU cycles (650 MHz) that a beat takes on the stream (100 MHz)."""


def queue_cost(plan: Plan, beat_words: int) -> float:
    """CPU cycles that depend on the order of loops where the DMA works on the matrices themselves.

    They are for the words sent, and for tiles of partial sums that are added to lines which L1 has lost since
    the last tile in the same place. `beat_words`: words of a beat of the stream.
    """
    trips = plan.trips
    total = 0.0
    for item in plan.items:
        if item.is_sent:
            total += prod(trips[: item.level + 1]) * item.move.words * STREAM_CYCLES / beat_words
    for matrix in matrices(plan):
        still = [number for number in range(matrix.level + 1) if number not in matrix.loops]
        if matrix.weight == 1 or not still:
            continue
        _, ways = matrix.touched(trips, still[-1] + 1, L1_SETS)
        if ways > L1_WAYS / 2:  # slots and operands take the rest
            lines, _ = matrix.touched(trips, len(trips), L1_SETS)
            total += prod(trips[: matrix.level + 1]) * lines * L1_MISS_CYCLES
    return total
