"""What a memref is a view of: ops that name the same elements differently are about one array."""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
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


def elements(value: SSAValue) -> SSAValue:
    """`value` before it was reshaped: two that have this in common have all elements in common."""
    while isinstance(value.owner, RESHAPES):
        value = value.owner.src
    return value


def zero_fill(op: Operation, output: SSAValue) -> linalg.FillOp | None:
    """The fill of `output` with zeros in front of `op`, if nothing between the two touches its array."""
    found = constant_fill(op, output)
    return found[0] if found is not None and found[1] == 0 else None


def constant_fill(op: Operation, output: SSAValue) -> tuple[linalg.FillOp, int | float] | None:
    """The fill of `output` with a constant in front of `op`, and the constant, under the same condition."""
    before = op.prev_op
    while before is not None:
        if isinstance(before, linalg.FillOp) and elements(before.outputs[0]) is elements(output):
            maker = before.inputs[0].owner
            if isinstance(maker, arith.ConstantOp) and isinstance(maker.value, IntegerAttr | FloatAttr):
                return before, maker.value.value.data
            return None
        if any(_touches(one, array_of(output)) for one in before.walk()):
            return None
        before = before.prev_op
    return None


def _touches(op: Operation, whole: SSAValue) -> bool:
    return not isinstance(op, VIEWS) and any(array_of(value) is whole for value in op.operands)
