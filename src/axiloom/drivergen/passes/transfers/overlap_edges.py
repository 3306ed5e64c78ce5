"""Tiles at an edge begin earlier, so that all tiles are whole.

Tiles at edges overlap. With zero copy, a tile that would reach over the edge of a result begins earlier.
The device computes some results twice (0.7 % of TinyBERT's vocabulary) and writes the same numbers again.
There is no padded buffer, and the CPU closes no gaps between rows. Only dims of the result overlap, and
only if results overwrite.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.mlir import index
from axiloom.drivergen.dialects.patterns import rewrite
from axiloom.drivergen.dialects.views import filled
from axiloom.drivergen.nest.nest import reached


def _length(loop: scf.ForOp) -> arith.MinUIOp | None:
    """`min(step, end - counter)`, as accel-tile leaves it."""
    counter = loop.body.block.args[0]
    for use in counter.uses:
        rest = use.operation
        if not isinstance(rest, arith.SubiOp) or rest.lhs is not loop.ub or rest.rhs is not counter:
            continue
        for user in rest.result.uses:
            if isinstance(user.operation, arith.MinUIOp) and user.operation.lhs is loop.step:
                return user.operation
    return None


def _may_overlap(loop: scf.ForOp, length: arith.MinUIOp) -> bool:
    """Is all that comes back overwritten, and moved by this loop? Then the same numbers are written twice."""
    counter = loop.body.block.args[0]
    ops = list(loop.walk())
    received = [op for op in ops if isinstance(op, accel.RecvOp)]
    if not received or any(op.mode.data != "overwrite" for op in received):
        return False
    if any(isinstance(op, accel.SendIdxOp) and counter in reached([op.index]) for op in ops):
        return False
    used = {use.operation for use in length.result.uses}
    if not all(isinstance(op, memref.SubviewOp) for op in used):
        return False
    return all(_edge_of(op.tile, length.result) for op in received)


def _edge_of(tile: SSAValue, length: SSAValue) -> bool:
    while isinstance(tile.owner, memref.CollapseShapeOp):
        tile = tile.owner.src
    return isinstance(tile.owner, memref.SubviewOp) and length in tile.owner.sizes


def _whole(view: memref.SubviewOp, length: SSAValue, size: int) -> memref.SubviewOp:
    """The same view, `size` elements long where it was `length`."""
    lengths = list(view.sizes)
    now: list[SSAValue | int] = [size if extent is length else extent for extent in lengths]
    kind = view.result.type
    assert isinstance(kind, MemRefType)
    sizes = filled(view.static_sizes.get_values(), now)
    # The type may leave out dims that are one element long; of those none is dynamic.
    shape = [n if isinstance(n, int) else DYNAMIC_INDEX for n in filled(kind.get_shape(), now)]
    starts = filled(view.static_offsets.get_values(), view.offsets)
    steps = list(view.static_strides.get_values())
    new = memref.SubviewOp.get(
        view.source, starts, sizes, steps, MemRefType(kind.element_type, shape, kind.layout)
    )
    new.result.name_hint = view.result.name_hint
    return new


def _overlap(loop: scf.ForOp, length: arith.MinUIOp, rewriter: PatternRewriter) -> None:
    counter, rest = loop.body.block.args[0], length.rhs.owner
    size = accel.constant(loop.step)
    end = accel.constant(loop.ub)
    assert size is not None
    assert end is not None
    assert isinstance(rest, Operation)
    first = loop.body.block.first_op
    assert first is not None
    others = [use for use in counter.uses if use.operation is not rest]
    last = index(loop, end - size)
    start = arith.MinUIOp(counter, last)
    start.result.name_hint = f"{counter.name_hint or 'i'}_start"
    for use in others:
        use.operation.operands[use.index] = start.result
        rewriter.notify_op_modified(use.operation)
    rewriter.insert(start, InsertPoint.before(first))
    for view in [use.operation for use in length.result.uses]:
        assert isinstance(view, memref.SubviewOp)
        rewriter.replace(view, _whole(view, length.result, size))
    rewriter.erase(length)
    if rest.results[0].first_use is None:
        rewriter.erase(rest)


class _Overlapped(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        length = _length(op)
        if length is not None and _may_overlap(op, length):
            _overlap(op, length, rewriter)


@dataclass(frozen=True)
class OverlapEdges(ModulePass):
    """Let a tile that would reach over an edge begin earlier, beside the one before it or on it.

    ::

        scf.for %m = %c0 to %c60 step %c16 {
          %0 = arith.subi %c60, %m : index
          %m_len = arith.minui %c16, %0 : index
          ...
          %C_tile = memref.subview %C[%m, %n] [%m_len, 16] [1, 1] : ...
          accel.recv %C_tile as [16, 16] permutation [0, 1] at %c0 mode "overwrite" : ...

        scf.for %m = %c0 to %c60 step %c16 {
          %m_start = arith.minui %m, %c44 : index
          ...
          %C_tile = memref.subview %C[%m_start, %n] [16, 16] [1, 1] : ...
          accel.recv %C_tile as [16, 16] permutation [0, 1] at %c0 mode "overwrite" : ...

    The device computes some results twice, as it would compute results of zeros otherwise; nobody has to fill
    up tiles with zeros, or to throw results away, and a DMA can read and write whole tiles where they are.
    Only where what comes back overwrites, and only the dims of the result. Comes behind accel-place-flow.
    """

    name = "accel-overlap-edges"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _Overlapped())
