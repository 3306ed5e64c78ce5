"""What a memref is a view of: ops that name the same elements differently are about one array."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

RESHAPES = (memref.CollapseShapeOp, memref.ExpandShapeOp)
"""All elements of their source, in its order."""
VIEWS = (memref.SubviewOp, *RESHAPES)


def array_of(value: SSAValue) -> SSAValue:
    """The array from its first element to its last of which `value` is a part."""
    while isinstance(value.owner, VIEWS):
        value = value.owner.operands[0]
    return value


def filled(known: Sequence[int], dynamic: Sequence[SSAValue | int]) -> list[SSAValue | int]:
    """Sizes or offsets of a view: `known`, with the values of what is dynamic in it."""
    rest = iter(dynamic)
    return [next(rest) if n == DYNAMIC_INDEX else n for n in known]


def elements(value: SSAValue) -> SSAValue:
    """`value` before it was reshaped: two that have this in common have all elements in common."""
    while isinstance(value.owner, RESHAPES):
        value = value.owner.src
    return value


def expanded(builder: Builder, value: SSAValue, groups: Sequence[Sequence[int]]) -> SSAValue:
    """An array with each of its dims as several: `groups` has their sizes.

    A scalar in memory, which has no dims, becomes an array of one element with as many dims as its one group.
    """
    kind = value.type
    assert isinstance(kind, MemRefType)
    strides = kind.get_strides()
    assert strides is not None
    scalar = not kind.get_shape()
    shape = [size for group in groups for size in group]
    inner: list[int | None] = []
    for group, stride in zip(groups, [1] if scalar else strides, strict=True):
        behind = [prod(group[number + 1 :]) for number in range(len(group))]
        inner += [None if stride is None else stride * count for count in behind]
    ends = [sum(len(group) for group in groups[:number]) for number in range(len(groups))]
    names = ArrayAttr(
        ArrayAttr(IntegerAttr(end + n, i64) for n in range(len(group)))
        for end, group in zip(ends, groups, strict=True)
    )
    op = memref.ExpandShapeOp.create(
        operands=[value],
        properties={
            "reassociation": ArrayAttr(()) if scalar else names,
            "static_output_shape": DenseArrayBase.from_list(i64, shape),
        },
        result_types=[MemRefType(kind.element_type, shape, StridedLayoutAttr(inner, None))],
    )
    op.results[0].name_hint = value.name_hint
    builder.insert(op)
    return op.results[0]


def collapsed(builder: Builder, value: SSAValue, groups: Sequence[int]) -> SSAValue:
    """An array with so many neighbouring dims as one, for each of its dims; they must lie without gaps."""
    kind = value.type
    assert isinstance(kind, MemRefType)
    strides = kind.get_strides()
    assert strides is not None
    shape: list[int] = []
    outer: list[int | None] = []
    names: list[ArrayAttr[IntegerAttr]] = []
    at = 0
    for count in groups:
        shape.append(prod(kind.get_shape()[at : at + count]))
        outer.append(strides[at + count - 1])
        names.append(ArrayAttr(IntegerAttr(dim, i64) for dim in range(at, at + count)))
        at += count
    op = memref.CollapseShapeOp.create(
        operands=[value],
        properties={"reassociation": ArrayAttr(names)},
        result_types=[MemRefType(kind.element_type, shape, StridedLayoutAttr(outer, None))],
    )
    op.results[0].name_hint = value.name_hint
    builder.insert(op)
    return op.results[0]


def zero_fill(op: Operation, output: SSAValue) -> linalg.FillOp | None:
    """The fill of `output` with zeros in front of `op`, if nothing between the two touches its array."""
    start = constant_fill(op, output)
    return start[0] if start is not None and start[1] == 0 else None


def constant_fill(op: Operation, output: SSAValue) -> tuple[linalg.FillOp, int | float] | None:
    """The fill of `output` with a constant in front of `op`, and the constant, under the same condition."""
    before = op.prev_op
    while before is not None:
        if isinstance(before, linalg.FillOp) and elements(before.outputs[0]) is elements(output):
            maker = before.inputs[0].owner
            if isinstance(maker, arith.ConstantOp) and isinstance(maker.value, IntegerAttr | FloatAttr):
                return before, maker.value.value.data
            return None
        if any(_touches(inner, array_of(output)) for inner in before.walk()):
            return None
        before = before.prev_op
    return None


def _touches(op: Operation, whole: SSAValue) -> bool:
    return not isinstance(op, VIEWS) and any(array_of(value) is whole for value in op.operands)
