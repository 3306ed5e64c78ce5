"""Convolutions and pooling of linalg, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from axiloom.graph.graph import Node
from axiloom.read.linalg.structured import Reader, with_initial


@dataclass(frozen=True)
class Form:
    """`kernel` and `image` give operands as ``convolution`` wants them, with the number of groups."""

    dims: str
    kernel: Callable[[tuple[int, ...]], tuple[tuple[int, ...], int]]
    """Shape of the kernel to the shape that it is reshaped to, and the groups."""


def _plain(shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    return shape, 1


_FORMS: Mapping[str, Form] = {
    "conv_2d_nchw_fchw": Form("bf01_oi01->bf01", _plain),
    "conv_2d_nhwc_hwcf": Form("b01f_01io->b01f", _plain),
    "conv_2d_nhwc_fhwc": Form("b01f_o01i->b01f", _plain),
    "depthwise_conv_2d_nchw_chw": Form("bf01_oi01->bf01", lambda s: ((s[0], 1, *s[1:]), s[0])),
    "depthwise_conv_2d_nhwc_hwc": Form("b01f_01io->b01f", lambda s: ((*s[:2], 1, s[2]), s[2])),
    "depthwise_conv_2d_nhwc_hwcm": Form("b01f_01io->b01f", lambda s: ((*s[:2], 1, prod(s[2:])), s[2])),
}
_POOLING: Mapping[str, tuple[str, str, tuple[int, int]]] = {
    "pooling_nchw_max": ("max", "maximum", (2, 3)), "pooling_nchw_sum": ("add", "add", (2, 3)),
    "pooling_nhwc_max": ("max", "maximum", (1, 2)), "pooling_nhwc_min": ("min", "minimum", (1, 2)),
    "pooling_nhwc_sum": ("add", "add", (1, 2)),
}  # fmt: skip
"""Kind of the fold, the operation of two, and the spatial dimensions."""
NAMES = (*_FORMS, *_POOLING)


def read(reader: Reader, op: Any, name: str) -> Node:
    """A named op whose maps are sums of loops."""
    strides, dilations = (_pair(op, attribute) for attribute in ("strides", "dilations"))
    rule = _convolution if name in _FORMS else _pooling
    return rule(reader, op, name, strides, dilations)


def _pair(op: Any, name: str) -> tuple[int, int]:
    attribute = op.properties.get(name) or op.attributes.get(name)
    if attribute is None:
        return 1, 1
    values = [int(step) for step in attribute.get_values()]
    a, b = values if len(values) == 2 else (values[0], values[0])
    return a, b


def _convolution(
    reader: Reader, op: Any, name: str, strides: tuple[int, int], dilations: tuple[int, int]
) -> Node:
    form, context = _FORMS[name], reader.context
    image, kernel = (reader.node(operand) for operand in op.inputs)
    shape, groups = form.kernel(kernel.type.shape)
    initial = reader.node(op.outputs[0])
    convolved = context.make(
        "convolution", image, context.reshape(kernel, shape), dims=form.dims, strides=strides,
        padding=(0,) * 4, lhs_dilation=(1, 1), rhs_dilation=dilations, feature_group_count=groups,
        number=initial.type.number,
    )  # fmt: skip
    return with_initial(context, context.reshape(convolved, initial.type.shape), initial, "add", "add")


def _pooling(
    reader: Reader, op: Any, name: str, strides: tuple[int, int], dilations: tuple[int, int]
) -> Node:
    kind, combine, spatial = _POOLING[name]
    context, x, initial = reader.context, reader.node(op.inputs[0]), reader.node(op.outputs[0])
    sizes = op.inputs[1].type.get_shape()  # only its shape counts

    def spread(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(values[spatial.index(i)] if i in spatial else 1 for i in range(4))

    pooled = context.make(
        "reduce_window", context.convert(x, initial.type.number), kind=kind, window=spread(sizes),
        strides=spread(strides), padding=(0,) * 8, dilation=spread(dilations),
    )  # fmt: skip
    return with_initial(context, pooled, initial, kind, combine)
