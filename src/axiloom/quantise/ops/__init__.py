"""How each ATen op is done in integers: a function an op, giving the value and the last node it covers.

`sums` has products and pools, `elementwise` and `rows` have what is computed on int8 values, `places` what
only moves them; `arguments` reads a node. :data:`HANDLERS` is the table of all.
"""

from __future__ import annotations

import numpy as np

from axiloom.quantise.ops.arguments import Handler
from axiloom.quantise.ops.elementwise import add, by_table, clamp, gelu, product, scaled, subtract
from axiloom.quantise.ops.places import (
    concat,
    cut,
    embedding,
    max_pool2d,
    part,
    reshape,
    same,
    stack,
    transpose,
)
from axiloom.quantise.ops.rows import layer_norm, softmax
from axiloom.quantise.ops.sums import (
    adaptive_avg_pool2d,
    avg_pool2d,
    conv1d,
    conv2d,
    conv_transpose2d,
    linear,
    matmul,
    mean,
)

__all__ = ["HANDLERS"]

_SAME = ("dropout.default", "contiguous.default", "clone.default", "alias.default", "detach.default")
_RESHAPES = (
    *("view.default", "reshape.default", "flatten.using_ints", "_unsafe_view.default", "unflatten.int"),
    *("unsqueeze.default", "squeeze.dim", "squeeze.dims", "squeeze.default"),
)
_CLAMPS = (
    *("relu.default", "relu_.default", "relu6.default", "clamp.default", "clamp_min.default"),
    *("hardtanh.default", "hardtanh_.default"),
)

SEVERAL = ("aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default", "aten.unbind.int")
"""Ops of several results, which `part` takes one by one."""

HANDLERS: dict[str, Handler] = {
    "aten.conv2d.default": conv2d,
    "aten.conv1d.default": conv1d,
    "aten.conv_transpose2d.input": conv_transpose2d,
    "aten.linear.default": linear,
    "aten.matmul.default": matmul,
    "aten.bmm.default": matmul,
    "aten.avg_pool2d.default": avg_pool2d,
    "aten.adaptive_avg_pool2d.default": adaptive_avg_pool2d,
    "aten.mean.dim": mean,
    "aten.max_pool2d.default": max_pool2d,
    "aten.add.Tensor": add,
    "aten.add_.Tensor": add,
    "aten.sub.Tensor": subtract,
    "aten.mul.Tensor": product,
    "aten.mul_.Tensor": product,
    "aten.div.Tensor": scaled,
    "aten.gelu.default": gelu,
    "aten.tanh.default": by_table(np.tanh),
    "aten.sigmoid.default": by_table(lambda x: 1 / (1 + np.exp(-x))),
    "aten.silu.default": by_table(lambda x: x / (1 + np.exp(-x))),
    "aten.silu_.default": by_table(lambda x: x / (1 + np.exp(-x))),
    "aten.softmax.int": softmax,
    "aten.layer_norm.default": layer_norm,
    "aten.embedding.default": embedding,
    "aten.transpose.int": transpose,
    "aten.permute.default": transpose,
    "aten.t.default": transpose,
    "aten.slice.Tensor": cut,
    "aten.select.int": cut,
    "aten.cat.default": concat,
    "aten.stack.default": stack,
    "<built-in function getitem>": part,
    "aten.hardswish.default": by_table(lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "aten.hardswish_.default": by_table(lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "aten.hardsigmoid.default": by_table(lambda x: np.clip(x + 3, 0, 6) / 6),
    **{f"aten.{name}": reshape for name in _RESHAPES},
    **{f"aten.{name}": same for name in _SAME},
    **{f"aten.{name}": clamp for name in _CLAMPS},
}
"""By ATen op."""
