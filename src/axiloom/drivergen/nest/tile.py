"""A tile that travels: how it lies in memory, and whether a DMA's descriptor can express that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import BlockArgument, SSAValue

from axiloom.drivergen.dialects import accel, queue
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.isa.contract.types import WORD_BITS

CACHE_LINE = 64
"""Bytes, as many as any CPU here has, and a beat of any stream.

Arrays that a DMA works on start on one and have the last one alone, so that the CPU never writes to a line
that the DMA writes.
"""
MAX_STRIDE, MAX_ROWS = (1 << 19) - 1, (1 << 13) - 1
"""Of a descriptor's fields: bytes, rows."""


@dataclass(frozen=True)
class Tile:
    """Dim i of what travels, of size ``shape[i]``, is dim ``permutation[i]`` of the tile in memory."""

    shape: tuple[int, ...]
    permutation: tuple[int, ...]
    dense: accel.DenseAttr | None
    lengths: tuple[int, ...]
    """In memory; DYNAMIC_INDEX where they differ by iteration."""
    strides: tuple[int | None, ...] | None
    """In elements; None: not known."""
    bits: int
    """Of an element."""
    begin: int
    """Bytes that divide where the tile begins in its array, in every iteration; 0: always at its begin."""

    @property
    def words(self) -> int:
        return accel.tile_words(self.shape, self.bits, self.dense)

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def is_whole(self) -> bool:
        """Is it as large as `shape`, whatever the iteration?"""
        return self.lengths == self.shape

    @property
    def can_be_whole(self) -> bool:
        return all(size in (DYNAMIC_INDEX, full) for size, full in zip(self.lengths, self.shape, strict=True))

    @property
    def in_order(self) -> bool:
        return list(self.permutation) == sorted(self.permutation)

    @property
    def is_one_piece(self) -> bool:
        """Is it sent as it lies in memory, with nothing between its rows?"""
        gapless = tuple(prod(self.shape[d + 1 :]) for d in range(len(self.shape)))
        filled = self.words * WORD_BITS == prod(self.shape) * self.bits
        return self.is_whole and self.in_order and self.strides == gapless and filled

    def as_matrix(self) -> tuple[int, int, int] | None:
        """Rows, columns, and elements from row to row; None where it does not lie in memory as one.

        Rows are whole words with nothing between, behind or inside them.
        """
        shape, strides, rank = self.shape, self.strides, len(self.shape)
        if strides is None or None in strides or rank < 2 or not self.is_whole:
            return None
        if not self.in_order or strides[-1] != 1:
            return None
        if any(strides[d] != (strides[d + 1] or 0) * shape[d + 1] for d in range(1, rank - 1)):
            return None
        if self.words * WORD_BITS != prod(shape) * self.bits:
            return None
        columns, first = prod(shape[1:]), strides[0]
        assert first is not None
        if columns * self.bits % WORD_BITS == 0:
            return shape[0], columns, first
        if shape[0] == 1 or first == (strides[1] or 0) * shape[1]:
            return 1, prod(shape), prod(shape)
        return None

    def flat(self) -> Tile:
        """A tile without gaps that is a matrix: whole rows of an image, filters with all their channels.

        One in one piece is a matrix of one row where its rows are no whole words: 512 planes of 9 x 9 bytes.
        """
        matrix = self.as_matrix() if self.dense is not None else None
        if matrix is None:
            return self
        rows, columns, pitch = matrix
        shape = (rows, columns)
        return replace(self, shape=shape, permutation=(0, 1), dense=None, lengths=shape, strides=(pitch, 1))

    def rows(self) -> Rows | None:
        """As a descriptor would have the whole tile; None where it does not travel as it lies in memory."""
        shape, strides = self.shape, self.strides
        if len(shape) != 2 or self.permutation != (0, 1) or strides is None or strides[1] != 1:
            return None
        if strides[0] is None or strides[0] < shape[1]:
            return None
        size = self.bits // 8
        row_bytes, stride = shape[1] * size, strides[0] * size
        if row_bytes == stride:  # one piece
            return Rows(row_bytes * shape[0], 1, row_bytes * shape[0], self.begin)
        return Rows(row_bytes, shape[0], stride, self.begin)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of one that travels in place: bytes of a row, rows, bytes from row to row."""
        rows = self.rows()
        assert rows is not None
        return rows.row_bytes, rows.rows, rows.stride

    def way(self, beat_bytes: int) -> str:
        """How it gets to the device: in place, through the window, or one or the other by iteration."""
        rows = self.rows()
        if rows is None or not rows.fits(beat_bytes) or not self.can_be_whole:
            return queue.THROUGH_WINDOW
        return queue.IN_PLACE if self.is_whole else queue.EITHER


@dataclass(frozen=True)
class Rows:
    """A whole tile as a descriptor would have it; sizes in bytes."""

    row_bytes: int
    rows: int
    stride: int
    begin: int
    """A number of bytes that divides where the first row begins in its array."""

    def fits(self, unit: int) -> bool:
        """Do rows begin and end on multiples of `unit` bytes, and do the fields hold the sizes?"""
        if self.row_bytes % unit or (self.rows > 1 and self.stride % unit) or self.begin % unit:
            return False
        return self.rows == 1 or (self.stride <= MAX_STRIDE and self.rows <= MAX_ROWS)


def factor(value: SSAValue) -> int:
    """A number that divides an index in every iteration; 0 if it is always 0."""
    known = accel.constant(value)
    if known is not None:
        return known
    owner = value.owner
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if isinstance(loop, scf.ForOp) and value.index == 0:
            begin, end, step = (accel.constant(v) for v in (loop.lb, loop.ub, loop.step))
            once = begin is not None and end is not None and step is not None and end <= begin + step
            return factor(loop.lb) if once else gcd(factor(loop.lb), factor(loop.step))
        return 1
    if isinstance(owner, arith.AddiOp):
        return gcd(factor(owner.lhs), factor(owner.rhs))
    if isinstance(owner, arith.MuliOp):
        return factor(owner.lhs) * factor(owner.rhs)
    if isinstance(owner, arith.MinUIOp):
        return gcd(factor(owner.lhs), factor(owner.rhs))
    return 1


def begins_on(tile: SSAValue) -> int:
    """Bytes that divide where a tile begins in its array, in every iteration; 0: always at its begin."""
    owner = tile.owner
    if isinstance(owner, memref.CollapseShapeOp | memref.ExpandShapeOp):
        return begins_on(owner.src)
    if not isinstance(owner, memref.SubviewOp):
        return 0
    source = owner.source.type
    assert isinstance(source, MemRefType)
    size, strides = element_bits(source) // 8, source.get_strides() or []
    own = (factor(o) * (s or 1) * size for o, s in zip(owner.offsets, strides, strict=True))
    return gcd(begins_on(owner.source), *own)
