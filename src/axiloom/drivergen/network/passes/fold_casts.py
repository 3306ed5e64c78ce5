"""Integer products work on the narrow types that the data has."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, TensorType, i32
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.network.passes import generics

MOVES = (tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.ExtractSliceOp)
"""Ops whose result has elements of their operand: a cast may as well come behind them."""


def _retyped(op: Operation, operand: SSAValue, kind: IntegerType) -> Operation:
    """The same op on elements of another type."""
    old = op.results[0].type
    assert isinstance(old, TensorType)
    new = type(op).create(
        operands=[operand, *op.operands[1:]],
        result_types=[TensorType(kind, old.get_shape())],
        properties=op.properties,
        attributes=op.attributes,
        regions=[],
        location=op.location,
    )
    new.results[0].name_hint = op.results[0].name_hint
    Rewriter.insert_op(new, InsertPoint.before(op))
    return new


def _narrow_pad(op: tensor.PadOp, operand: SSAValue, kind: IntegerType) -> tensor.PadOp | None:
    """Padding before the cast, if its value is one of the narrow type."""
    last = op.region.block.last_op
    value = last.operands[0].owner if last is not None and last.operands else None
    if not isinstance(value, arith.ConstantOp) or not isinstance(value.value, IntegerAttr):
        return None
    number, half = value.value.value.data, 1 << (kind.width.data - 1)
    if not -half <= number < half:
        return None
    constant = arith.ConstantOp(IntegerAttr(number, kind))
    Rewriter.insert_op(constant, InsertPoint.before(op))
    block = Block([tensor.YieldOp(constant.result)], arg_types=[arg.type for arg in op.region.block.args])
    assert isinstance(op.result.type, TensorType)
    new = tensor.PadOp(
        operand,
        list(op.low),
        list(op.high),
        Region(block),
        op.static_low,
        op.static_high,
        TensorType(kind, op.result.type.get_shape()),
    )
    new.location = op.location
    Rewriter.insert_op(new, InsertPoint.before(op))
    return new


def _untransposed(source: linalg.GenericOp) -> SSAValue:
    """What `source` widens, in the shape of its result: a copy does what it moves besides."""
    maps, narrow = generics.maps_of(source), source.inputs[0]
    return narrow if maps[0] == maps[1] else _moving(source, narrow).results[0]


def _moving(source: linalg.GenericOp, narrow: SSAValue) -> linalg.GenericOp:
    """The elements of `narrow` where `source` puts those of its input."""
    shape = source.results[0].type
    assert isinstance(shape, TensorType)
    kind = generics.element(narrow)
    target = generics.empty(source, TensorType(kind, shape.get_shape()))
    block = Block(arg_types=[kind, kind])
    block.add_op(linalg.YieldOp(block.args[0]))
    return generics.rebuild(source, [narrow], [target], Region(block), generics.maps_of(source))


def _sink(op: Operation) -> bool:
    """A widening in front of a reshape, a slice or a pad comes behind it."""
    if not isinstance(op, (*MOVES, tensor.PadOp)) and not generics.moves_only(op):
        return False
    source = op.operands[0].owner
    if not isinstance(source, linalg.GenericOp) or not generics.widens(source):
        return False
    narrow = _untransposed(source)
    kind = generics.element(narrow)
    assert isinstance(kind, IntegerType)
    moved: Operation | None
    if isinstance(op, linalg.GenericOp):
        moved = _moving(op, narrow)
    else:
        moved = _narrow_pad(op, narrow, kind) if isinstance(op, tensor.PadOp) else _retyped(op, narrow, kind)
    if moved is None:
        return False
    wide = generics.map_over(op, moved.results[0], generics.element(op.results[0]), arith.ExtSIOp)
    op.results[0].replace_all_uses_with(wide.results[0])
    Rewriter.erase_op(op)
    return True


def _product(kinds: list[IntegerType]) -> Region:
    """The body of a contraction: narrower factors are sign-extended."""

    @Builder.implicit_region(kinds)
    def body(args: tuple[SSAValue, ...]) -> None:
        a, b = (x if x.type == kinds[2] else arith.ExtSIOp(x, kinds[2]).result for x in args[:2])
        linalg.YieldOp(arith.AddiOp(arith.MuliOp(a, b), args[2]))

    return body


def _fold_inputs(op: linalg.GenericOp) -> linalg.GenericOp:
    """Read what was widened before it was."""
    maps = generics.maps_of(op)
    inputs = list(op.inputs)
    for number, value in enumerate(op.inputs):
        source = value.owner
        if isinstance(source, linalg.GenericOp) and generics.widens(source):
            where = generics.through(source, maps[number])
            maps[number] = generics.substitute(generics.maps_of(source)[0], where, maps[number].num_dims)
            inputs[number] = source.inputs[0]
    if inputs == list(op.inputs):
        return op
    kinds = [generics.element(v) for v in (*inputs, *op.outputs)]
    new = generics.rebuild(op, inputs, list(op.outputs), _product(kinds), maps)  # type: ignore[arg-type]
    generics.replace(op, new)
    return new


def _truncating(value: SSAValue) -> list[Operation] | None:
    """The ops between `value` and the truncations to i32 that are all its uses; None if they are not."""
    found: list[Operation] = []
    for use in value.uses:
        user = use.operation
        if isinstance(user, MOVES):
            further = _truncating(user.results[0])
            if further is None:
                return None
            found += [user, *further]
        elif isinstance(user, linalg.GenericOp) and use.index < len(user.inputs):
            arg = user.body.block.args[use.index]
            casts = [inner.operation for inner in arg.uses]
            if not all(isinstance(c, arith.TruncIOp) and generics.width(c.result.type) <= 32 for c in casts):
                return None
            found.append(user)
        else:
            return None
    return found


def _zero(value: SSAValue) -> linalg.FillOp | None:
    """The fill with zeros that an accumulation starts from."""
    fill = value.owner
    if not isinstance(fill, linalg.FillOp):
        return None
    constant = fill.inputs[0].owner
    if not isinstance(constant, arith.ConstantOp) or not isinstance(constant.value, IntegerAttr):
        return None
    return fill if constant.value.value.data == 0 else None


def _fold_result(op: linalg.GenericOp) -> None:
    """Accumulate in 32 bits what is truncated to them anyway."""
    if generics.width(generics.element(op.outputs[0])) != 64 or _zero(op.outputs[0]) is None:
        return
    if any(generics.width(generics.element(v)) > 32 for v in op.inputs):
        return
    users = _truncating(op.results[0])
    if not users:
        return
    old = op.results[0].type
    assert isinstance(old, TensorType)
    zero = arith.ConstantOp(IntegerAttr(0, i32))
    Rewriter.insert_op(zero, InsertPoint.before(op))
    kind = TensorType(i32, old.get_shape())
    fill = linalg.FillOp([zero.result], [generics.empty(op, kind)], [kind])
    fill.location = op.location
    Rewriter.insert_op(fill, InsertPoint.before(op))
    kinds = [*(generics.element(v) for v in op.inputs), i32]
    body = _product(kinds)  # type: ignore[arg-type]
    new = generics.rebuild(op, list(op.inputs), [fill.results[0]], body, generics.maps_of(op))
    _retype_users(op.results[0], new.results[0])
    Rewriter.erase_op(op)


def _retype_users(old: SSAValue, new: SSAValue) -> None:
    for use in list(old.uses):
        user = use.operation
        if isinstance(user, MOVES):
            moved = _retyped(user, new, i32)
            _retype_users(user.results[0], moved.results[0])
            Rewriter.erase_op(user)
            continue
        assert isinstance(user, linalg.GenericOp)
        user.operands[use.index] = new
        block = user.body.block
        arg = block.args[use.index]
        fresh = block.insert_arg(i32, use.index)
        for cast in [inner.operation for inner in arg.uses]:
            assert isinstance(cast, arith.TruncIOp)
            if cast.result.type == i32:
                cast.result.replace_all_uses_with(fresh)
                Rewriter.erase_op(cast)
            else:
                cast.operands[0] = fresh
        block.erase_arg(arg)


@dataclass(frozen=True)
class FoldCasts(ModulePass):
    """Take the sign extensions in front of an integer product, and the truncation behind it, into it.

    ::

        %a = linalg.generic ... ins(%A : tensor<4x8xi8>) outs(... tensor<4x8xi32>) {extsi}
        %b = linalg.generic ... ins(%B : tensor<8x4xi8>) outs(... tensor<8x4xi32>) {extsi}
        %c = linalg.generic {matmul} ins(%a, %b : ...) outs(%zero : tensor<4x4xi64>) {muli, addi}
        %C = linalg.generic ... ins(%c : ...) outs(... tensor<4x4xi32>) {trunci}

        %C = linalg.generic {matmul} ins(%A, %B : tensor<4x8xi8>, ...) outs(%zero : tensor<4x4xi32>) {...}

    Exact: sums and products mod 2^64, truncated to 32 bits, are those mod 2^32. Extensions move behind
    reshapes, slices and padding with a number that the narrow type has.
    """

    name = "accel-fold-casts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.ops if isinstance(o, func.FuncOp) and not o.is_declaration]:
            block = function.body.block
            again = True
            while again:
                sunk = [_sink(inner) for inner in list(block.ops)]
                again = any(sunk)
                generics.drop_unused(block)
            for inner in list(block.ops):
                if isinstance(inner, linalg.GenericOp) and _is_integer_product(inner):
                    _fold_result(_fold_inputs(inner))
            generics.drop_unused(block)


def _is_integer_product(op: linalg.GenericOp) -> bool:
    if not generics.is_contraction(op):
        return False
    if len(op.results) != 1:
        fail(op, "a product with other than one result is not supported on tensors")
    return isinstance(generics.element(op.outputs[0]), IntegerType)
