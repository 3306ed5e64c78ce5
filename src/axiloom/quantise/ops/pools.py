"""Means, sums and maxima over windows of an image, or over whole dims."""

from __future__ import annotations

import math
from typing import Any

from axiloom.graph import Node
from axiloom.quantise.lower.lowering import Lowering, fail
from axiloom.quantise.ops.arguments import Lowered, arguments, pair, shape_of
from axiloom.quantise.ops.elementwise import rescaled
from axiloom.quantise.ops.places import padded, permuted, reshaped

Pair = tuple[int, int]


def image(lowering: Lowering, node: Any, argument: Any) -> Node:
    """The value as (b, c, h, w): a batch of one and images of one row, where it has none."""
    value = lowering.real(node, argument)
    one_row = "1d" in str(node.target)
    shape = value.type.shape
    shape = shape if len(shape) == (3 if one_row else 4) else (1, *shape)
    if one_row:
        shape = (*shape[:2], 1, shape[2])
    return reshaped(lowering, value, shape, f"{lowering.name_of(node)}.image")


def both(node: Any, value: Any, rows: int) -> Pair:
    """A window's number for rows and columns; `rows`: that of an image of one row."""
    return (rows, pair(value)[1]) if "1d" in str(node.target) else pair(value)


def _divided(
    lowering: Lowering, node: Any, x: Node, kernel: Pair, stride: Pair, padding: Pair, by: int
) -> Node:
    """Sums over windows of x (b, c, h, w), divided by a number, in the shape of the ATen node."""
    name = lowering.name_of(node)
    sums = lowering.add(
        "sum_pool", x, name=f"{name}.sums", scale=None, window=kernel, strides=stride, padding=padding
    )
    means = rescaled(lowering, sums, name, 1, lowering.real_step(x) / by, lowering.scale(node))
    return reshaped(lowering, means, shape_of(node), f"{name}.shape")


def _maxima(lowering: Lowering, node: Any, x: Node, kernel: Pair, stride: Pair, padding: Pair) -> Node:
    """Over windows of x (b, c, h, w), in the shape of the ATen node."""
    name, (rows, columns) = lowering.name_of(node), padding
    maxima = lowering.add(
        "reduce_window", x, name=name, scale=lowering.step(x), kind="max", window=(1, 1, *kernel),
        strides=(1, 1, *stride), padding=(0, 0, 0, 0, rows, rows, columns, columns), dilation=(1, 1, 1, 1),
    )  # fmt: skip
    return reshaped(lowering, maxima, shape_of(node), f"{name}.shape")


def avg_pool(lowering: Lowering, node: Any) -> Lowered:
    x, kernel, stride, padding, ceil, count_padding, divisor = arguments(
        node,
        "input",
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
        "divisor_override",
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
    )
    source, around = image(lowering, node, x), both(node, padding, 0)
    if ceil or (not count_padding and around != (0, 0)):
        fail(node, "ceil_mode, and padding that does not count, are not supported")
    window = both(node, kernel, 1)
    by = both(node, stride, 1) if stride else window
    return _divided(lowering, node, source, window, by, around, divisor or math.prod(window)), node


def adaptive_avg_pool(lowering: Lowering, node: Any) -> Lowered:
    source = image(lowering, node, node.args[0])
    shape, out = source.type.shape, both(node, node.args[1], 1)
    if shape[2] % out[0] or shape[3] % out[1]:
        fail(node, f"from {list(shape[2:])} to {list(out)}: windows of unequal size are not supported")
    kernel = (shape[2] // out[0], shape[3] // out[1])
    return _divided(lowering, node, source, kernel, kernel, (0, 0), math.prod(kernel)), node


def max_pool(lowering: Lowering, node: Any) -> Lowered:
    x, kernel, stride, padding, dilation, ceil = arguments(
        node, "input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", padding=0, dilation=1
    )
    if both(node, dilation, 1) != (1, 1):
        fail(node, "dilations are not supported")
    source, window, around = image(lowering, node, x), both(node, kernel, 1), both(node, padding, 0)
    by = both(node, stride, 1) if stride else window
    if ceil:  # the last windows may reach beyond the padding
        size = (1, *shape_of(node)[-1:]) if "1d" in str(node.target) else shape_of(node)[-2:]
        beyond = [
            max((count - 1) * step + taps - extent - 2 * pad, 0)
            for count, step, taps, extent, pad in zip(
                size, by, window, source.type.shape[2:], around, strict=True
            )
        ]
        high = [pad + more for pad, more in zip(around, beyond, strict=True)]
        source = padded(lowering, node, source, [0, 0, *around], [0, 0, *high], -math.inf)
        around = (0, 0)
    return _maxima(lowering, node, source, window, by, around), node


def _over(lowering: Lowering, node: Any) -> tuple[Node, Pair]:
    """The value as images of which a window is what the dims of the node's argument hold."""
    source = lowering.real(node, node.args[0])
    shape = source.type.shape
    rank = len(shape)
    dims = node.args[1] if len(node.args) > 1 and node.args[1] else range(rank)
    dims = sorted(dim % rank for dim in ([dims] if isinstance(dims, int) else dims))
    if rank == 4 and dims == [2, 3]:
        return source, (shape[2], shape[3])
    rest = [dim for dim in range(rank) if dim not in dims]
    order, name = [*rest, *dims], lowering.name_of(node)
    count = math.prod(shape[dim] for dim in dims)
    source = permuted(lowering, source, order, f"{name}.turned")
    rows = source.type.elements // count
    return reshaped(lowering, source, (rows, 1, 1, count), f"{name}.rows"), (1, count)


def mean(lowering: Lowering, node: Any) -> Lowered:
    return _whole_dims(lowering, node, 0)


def total(lowering: Lowering, node: Any) -> Lowered:
    return _whole_dims(lowering, node, 1)


def _whole_dims(lowering: Lowering, node: Any, by: int) -> Lowered:
    """Sums over dims, divided by `by`, or by their number where that is 0."""
    source, window = _over(lowering, node)
    return _divided(lowering, node, source, window, window, (0, 0), by or math.prod(window)), node


def largest(lowering: Lowering, node: Any) -> Lowered:
    source, window = _over(lowering, node)
    return _maxima(lowering, node, source, window, window, (0, 0)), node
