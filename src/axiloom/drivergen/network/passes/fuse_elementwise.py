"""Chains of element-wise ops become one loop nest."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from axiloom.drivergen.network.passes import generics

OPERANDS = 12
"""Inputs of a fused op at most: registers for their addresses are few."""


def _producer(op: linalg.GenericOp, number: int) -> linalg.GenericOp | None:
    """What computes input `number` for `op` alone, once for each point of its loops."""
    value = op.inputs[number]
    source = value.owner
    if not isinstance(source, linalg.GenericOp) or not generics.is_map(source) or not value.has_one_use():
        return None
    if not generics.is_permutation(generics.maps_of(op)[number]):
        return None  # it would be computed many times
    if _narrows_product(source):
        return None  # an accelerator may do it on the way out, and what lies between is small
    return source if len(source.inputs) + len(op.inputs) - 1 <= OPERANDS else None


def _narrows_product(op: linalg.GenericOp) -> bool:
    """Whether `op` makes narrower integers of the sums of a product that it alone reads."""
    bits = generics.width(generics.element(op.results[0]))
    return any(
        isinstance(value.owner, linalg.GenericOp)
        and generics.is_contraction(value.owner)
        and value.has_one_use()
        and 0 < bits < generics.width(generics.element(value))
        for value in op.inputs
    )


def _fuse(op: linalg.GenericOp, number: int, source: linalg.GenericOp) -> linalg.GenericOp:
    maps, loops = generics.maps_of(op), generics.maps_of(op)[0].num_dims
    positions = generics.through(source, maps[number])
    inputs = [v for i, v in enumerate(op.inputs) if i != number]
    read = [m for i, m in enumerate(maps[: len(op.inputs)]) if i != number]
    places: list[int] = []
    for value, m in zip(source.inputs, generics.maps_of(source), strict=False):
        where = generics.substitute(m, positions, loops)
        places.append(_place(inputs, read, value, where))
    kinds = [
        generics.element(v) if hasattr(v.type, "element_type") else v.type for v in (*inputs, *op.outputs)
    ]
    block = Block(arg_types=kinds)
    values: dict[SSAValue, SSAValue] = {
        arg: block.args[at] for arg, at in zip(source.body.block.args, places, strict=False)
    }
    for inner in source.body.block.ops:
        if isinstance(inner, linalg.YieldOp):
            values[op.body.block.args[number]] = values.get(inner.operands[0], inner.operands[0])
        else:
            block.add_op(_moved(inner, values, positions))
    own = [arg for i, arg in enumerate(op.body.block.args) if i != number]
    targets = [*range(len(op.inputs) - 1), *range(len(inputs), len(inputs) + len(op.outputs))]
    values |= {arg: block.args[at] for arg, at in zip(own, targets, strict=True)}
    for inner in op.body.block.ops:
        block.add_op(inner.clone(values))
    return generics.rebuild(op, inputs, list(op.outputs), Region(block), [*read, *maps[len(op.inputs) :]])


def _place(inputs: list[SSAValue], read: list[AffineMap], value: SSAValue, where: AffineMap) -> int:
    """Which input `value` at `where` is; a new one where it is none yet."""
    for at, (operand, m) in enumerate(zip(inputs, read, strict=True)):
        if operand is value and m == where:
            return at
    inputs.append(value)
    read.append(where)
    return len(inputs) - 1


def _moved(inner: Operation, values: dict[SSAValue, SSAValue], positions: list[AffineExpr]) -> Operation:
    """A copy of an op of the producer's body; an index is that of the loop now in its place."""
    copy = inner.clone(values)
    if isinstance(copy, linalg.IndexOp):
        position = positions[copy.dim.value.data]
        assert isinstance(position, AffineDimExpr)
        copy.properties["dim"] = IntegerAttr(position.position, i64)
    return copy


def _step(op: linalg.GenericOp) -> bool:
    if generics.is_contraction(op):
        return False
    for number in range(len(op.inputs)):
        source = _producer(op, number)
        if source is not None:
            generics.replace(op, _fuse(op, number, source))
            return True
    return False


@dataclass(frozen=True)
class FuseElementwise(ModulePass):
    """Compute an element where it is used, if one op alone uses it and that once.

    ::

        %1 = linalg.generic {...} ins(%0, %bias : ...) {addf}
        %2 = linalg.generic {...} ins(%1 : ...) {maximumf}

        %2 = linalg.generic {...} ins(%0, %bias : ...) {addf, maximumf}

    What uses it may reduce (a sum of squares), but not be a matrix product or a convolution: those look like
    themselves to an accelerator. What makes narrow integers of a product's sums stays by itself, behind it.
    """

    name = "accel-fuse-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            again = True
            while again:
                again = False
                for inner in list(function.body.block.ops):
                    if isinstance(inner, linalg.GenericOp):
                        again = _step(inner) or again
            generics.drop_unused(function.body.block)
