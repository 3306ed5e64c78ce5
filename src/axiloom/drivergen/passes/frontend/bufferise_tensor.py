"""Ops of the tensor dialect on memory: reshapes are views, what moves elements is a copy into a part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects.mlir import fail

VIEWS = (tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.CastOp)
"""Their results are their operand's elements where they are."""


class Buffers(ABC):
    """What the rules below need of a function on its way from tensors to memrefs."""

    buffers: dict[SSAValue, SSAValue]
    """The memref of each tensor."""

    @abstractmethod
    def contents(self, op: Operation, value: SSAValue) -> SSAValue:
        """The memref of a tensor that `op` reads."""

    @abstractmethod
    def target(self, op: Operation, result: SSAValue) -> SSAValue:
        """Memory for a result of `op` that starts from nothing."""

    @abstractmethod
    def update(self, op: Operation, value: SSAValue, result: SSAValue) -> SSAValue:
        """Memory for a result of `op` that is `value` with a part of it changed."""


def _shape(op: Operation, value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType | MemRefType)
    shape = tuple(value.type.get_shape())
    if any(size == DYNAMIC_INDEX for size in shape):
        fail(op, f"it has a dynamic size ({value.type}); sizes must be known")
    return shape


def _static(op: Operation, *lists: DenseArrayBase[Any]) -> list[tuple[int, ...]]:
    numbers = [tuple(int(v) for v in values.get_values()) for values in lists]
    if any(value == DYNAMIC_INDEX for values in numbers for value in values):
        fail(op, "its offsets, sizes or strides are not constant")
    return numbers


