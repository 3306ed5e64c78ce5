"""Zeros around an image become the accelerator's own padding."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.drivergen.dialects.patterns import rewrite
from axiloom.drivergen.dialects.product import padding_attr, product_of
from axiloom.drivergen.match.conv import sliding
from axiloom.drivergen.match.matmul import NoMatchError, terms


def _is_zero(op: tensor.PadOp) -> bool:
    last = op.region.block.last_op
    value = last.operands[0].owner if last is not None else None
    return (
        isinstance(value, arith.ConstantOp)
        and isinstance(value.value, IntegerAttr | FloatAttr)
        and value.value.value.data == 0
    )


def _before(op: linalg.GenericOp, number: int, pad: tensor.PadOp) -> tuple[int, int] | None:
    """Rows above and columns on the left that `pad` adds to an image; None if it adds anything else."""
    low, high = pad.static_low.get_values(), pad.static_high.get_values()
    if DYNAMIC_INDEX in (*low, *high) or min(*low, *high) < 0 or not _is_zero(pad):
        return None
    found: list[int] = []
    for expression, first, last in zip(op.indexing_maps.data[number].data.results, low, high, strict=True):
        if len(terms(expression)) > 1:
            found.append(first)
        elif first or last:
            return None
    top, left = found
    return top, left


class _Folded(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        try:
            number = sliding(op).image
        except NoMatchError:
            return
        pad = op.operands[number].owner
        if not isinstance(pad, tensor.PadOp) or (before := _before(op, number, pad)) is None:
            return
        new = product_of(op, padding=padding_attr(*before))
        new.operands[number] = pad.source
        rewriter.replace(op, new)
        if pad.result.first_use is None:
            rewriter.erase(pad)


@dataclass(frozen=True)
class FoldPadding(ModulePass):
    """Let a convolution read its image without the zeros that a `tensor.pad` puts around it.

    ::

        %P = tensor.pad %I low[0, 0, 1, 1] high[0, 0, 1, 1] { ... tensor.yield %zero : i8 } : ...
        %O = linalg.generic {...} ins(%P, %F : tensor<1x4x10x10xi8>, ...) outs(...) {...}

        %O = accel.product {...} ins(%I, %F : tensor<1x4x8x8xi8>, ...) outs(...)
            attrs = {padding = array<i64: 1, 1>} {...}

    Rows below and columns on the right that are missing are zero as well. For accelerators that make padding
    themselves; comes behind accel-generalise and before accel-bufferise.
    """

    name = "accel-fold-padding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, _Folded())
