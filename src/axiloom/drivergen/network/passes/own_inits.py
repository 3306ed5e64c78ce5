"""Each op gets what it starts from for itself."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.network.passes import generics


def splat(constant: arith.ConstantOp) -> arith.ConstantOp | None:
    """The one value of all elements of a dense constant, as a scalar constant."""
    dense = constant.value
    if not isinstance(dense, DenseIntOrFPElementsAttr) or not dense.is_splat():
        return None
    kind, value = dense.get_element_type(), dense.get_values()[0]
    if isinstance(kind, Float32Type | Float64Type):
        return arith.ConstantOp(FloatAttr(float(value), kind))
    return arith.ConstantOp(IntegerAttr(int(value), kind)) if isinstance(kind, IntegerType) else None


def _constants_inside(op: linalg.GenericOp) -> None:
    """Scalars of outside that the body uses, and inputs that are one value, become constants of the body."""
    block = op.body.block
    copies: dict[SSAValue, SSAValue] = {}
    for inner in list(block.ops):
        for number, value in enumerate(inner.operands):
            owner = value.owner
            if isinstance(owner, arith.ConstantOp) and owner.parent_block() is not block:
                if isinstance(value.type, TensorType):
                    continue  # a table
                if value not in copies:
                    copies[value] = _at_start(block, owner.clone())
                inner.operands[number] = copies[value]
    for value, arg in zip(op.inputs, block.args, strict=False):
        owner = value.owner
        single = splat(owner) if isinstance(owner, arith.ConstantOp) else None
        scalar = owner.clone() if single is None and isinstance(owner, arith.ConstantOp) else single
        if scalar is not None and not isinstance(scalar.result.type, TensorType):
            arg.replace_all_uses_with(_at_start(block, scalar))


def _at_start(block: Block, op: arith.ConstantOp) -> SSAValue:
    assert block.first_op is not None
    block.insert_op_before(op, block.first_op)
    return op.result


def _drop_unread_inputs(op: linalg.GenericOp) -> linalg.GenericOp:
    """Without inputs that the body does not look at, if the others still say how long the loops are."""
    maps = generics.maps_of(op)
    kept = list(range(len(op.inputs)))
    for number in reversed(range(len(op.inputs))):
        others = [maps[i] for i in (*(k for k in kept if k != number), *range(len(op.inputs), len(maps)))]
        covered = {dim for m in others for e in m.results for dim in _plain(e)}
        if op.body.block.args[number].first_use is None and len(covered) == maps[0].num_dims:
            kept.remove(number)
    if len(kept) == len(op.inputs):
        return op
    body = op.body.clone()
    for number in reversed(range(len(op.inputs))):
        if number not in kept:
            body.block.erase_arg(body.block.args[number])
    new = generics.rebuild(
        op,
        [op.inputs[i] for i in kept],
        list(op.outputs),
        body,
        [maps[i] for i in (*kept, *range(len(op.inputs), len(maps)))],
    )
    generics.replace(op, new)
    return new


def _plain(expression: object) -> set[int]:
    position = getattr(expression, "position", None)
    return {position} if isinstance(position, int) else set()


def _own_init(op: linalg.GenericOp | linalg.FillOp, number: int) -> None:
    """The init of output `number`: nothing, a fill, or a copy that nobody else reads."""
    place = len(op.inputs) + number
    value = op.operands[place]
    if not isinstance(value.type, TensorType):
        return
    owner = value.owner
    unread = isinstance(op, linalg.FillOp) or op.body.block.args[place].first_use is None
    scalar: arith.ConstantOp | None = None
    if unread or isinstance(owner, tensor.EmptyOp):
        op.operands[place] = generics.empty(op, value.type)
        return
    if isinstance(owner, linalg.FillOp):
        scalar = owner.inputs[0].owner if isinstance(owner.inputs[0].owner, arith.ConstantOp) else None
    elif isinstance(owner, arith.ConstantOp):
        scalar = splat(owner)
    if scalar is not None:
        scalar = scalar.clone()
        Rewriter.insert_op(scalar, InsertPoint.before(op))
        fill = linalg.FillOp([scalar.result], [generics.empty(op, value.type)], [value.type])
        fill.location = op.location
        Rewriter.insert_op(fill, InsertPoint.before(op))
        op.operands[place] = fill.results[0]
    elif not isinstance(owner, linalg.GenericOp) or not value.has_one_use():
        op.operands[place] = generics.map_over(op, value, value.type.element_type, None).results[0]


@dataclass(frozen=True)
class OwnInits(ModulePass):
    """Give each `linalg.generic` an output of its own, and constants of its own in its body.

    ::

        %zero = arith.constant 0 : i32
        %empty = tensor.empty() : tensor<4x4xi32>
        %init = linalg.fill ins(%zero : i32) outs(%empty : ...) -> tensor<4x4xi32>
        %0 = linalg.generic {...} ins(%A, %B : ...) outs(%init : tensor<4x4xi32>) {...}
        %1 = linalg.generic {...} ins(%0 : ...) outs(%init : tensor<4x4xi32>) {... maxsi %in, %zero ...}

    becomes two fills of two tensors, or `tensor.empty` where the body does not read what it starts from, and
    a constant in the body of the second. An init that somebody else sees is copied first.
    """

    name = "accel-own-inits"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            for inner in list(function.body.block.ops):
                if isinstance(inner, linalg.GenericOp):
                    _constants_inside(inner)
                    inner = _drop_unread_inputs(inner)
                if isinstance(inner, linalg.GenericOp):
                    for number in range(len(inner.outputs)):
                        _own_init(inner, number)
            generics.drop_unused(function.body.block)


def is_init(op: Operation) -> bool:
    """What an op only starts from: it goes where the op goes."""
    return isinstance(op, tensor.EmptyOp | linalg.FillOp | arith.ConstantOp)
