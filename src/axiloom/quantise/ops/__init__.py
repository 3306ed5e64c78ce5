"""How each ATen op is done in integers: a function an op, giving the value and the last node it covers.

`sums` has products, `pools` what runs over windows or dims, `elementwise` and `rows` what is computed on int8
values, `places` what only moves them; `arguments` reads a node. :data:`HANDLERS` is the table of all.
Functions of one value element by element need none: torch itself computes their tables.
"""

from __future__ import annotations

from axiloom.quantise.ops.arguments import Handler
from axiloom.quantise.ops.elementwise import add, cast, extremum, prelu, product, quotient, subtract
from axiloom.quantise.ops.places import (
    concat,
    cut,
    embedding,
    expand,
    flip,
    pad,
    part,
    reshape,
    same,
    stack,
    take,
    transpose,
    upsample_nearest,
)
from axiloom.quantise.ops.pools import adaptive_avg_pool, avg_pool, largest, max_pool, mean, total
from axiloom.quantise.ops.rows import layer_norm, softmax
from axiloom.quantise.ops.sums import batch_norm, conv1d, conv2d, conv_transpose, linear, matmul

__all__ = ["HANDLERS"]

_SAME = ("dropout.default", "contiguous.default", "clone.default", "alias.default", "detach.default")
_RESHAPES = (
    *("view.default", "reshape.default", "flatten.using_ints", "_unsafe_view.default", "unflatten.int"),
    *("unsqueeze.default", "squeeze.dim", "squeeze.dims", "squeeze.default"),
)

SEVERAL = ("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default", "aten.unbind.int")
"""Ops of several results, which `part` takes one by one."""

HANDLERS: dict[str, Handler] = {
    "aten.conv2d.default": conv2d,
    "aten.conv2d.padding": conv2d,
    "aten.conv1d.default": conv1d,
    "aten.conv1d.padding": conv1d,
    "aten.conv_transpose2d.input": conv_transpose,
    "aten.conv_transpose1d.default": conv_transpose,
    "aten.batch_norm.default": batch_norm,
    "aten.linear.default": linear,
    "aten.matmul.default": matmul,
    "aten.bmm.default": matmul,
    "aten.avg_pool2d.default": avg_pool,
    "aten.avg_pool1d.default": avg_pool,
    "aten.adaptive_avg_pool2d.default": adaptive_avg_pool,
    "aten.adaptive_avg_pool1d.default": adaptive_avg_pool,
    "aten.mean.dim": mean,
    "aten.sum.dim_IntList": total,
    "aten.amax.default": largest,
    "aten.max_pool2d.default": max_pool,
    "aten.max_pool1d.default": max_pool,
    "aten.add.Tensor": add,
    "aten.add_.Tensor": add,
    "aten.sub.Tensor": subtract,
    "aten.mul.Tensor": product,
    "aten.mul_.Tensor": product,
    "aten.div.Tensor": quotient,
    "aten.maximum.default": extremum,
    "aten.minimum.default": extremum,
    "aten.prelu.default": prelu,
    "aten.to.dtype": cast,
    "aten._to_copy.default": cast,
    "aten.softmax.int": softmax,
    "aten.layer_norm.default": layer_norm,
    "aten.embedding.default": embedding,
    "aten.transpose.int": transpose,
    "aten.permute.default": transpose,
    "aten.t.default": transpose,
    "aten.slice.Tensor": cut,
    "aten.select.int": cut,
    "aten.index_select.default": take,
    "aten.flip.default": flip,
    "aten.expand.default": expand,
    "aten.upsample_nearest1d.vec": upsample_nearest,
    "aten.upsample_nearest2d.vec": upsample_nearest,
    "aten.pad.default": pad,
    "aten.constant_pad_nd.default": pad,
    "aten.cat.default": concat,
    "aten.stack.default": stack,
    "<built-in function getitem>": part,
    **{f"aten.{name}": reshape for name in _RESHAPES},
    **{f"aten.{name}": same for name in _SAME},
}
"""By ATen op."""
