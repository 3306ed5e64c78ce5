"""Loops that run through memory as one become one loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects.patterns import rewrite

Group = tuple[int, ...]
"""Loops that become one, outermost first."""


def _dims(m: AffineMap) -> list[int] | None:
    """The loops that a map consists of, each once; None if it has other expressions."""
    dims = [e.position for e in m.results if isinstance(e, AffineDimExpr)]
    return dims if len(dims) == len(m.results) == len(set(dims)) else None


def _groups(op: linalg.GenericOp) -> list[Group]:
    """Neighbours of one kind that every operand has next to each other in memory, or not at all."""
    maps = [_dims(attr.data) for attr in op.indexing_maps]
    kinds = [attr.data for attr in op.iterator_types]
    plain = [isinstance(v.type, MemRefType) and isinstance(v.type.layout, NoneAttr) for v in op.operands]

    def together(outer: int, inner: int) -> bool:
        for dims, contiguous in zip(maps, plain, strict=True):
            assert dims is not None
            if outer not in dims and inner not in dims:
                continue
            if not contiguous or (outer, inner) not in pairwise(dims):
                return False
        return kinds[outer] == kinds[inner]

    if any(dims is None for dims in maps) or any(isinstance(i, linalg.IndexOp) for i in op.walk()):
        return [(loop,) for loop in range(len(kinds))]
    groups: list[Group] = [(0,)] if kinds else []
    for loop in range(1, len(kinds)):
        if together(loop - 1, loop):
            groups[-1] += (loop,)
        else:
            groups.append((loop,))
    return groups


def _collapsed(rewriter: PatternRewriter, value: SSAValue, axes: Sequence[Group]) -> SSAValue:
    """A view of `value` with these axes of it as one."""
    kind = value.type
    if not isinstance(kind, MemRefType) or all(len(group) == 1 for group in axes):
        return value
    shape = kind.get_shape()
    view = memref.CollapseShapeOp.create(
        operands=[value],
        properties={
            "reassociation": ArrayAttr(ArrayAttr(IntegerAttr(a, i64) for a in axis) for axis in axes)
        },
        result_types=[MemRefType(kind.element_type, [prod(shape[a] for a in axis) for axis in axes])],
    )
    view.results[0].name_hint = value.name_hint
    rewriter.insert(view)
    return view.results[0]


class _CollapseGeneric(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        if op.results:
            return
        groups = _groups(op)
        if any(len(group) > 1 for group in groups):
            rewriter.replace(op, _collapse(op, groups, rewriter))


def _collapse(op: linalg.GenericOp, groups: Sequence[Group], rewriter: PatternRewriter) -> linalg.GenericOp:
    """The same op with each group of loops as one."""
    operands, maps = [], []
    for value, attr in zip(op.operands, op.indexing_maps, strict=True):
        dims = _dims(attr.data)
        assert dims is not None
        own = _once(dims, groups)
        axes = [tuple(dims.index(loop) for loop in groups[number]) for number in own]
        operands.append(_collapsed(rewriter, value, axes))
        maps.append(AffineMap(len(groups), 0, tuple(AffineDimExpr(number) for number in own)))
    new = linalg.GenericOp(
        operands[: len(op.inputs)],
        operands[len(op.inputs) :],
        op.body.clone(),
        ArrayAttr([AffineMapAttr(m) for m in maps]),
        ArrayAttr([op.iterator_types.data[group[0]] for group in groups]),
        [],
        op.doc,
        op.library_call,
    )
    new.location = op.location
    return new


def _once(dims: Sequence[int], groups: Sequence[Group]) -> list[int]:
    """Numbers of the groups that an operand has, in the order of its axes."""
    return [
        next(n for n, group in enumerate(groups) if loop == group[0]) for loop in dims if _leads(loop, groups)
    ]


def _leads(loop: int, groups: Sequence[Group]) -> bool:
    return any(group[0] == loop for group in groups)


class _CollapseFill(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.FillOp, rewriter: PatternRewriter) -> None:
        (target,) = op.outputs
        if op.results or not isinstance(target.type, MemRefType):
            return
        axes = [tuple(range(len(target.type.get_shape())))]
        if isinstance(target.type.layout, NoneAttr) and len(axes[0]) > 1:
            op.operands[1] = _collapsed(rewriter, target, axes)
            rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class CollapseLoops(ModulePass):
    """Ops on memory with as few loops as they can have.

    ::

        linalg.generic {indexing_maps = [(a, b, c) -> (a, b, c), (a, b, c) -> (a), (a, b, c) -> (a, b, c)]}
            ins(%x, %bias : memref<64x7x7xi8>, memref<64xi32>) outs(%out : memref<64x7x7xi8>)

        %x_1 = memref.collapse_shape %x [[0], [1, 2]] : memref<64x7x7xi8> into memref<64x49xi8>
        %out_1 = memref.collapse_shape %out ...
        linalg.generic {indexing_maps = [(a, b) -> (a, b), (a, b) -> (a), (a, b) -> (a, b)]}
            ins(%x_1, %bias : memref<64x49xi8>, memref<64xi32>) outs(%out_1 : memref<64x49xi8>)

    A long loop leaves fewer elements outside of whole vectors, and lines can be fetched ahead of it. The
    order of the elements stays as it was.
    """

    name = "accel-collapse-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _CollapseGeneric(), _CollapseFill())