def _part(
    op: Operation,
    whole: SSAValue,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> SSAValue:
    """A view of a part of a memref."""
    kind = whole.type
    assert isinstance(kind, MemRefType)
    steps = kind.get_strides()
    layout = kind.layout
    start = layout.get_offset() if isinstance(layout, StridedLayoutAttr) else 0
    if steps is None or None in steps or start is None:
        fail(op, f"a matrix without known strides, {kind}")
    scaled = [(step or 0) * stride for step, stride in zip(steps, strides, strict=True)]
    first = start + sum((step or 0) * offset for step, offset in zip(steps, offsets, strict=True))
    view = memref.SubviewOp.get(
        whole,
        list(offsets),
        list(sizes),
        list(strides),
        MemRefType(kind.element_type, sizes, StridedLayoutAttr(scaled, first)),
    )
    Rewriter.insert_op(view, InsertPoint.before(op))
    return view.result


def _copy(op: Operation, source: SSAValue, target: SSAValue) -> None:
    copy = memref.CopyOp(source, target)
    copy.location = op.location
    Rewriter.insert_op(copy, InsertPoint.before(op))


def _reshape(to: Buffers, op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> None:
    source = to.contents(op, op.src)
    kind = source.type
    assert isinstance(kind, MemRefType)
    if not isinstance(kind.layout, NoneAttr):
        fail(op, f"only a matrix without gaps can be reshaped, not {kind}")
    shape = _shape(op, op.result)
    result = MemRefType(kind.element_type, shape)
    view: Operation
    if isinstance(op, tensor.ExpandShapeOp):
        sizes = DenseArrayBase.from_list(i64, shape)
        view = memref.ExpandShapeOp.create(
            operands=[source],
            result_types=[result],
            properties={"reassociation": op.reassociation, "static_output_shape": sizes},
            location=op.location,
        )
    else:
        view = memref.CollapseShapeOp.create(
            operands=[source],
            result_types=[result],
            properties={"reassociation": op.reassociation},
            location=op.location,
        )
    Rewriter.insert_op(view, InsertPoint.before(op))
    to.buffers[op.result] = view.results[0]


def _cast(to: Buffers, op: tensor.CastOp) -> None:
    if _shape(op, op.source) != _shape(op, op.dest):
        fail(op, f"there is no way to make {op.dest.type} of {op.source.type}")
    to.buffers[op.dest] = to.contents(op, op.source)


def constant_padding(op: tensor.PadOp) -> SSAValue:
    """The value that `op` pads with, from outside of its body; CompileError if it depends on the place."""
    block: Block = op.region.block
    last = block.last_op
    if last is None or not last.operands or len(list(block.ops)) != 1 or last.operands[0] in block.args:
        fail(op, "only padding with one constant value is supported")
    return last.operands[0]


def _pad(to: Buffers, op: tensor.PadOp) -> None:
    low, _ = _static(op, op.static_low, op.static_high)
    source, target = to.contents(op, op.source), to.target(op, op.result)
    shape, whole = _shape(op, op.source), _shape(op, op.result)
    for dim in range(len(shape)):  # the border alone: rows in front and behind, between them columns
        rest = whole[dim] - low[dim] - shape[dim]
        for begin, size in ((0, low[dim]), (low[dim] + shape[dim], rest)):
            if size:
                offsets = [*low[:dim], begin, *[0] * (len(shape) - dim - 1)]
                sizes = [*shape[:dim], size, *whole[dim + 1 :]]
                part = _part(op, target, offsets, sizes, [1] * len(shape))
                fill = linalg.FillOp([constant_padding(op)], [part], [])
                fill.location = op.location
                Rewriter.insert_op(fill, InsertPoint.before(op))
    _copy(op, source, _part(op, target, low, shape, [1] * len(shape)))
    to.buffers[op.result] = target


def _extract_slice(to: Buffers, op: tensor.ExtractSliceOp) -> None:
    offsets, sizes, strides = _static(op, op.static_offsets, op.static_sizes, op.static_strides)
    target = to.target(op, op.result)
    part = _part(op, to.contents(op, op.source), offsets, sizes, strides)
    _copy(op, part, _as_slice(op, target, sizes))
    to.buffers[op.result] = target


def _insert_slice(to: Buffers, op: tensor.InsertSliceOp) -> None:
    offsets, sizes, strides = _static(op, op.static_offsets, op.static_sizes, op.static_strides)
    source = to.contents(op, op.source)
    if isinstance(op.dest.owner, tensor.EmptyOp):
        target = to.target(op, op.result)
    else:
        target = to.update(op, op.dest, op.result)
    _copy(op, _as_slice(op, source, sizes), _part(op, target, offsets, sizes, strides))
    to.buffers[op.result] = target


def _as_slice(op: Operation, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """`value` with the rank of a slice: sizes of 1 that it leaves out are put back."""
    kind = value.type
    assert isinstance(kind, MemRefType)
    if tuple(kind.get_shape()) == tuple(sizes):
        return value
    groups = _groups(kind.get_shape(), sizes)
    if groups is None:
        fail(op, f"there is no way to give {kind} the sizes {list(sizes)}")
    view = memref.ExpandShapeOp.create(
        operands=[value],
        result_types=[MemRefType(kind.element_type, sizes)],
        properties={
            "reassociation": _reassociation(groups),
            "static_output_shape": DenseArrayBase.from_list(i64, list(sizes)),
        },
    )
    Rewriter.insert_op(view, InsertPoint.before(op))
    return view.results[0]


def _groups(shape: Sequence[int], sizes: Sequence[int]) -> list[list[int]] | None:
    """For each dim of `shape` those of `sizes` that it is made of, in order; None if there is no such way."""
    groups: list[list[int]] = []
    left = list(range(len(sizes)))
    for size in shape:
        groups.append([])
        while left and (not groups[-1] or prod(sizes[dim] for dim in groups[-1]) < size):
            groups[-1].append(left.pop(0))
    if groups:
        groups[-1] += left
    fits = [prod(sizes[dim] for dim in group) for group in groups] == list(shape)
    return groups if fits and prod(shape) == prod(sizes) else None


def _reassociation(groups: Sequence[Sequence[int]]) -> Any:
    return ArrayAttr(ArrayAttr(IntegerAttr(dim, i64) for dim in group) for group in groups)


def _concat(to: Buffers, op: tensor.ConcatOp) -> None:
    target, dim = to.target(op, op.result), op.dim.value.data
    at = 0
    for value in op.inputs:
        shape = _shape(op, value)
        offsets = [at if axis == dim else 0 for axis in range(len(shape))]
        _copy(op, to.contents(op, value), _part(op, target, offsets, shape, [1] * len(shape)))
        at += shape[dim]
    to.buffers[op.result] = target


def _splat(to: Buffers, op: tensor.SplatOp) -> None:
    target = to.target(op, op.result)
    fill = linalg.FillOp([op.input], [target], [])
    fill.location = op.location
    Rewriter.insert_op(fill, InsertPoint.before(op))
    to.buffers[op.result] = target


RULES: dict[type[Operation], Callable[..., None]] = {
    tensor.ExpandShapeOp: _reshape,
    tensor.CollapseShapeOp: _reshape,
    tensor.CastOp: _cast,
    tensor.PadOp: _pad,
    tensor.ExtractSliceOp: _extract_slice,
    tensor.InsertSliceOp: _insert_slice,
    tensor.ConcatOp: _concat,
    tensor.SplatOp: _splat,
}
