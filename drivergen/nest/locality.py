"""What a nest of placed transfers reads from memory, because the caches of the board no longer hold it.

A tile is read again in every iteration of the loops that do not move it. Whether L2 has it still depends on
all that is touched in between, and on the sets in which that lies: a column of tiles of a matrix whose rows
are a power of two apart takes few sets, and more ways than there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Protocol

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import SSAValue

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.nest.layout import WORD_CYCLES, Layout, choose, cost, stage_words
from axiloom.drivergen.nest.nest import Level, Nest, reached
from axiloom.isa.contract.types import WORD_BITS

LINE_BYTES = 32
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


def blocked(nest: Nest, loop: int, count: int) -> Nest:
    """`nest` with loop number `loop` in blocks of `count` iterations, a divisor of them."""
    old = nest.levels[loop]
    outer = Level(old.loop, old.trips // count, old.step * count)
    levels = [outer, *nest.levels]
    levels[loop + 1] = replace(old, trips=count)
    return Nest(levels, nest.dma)


@dataclass(frozen=True)
class Matrix:
    """The tiles of one op; elements in the order of the matrix' dims."""

    tile: tuple[int, int]
    shape: tuple[int, int]
    stride: int
    """Bytes from row to row."""
    element_bytes: int
    moved: tuple[frozenset[int], frozenset[int]]
    """The loops that move the tile along each dim."""
    level: int
    """Of the op."""
    weight: int
    """2 where tiles are read and written."""

    def touched(self, trips: Sequence[int], level: int, sets: int) -> tuple[int, float]:
        """What the loops from `level` inwards touch in one run: see `_lines`."""
        extents = []
        for tile, size, moved in zip(self.tile, self.shape, self.moved, strict=True):
            tiles = prod(trips[number] for number in moved if number >= level)
            extents.append(min(size, tile * tiles))
        return _lines(extents[0], extents[1] * self.element_bytes, self.stride, sets)


@cache
def _lines(rows: int, row_bytes: int, stride: int, sets: int) -> tuple[int, float]:
    """Cache lines of a part of a matrix, and how many of them share a set on average."""
    if row_bytes >= stride:
        lines = -(-rows * stride // LINE_BYTES)
        return lines, max(1.0, lines / sets)
    width = -(-row_bytes // LINE_BYTES)
    starts = np.arange(rows) * stride // LINE_BYTES
    occupied = np.bincount(((starts[:, None] + np.arange(width)) % sets).ravel(), minlength=sets)
    lines = occupied.sum()
    return rows * width, float((occupied**2).sum() / lines) if lines else 0.0


def _matrices(nest: Nest) -> list[Matrix]:
    found = []
    for level, item in nest.items():
        if not isinstance(item, accel.SendOp | accel.RecvOp) or not isinstance(
            item.tile.owner, memref.SubviewOp
        ):
            continue
        view = item.tile.owner
        kind = view.source.type
        assert isinstance(kind, MemRefType)
        assert isinstance(kind.element_type, IntegerType)
        strides = kind.get_strides()
        if len(kind.get_shape()) != 2 or strides is None or strides[0] is None or strides[1] != 1:
            continue
        shape = [0, 0]
        for size, dim in zip(item.shape.get_values(), item.permutation.get_values(), strict=True):
            shape[dim] = size
        rows, cols = kind.get_shape()
        moved = [_moved(nest, offset) for offset in view.offsets]
        element_bytes = kind.element_type.width.data // 8
        read_again = isinstance(item, accel.RecvOp) and item.mode.data == "accumulate"
        found.append(
            Matrix(
                (shape[0], shape[1]),
                (rows, cols),
                strides[0] * element_bytes,
                element_bytes,
                (moved[0], moved[1]),
                level,
                2 if read_again else 1,
            )
        )
    return found


def _moved(nest: Nest, offset: SSAValue) -> frozenset[int]:
    """The loops that an offset is computed from."""
    values = reached([offset])
    found = {number for number, level in enumerate(nest.levels) if level.counter in values}
    return frozenset(found)


def lines_from_memory(nest: Nest, caches: Caches, layout: Layout | None = None) -> float:
    """Cache lines that a run of the nest brings from DDR, or writes there.

    `layout`: packets keep what they can, so that it is not read again.
    """
    window = _window_words(nest, layout) * WORD_BITS // 8
    return lines_brought(_matrices(nest), [level.trips for level in nest.levels], window, caches, layout)


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


def _window_words(nest: Nest, layout: Layout | None) -> int:
    """Words of the windows that are used: where packets lie, or one tile; and two tiles that come back."""
    sent = [item.words() for _, item in nest.items() if isinstance(item, accel.SendOp)]
    received = [item.words() for _, item in nest.items() if isinstance(item, accel.RecvOp)]
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


def nest_cost(nest: Nest, caches: Caches | None, buffers: int, keep: bool, loops: bool = True) -> float:
    """CPU cycles that depend on the order of loops: packing, and with `caches` lines from DDR.

    `buffers`, `keep` and `loops` are those of accel-coalesce-loops; with `buffers=0` it does not run.
    """
    layout = choose(nest, buffers=buffers, keep=keep, loops=loops) if buffers else None
    sent = sum(
        prod(level.trips for level in nest.levels[: n + 1]) * stage_words([item]) for n, item in nest.items()
    )
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


def queue_cost(nest: Nest, beat_words: int) -> float:
    """CPU cycles that depend on the order of loops where the DMA works on the matrices themselves.

    They are for the words sent, and for tiles of partial sums that are added to lines which L1 has lost since
    the last tile in the same place. `beat_words`: words of a beat of the stream.
    """
    trips = [level.trips for level in nest.levels]
    total = 0.0
    for level, item in nest.items():
        if isinstance(item, accel.StageOp):
            total += prod(trips[: level + 1]) * item.words() * STREAM_CYCLES / beat_words
    for matrix in _matrices(nest):
        moving = matrix.moved[0] | matrix.moved[1]
        still = [number for number in range(matrix.level + 1) if number not in moving]
        if matrix.weight == 1 or not still:
            continue
        _, ways = matrix.touched(trips, still[-1] + 1, L1_SETS)
        if ways > L1_WAYS / 2:  # slots and operands take the rest
            lines, _ = matrix.touched(trips, len(trips), L1_SETS)
            total += prod(trips[: matrix.level + 1]) * lines * L1_MISS_CYCLES
    return total
