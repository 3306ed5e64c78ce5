"""Tiles without gaps that are matrices become matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.patterns import rewrite
from axiloom.drivergen.nest.tile import Tile


class _Flattened(RewritePattern):
    """Rows of whole words with nothing between, behind or inside them: then it is a matrix."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: accel.SendOp | accel.RecvOp, rewriter: PatternRewriter) -> None:
        if op.dense is None or (matrix := Tile.of(op).as_matrix()) is None:
            return
        new = _as_matrix(op, matrix, rewriter)
        new.attributes |= op.attributes
        rewriter.replace(op, new)


def _as_matrix(
    op: accel.SendOp | accel.RecvOp, found: tuple[int, int, int], rewriter: PatternRewriter
) -> accel.SendOp | accel.RecvOp:
    """The same op on a view of its tile, whose rows, columns and pitch were `found`."""
    shape = list(op.shape.get_values())
    rows, columns, pitch = found
    rank = len(shape)
    tile = op.tile
    if rank > 2 or rows != shape[0]:
        groups = [[0], list(range(1, rank))] if rows == shape[0] else [list(range(rank))]
        kept = [rows, columns] if rows == shape[0] else [columns]
        tile = _reshaped(rewriter, tile, memref.CollapseShapeOp, groups, kept, [pitch, 1][-len(kept) :])
        if len(kept) == 1:
            tile = _reshaped(rewriter, tile, memref.ExpandShapeOp, [[0, 1]], [rows, columns], [pitch, 1])
    if isinstance(op, accel.SendOp):
        return accel.SendOp(tile, [rows, columns], [0, 1], op.offset)
    return accel.RecvOp(tile, [rows, columns], [0, 1], op.offset, op.mode.data)


def _reshaped(
    rewriter: PatternRewriter,
    tile: SSAValue,
    how: type[memref.CollapseShapeOp | memref.ExpandShapeOp],
    groups: Sequence[Sequence[int]],
    shape: Sequence[int],
    strides: Sequence[int | None],
) -> SSAValue:
    """The same elements in another shape."""
    assert isinstance(tile.type, MemRefType)
    properties: dict[str, Attribute] = {
        "reassociation": ArrayAttr(ArrayAttr(IntegerAttr(d, i64) for d in group) for group in groups)
    }
    if how is memref.ExpandShapeOp:
        properties["static_output_shape"] = DenseArrayBase.from_list(i64, list(shape))
    kind = MemRefType(tile.type.element_type, shape, StridedLayoutAttr(strides, None))
    flat = how.create(operands=[tile], properties=properties, result_types=[kind])
    flat.results[0].name_hint = tile.name_hint
    rewriter.insert(flat)
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
        rewrite(op, _Flattened())
