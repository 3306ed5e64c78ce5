"""Rounding to int8 behind a product becomes the accelerator's post-processing."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder, ImplicitBuilder
from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i8,
    i32,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.drivergen.dialects import accel
from axiloom.drivergen.dialects.named import multiply_add
from axiloom.drivergen.dialects.product import PADDING, ProductOp, requantise_attr
from axiloom.drivergen.match.conv import match_conv, sliding
from axiloom.drivergen.match.matmul import NoMatchError, extension, match
from axiloom.drivergen.match.requantise import Requantisation, match_requantise
from axiloom.drivergen.nest.packed import MULTIPLIER_BITS
from axiloom.isa.kernels.forms import CHANNEL_WORDS


def _channel_loop(op: linalg.GenericOp) -> int | None:
    """The loop over the channels that post-processing has bias and scale for; None for what is no product."""
    for how, channel in ((match, "n"), (match_conv, "oc")):
        try:
            return how(op).dims.index(channel)
        except NoMatchError:
            continue
    return _depthwise(op)


def _depthwise(op: linalg.GenericOp) -> int | None:
    """The loop over the groups where each has one filter: its output channels are the groups."""
    try:
        windows = sliding(op)
    except NoMatchError:
        return None
    return next(iter(windows.groups)) if len(windows.groups) == 1 and not windows.channels("oc") else None


def _is_zero(value: SSAValue) -> bool:
    fill = value.owner
    return isinstance(fill, linalg.FillOp) and accel.constant(fill.inputs[0]) == 0


def _channels(builder: Builder, op: linalg.GenericOp, parts: Requantisation, count: int) -> SSAValue:
    """P, (channels, 2): bias, and multiplier and shift in one word."""
    kind = TensorType(i32, [count, CHANNEL_WORDS])
    empty = builder.insert(tensor.EmptyOp([], kind))
    channel, word = AffineDimExpr(0), AffineDimExpr(1)
    body = Block(arg_types=[i32] * 4)
    inside = Builder(InsertPoint.at_end(body))
    bias, multiplier, shift, _ = body.args
    number = inside.insert(linalg.IndexOp(1))
    zero = inside.insert(arith.ConstantOp(IntegerAttr(0, IndexType())))
    bits = inside.insert(arith.ConstantOp(IntegerAttr(MULTIPLIER_BITS, i32)))
    first = inside.insert(arith.CmpiOp(number.result, zero.result, "eq"))
    moved = inside.insert(arith.ShLIOp(shift, bits.result))
    scale = inside.insert(arith.OrIOp(multiplier, moved.result))
    chosen = inside.insert(arith.SelectOp(first.result, bias, scale.result))
    inside.insert(linalg.YieldOp(chosen.result))
    maps = [AffineMap(2, 0, (channel,))] * 3 + [AffineMap(2, 0, (channel, word))]
    packed = linalg.GenericOp(
        [op.operands[number] for number in (parts.bias, parts.multiplier, parts.shift)],
        [empty.tensor],
        Region(body),
        [AffineMapAttr(m) for m in maps],
        [IteratorTypeAttr.parallel()] * 2,
        [kind],
        doc=StringAttr(PACKING),
    )
    packed.location = op.location
    builder.insert(packed)
    packed.results[0].name_hint = "P"
    return packed.results[0]


PACKING = "accel.channels"
"""`doc` of the op that puts bias, multiplier and shift together: it stays on the CPU."""


def _body(op: linalg.GenericOp) -> Region:
    """Says that the inputs are read and the output is written, no more."""
    a, b = (arg.type for arg in op.body.block.args[:2])
    block = Block(arg_types=[a, b, i32, i8])
    inside = Builder(InsertPoint.at_end(block))
    x, y, channels, _ = block.args
    extend = arith.ExtUIOp if extension(op) == arith.ExtUIOp.name else arith.ExtSIOp
    with ImplicitBuilder(inside):
        linalg.YieldOp(arith.TruncIOp(multiply_add(x, y, channels, extend=extend), i8))
    return Region(block)


def _fuse(epilogue: linalg.GenericOp) -> None:
    try:
        parts = match_requantise(epilogue)
    except NoMatchError:
        return
    product = epilogue.operands[parts.sums].owner
    if not isinstance(product, linalg.GenericOp) or len(product.operands) != 3:
        return
    channel = _channel_loop(product)
    if channel is None or not product.results[0].has_one_use() or not _is_zero(product.outputs[0]):
        return
    output = product.indexing_maps.data[-1].data
    axis = output.results[parts.axis]
    assert isinstance(axis, AffineDimExpr)
    if axis.position != channel:
        return
    builder = Builder(InsertPoint.before(epilogue))
    kind = epilogue.operands[parts.sums].type
    assert isinstance(kind, TensorType)
    channels = _channels(builder, epilogue, parts, kind.get_shape()[parts.axis])
    columns: tuple[AffineExpr, ...] = (axis, AffineConstantExpr(0))
    maps = list(product.indexing_maps.data)
    maps.insert(2, AffineMapAttr(AffineMap(output.num_dims, 0, columns)))
    fused = ProductOp(
        [*product.inputs, channels],
        list(epilogue.outputs),
        _body(product),
        ArrayAttr(maps),
        list(product.iterator_types),
        list(epilogue.result_types),
        doc=product.doc,
    )
    fused.location = product.location
    fused.attributes["requantise"] = requantise_attr({"zp": parts.zp, "lo": parts.lo, "hi": parts.hi})
    if PADDING in product.attributes:
        fused.attributes[PADDING] = product.attributes[PADDING]
    fill = product.outputs[0].owner
    builder.insert(fused)
    fused.results[0].name_hint = epilogue.results[0].name_hint
    epilogue.results[0].replace_all_uses_with(fused.results[0])
    for dead in (epilogue, product, fill):
        if isinstance(dead, linalg.GenericOp | linalg.FillOp) and dead.results[0].first_use is None:
            Rewriter.erase_op(dead)


@dataclass(frozen=True)
class FuseEpilogue(ModulePass):
    """Make a product and the op behind it that rounds its sums to int8 one `accel.product`.

    ::

        %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<4x8xi32>) -> tensor<4x8xi32>
        %S = linalg.generic {...} ins(%A, %B : ...) outs(%Z : tensor<4x8xi32>) {...}
        %C = linalg.generic {...} ins(%S, %bias, %multiplier, %shift : tensor<4x8xi32>, tensor<8xi32>, ...)
            outs(%C8 : tensor<4x8xi8>) {...}

        %P = linalg.generic {..., doc = "accel.channels"} ins(%bias, %multiplier, %shift : ...)
            outs(%EP : tensor<8x2xi32>) {...}
        %C = accel.product {...} ins(%A, %B, %P : ...) outs(%C8 : tensor<4x8xi8>)
            attrs = {requantise = {zp = 0 : i64, lo = -128 : i64, hi = 127 : i64}} {...}

    Where the sums start from zero, nobody else reads them, and bias and scale lie along the dim that the
    accelerator has them for: n of a matmul, oc of a convolution, the channels of a depthwise one.
    Multipliers have 16 bits and shifts 6, as the device; it is for who quantises the network to see to that.
    Comes behind accel-generalise.
    """

    name = "accel-fuse-epilogue"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in [o for o in op.walk() if isinstance(o, linalg.GenericOp)]:
            _fuse(generic)
