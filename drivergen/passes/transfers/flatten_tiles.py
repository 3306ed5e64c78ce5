"""Tiles without gaps that are matrices become matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.elements import element_bits
from axiloom.isa.contract.types import WORD_BITS


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


def _flatten(op: accel.SendOp | accel.RecvOp) -> None:
    """Rows of whole words with nothing between, behind or inside them: then it is a matrix."""
    kind, shape = op.tile.type, list(op.shape.get_values())
    assert isinstance(kind, MemRefType)
    strides, bits = kind.get_strides(), element_bits(kind)
    rank = len(shape)
    if strides is None or None in strides or rank < 2 or list(kind.get_shape()) != shape:
        return
    if list(op.permutation.get_values()) != list(range(rank)) or strides[-1] != 1:
        return
    if any(strides[d] != (strides[d + 1] or 0) * shape[d + 1] for d in range(1, rank - 1)):
        return
    if op.words() * WORD_BITS != prod(shape) * bits:
        return
    columns, one_piece = prod(shape[1:]), shape[0] == 1 or strides[0] == (strides[1] or 0) * shape[1]
    if columns * bits % WORD_BITS == 0:
        rows, pitch = shape[0], strides[0]
    elif one_piece:
        rows, columns = 1, prod(shape)
        pitch = columns
    else:
        return
    tile = op.tile
    if rank > 2 or rows != shape[0]:
        groups = [[0], list(range(1, rank))] if rows == shape[0] else [list(range(rank))]
        kept = [rows, columns] if rows == shape[0] else [columns]
        tile = _reshaped(op, tile, memref.CollapseShapeOp, groups, kept, [pitch, 1][-len(kept) :])
        if len(kept) == 1:
            tile = _reshaped(op, tile, memref.ExpandShapeOp, [[0, 1]], [rows, columns], [pitch, 1])
    new: accel.SendOp | accel.RecvOp
    if isinstance(op, accel.SendOp):
        new = accel.SendOp(tile, [rows, columns], [0, 1], op.offset)
    else:
        new = accel.RecvOp(tile, [rows, columns], [0, 1], op.offset, op.mode.data)
    new.attributes |= op.attributes
    Rewriter.replace_op(op, new)


def _reshaped(
    at: Operation,
    tile: SSAValue,
    how: type[memref.CollapseShapeOp | memref.ExpandShapeOp],
    groups: Sequence[Sequence[int]],
    shape: Sequence[int],
    strides: Sequence[int | None],
) -> SSAValue:
    """The same elements in another shape, in front of `at`."""
    assert isinstance(tile.type, MemRefType)
    properties: dict[str, Attribute] = {
        "reassociation": ArrayAttr(ArrayAttr(IntegerAttr(d, i64) for d in group) for group in groups)
    }
    if how is memref.ExpandShapeOp:
        properties["static_output_shape"] = DenseArrayBase.from_list(i64, list(shape))
    kind = MemRefType(tile.type.element_type, shape, StridedLayoutAttr(strides, None))
    flat = how.create(operands=[tile], properties=properties, result_types=[kind])
    flat.results[0].name_hint = tile.name_hint
    Rewriter.insert_op(flat, InsertPoint.before(at))
    return flat.results[0]


@dataclass(frozen=True)
class FlattenTiles(ModulePass):
    """Tiles whose inner dims lie in memory as they travel become matrices, which descriptors can express.

    ::

        %0 = accel.send %I_tile as [4, 5, 8] permutation [0, 1, 2] at %c0 dense <0 rows, beats of 32> :
            memref<4x5x8xi8, strided<[64, 8, 1], offset: ?>>

        %I_tile_1 = memref.collapse_shape %I_tile [[0], [1, 2]] : ... into memref<4x40xi8, strided<[64, 1]...>
        %0 = accel.send %I_tile_1 as [4, 40] permutation [0, 1] at %c0 : ...

    Bands of whole rows of an image are that, and filters with all their input channels. A tile that lies in
    one piece is a matrix of one row where its rows are no whole words: 512 planes of 9 x 9 bytes. Others are
    left as they are if their rows are no whole words, or if zeros have to fill up a beat behind them.
    """

    name = "accel-flatten-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for transfer in [o for o in op.walk() if isinstance(o, accel.SendOp | accel.RecvOp)]:
            if transfer.dense is not None:
                _flatten(transfer)
