"""Products and convolutions: int32 sums, then bias and requantisation with what follows them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.graph import Node
from axiloom.quantise.lower.fixed import (
    LONGEST_PLAIN_SHIFT,
    best_scale,
    multipliers,
    scale_of,
    to_int8,
)
from axiloom.quantise.lower.lowering import Lowering, Tail, fail
from axiloom.quantise.ops.arguments import Array, Lowered, arguments, shape_of
from axiloom.quantise.ops.elementwise import requantised
from axiloom.quantise.ops.places import expanded, padded, reshaped, sliced
from axiloom.quantise.ops.pools import both, image


def _weights(weight: Array, step: float, bias: Array | None, *, by_tensor: bool) -> tuple[Array, Array]:
    """int8 of `weight`, whose first axis are the output channels, and the scale of each channel.

    `step` is what one step of the input is worth: a bias of many more steps makes those of tiny weights
    longer, so that it fits 32 bits.
    """
    flat = np.abs(weight).reshape(len(weight), -1).max(1)
    least = np.zeros(len(weight)) if bias is None else np.abs(bias) / (2.0**30 * step)
    if by_tensor:
        scales = np.full(len(weight), max(best_scale(weight), float(least.max(initial=0.0))))
    else:
        scales = np.maximum([scale_of(float(largest)) for largest in flat], least)
    return to_int8(weight, scales.reshape(-1, *[1] * (weight.ndim - 1))), scales


def _finish(
    lowering: Lowering, node: Any, sums: Node, scales: Array, bias: Array | None, tail: Tail, axis: int
) -> Node:
    """Bias and requantisation of `sums`, one step of which is worth `scales` (one a channel)."""
    name = lowering.name_of(node)
    whole = np.zeros(len(scales)) if bias is None else np.rint(bias / scales)
    if np.abs(whole).max(initial=0) > 2**31 - 1:
        fail(node, "its bias does not fit 32 bits in steps of its sums: the weights are too small for it")
    whole = whole.astype(np.int32)
    if _raw(lowering, tail):
        # Nothing is gained by rounding what leaves the network: the sums themselves, of one scale.
        if not whole.any():
            return sums
        scale_of_sums = lowering.step(sums)
        return lowering.add(
            "bias_add", sums, name=name, scale=scale_of_sums, weights={"bias": whole}, dimension=axis
        )
    scale = lowering.scale(tail.last)
    if (shifted := _shifted(lowering, sums, scales, whole, scale, tail, axis, name)) is not None:
        return shifted
    try:
        factors, shifts = multipliers(scales / scale)
    except ValueError as error:
        fail(node, str(error))
    return requantised(lowering, sums, name, axis, scale, whole, factors, shifts, tail.limits(scale))


def _shifted(
    lowering: Lowering,
    sums: Node,
    scales: Array,
    bias: Array,
    scale: float,
    tail: Tail,
    axis: int,
    name: str,
) -> Node | None:
    """The end of these sums without a multiplier, if that was asked for: one step of the result is worth a
    power of two of theirs, the one nearest to `scale`. None where no shift reaches it."""
    if not lowering.shifts or len(set(scales.tolist())) != 1:
        return None
    places = round(math.log2(scale / float(scales[0])))
    if not 0 < places <= LONGEST_PLAIN_SHIFT:
        return None
    half = 1 << (places - 1)
    if np.abs(bias.astype(np.int64)).max(initial=0) + half > 2**31 - 1:
        return None
    step = float(scales[0]) * 2**places
    low, high = tail.limits(step)
    return lowering.add(
        "requantise_shift", sums, name=name, scale=step, weights={"bias": (bias + half).astype(np.int32)},
        dimension=axis, shift=places, low=low, high=high,
    )  # fmt: skip


def _raw(lowering: Lowering, tail: Tail) -> bool:
    """Whether sums leave the network as they are, and so must have one scale."""
    return lowering.is_output(tail.last) and tail.low == -math.inf and tail.high == math.inf


def _convolution(lowering: Lowering, node: Any, rank: int) -> Lowered:
    """A convolution of an image; one of one dim is a convolution of images of one row."""
    x, weight, bias, stride, padding, dilation, groups = arguments(
        node, "input", "weight", "bias", "stride", "padding", "dilation", "groups",
        stride=1, padding=0, dilation=1, groups=1,
    )  # fmt: skip
    source = image(lowering, node, x)
    filters = lowering.parameter(node, weight, "weight")
    if rank == 1:
        filters = filters[:, :, None]
    offset = lowering.parameter(node, bias, "bias")
    apart = both(node, dilation, 1)
    if padding == "same":
        total = [gap * (taps - 1) for gap, taps in zip(apart, filters.shape[2:], strict=True)]
        low = [edge // 2 for edge in total]
        high = [edge - less for edge, less in zip(total, low, strict=True)]
        source = padded(lowering, node, source, [0, 0, *low], [0, 0, *high], 0.0)
    around = (0, 0) if isinstance(padding, str) else both(node, padding, 0)
    how = Window(both(node, stride, 1), around, apart, groups)
    return _convolved(lowering, node, source, filters, offset, how)


def conv2d(lowering: Lowering, node: Any) -> Lowered:
    return _convolution(lowering, node, 2)


def conv1d(lowering: Lowering, node: Any) -> Lowered:
    return _convolution(lowering, node, 1)


def batch_norm(lowering: Lowering, node: Any) -> Lowered:
    """One that follows no convolution: a convolution with a window of one element, a filter a channel."""
    source, shape = lowering.real(node, node.args[0]), shape_of(node)
    channels = shape[1]
    rows = (*shape[:2], 1, math.prod(shape[2:]))
    source = reshaped(lowering, source, rows, f"{lowering.name_of(node)}.rows")
    filters, offset = _fold(lowering, node, np.ones((channels, 1, 1, 1)), None)
    return _convolved(lowering, node, source, filters, offset, Window(groups=channels))


@dataclass(frozen=True)
class Window:
    """How filters move over an image of two dims."""

    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1


def _convolved(
    lowering: Lowering, node: Any, source: Node, filters: Array, offset: Array | None, how: Window
) -> Lowered:
    """The convolution of `source` (b, c, h, w), with what follows it, in the shape of the ATen node.

    Several groups of several channels are convolutions of their own, one behind the other.
    """
    without_batch = len(shape_of(node)) == (2 if "1d" in str(node.target) else 3)
    dim = int("batch_norm" in str(node.target) or not without_batch)
    tail = lowering.tail(node, norm=True, channels=(dim, len(filters)))
    if tail.offset is not None:
        offset = tail.offset + (0 if offset is None else offset)
    if tail.norm is not None:
        filters, offset = _fold(lowering, tail.norm, filters, offset)
    raw = _raw(lowering, tail)
    step = lowering.real_step(source)
    quantised, scales = _weights(filters, step, offset, by_tensor=raw or lowering.shifts)
    name, channels = lowering.name_of(node), source.type.shape[1]
    rows, columns = how.padding
    count = how.groups
    apart = count if count > 1 and not (count == channels == len(filters)) else 1
    outputs, inputs = len(filters) // apart, channels // apart
    parts = []
    for number in range(apart):
        group, mine = source, slice(number * outputs, (number + 1) * outputs)
        if apart > 1:
            group = sliced(lowering, source, 1, number * inputs, inputs, 1, f"{name}.{number}")
        sums = lowering.add(
            "convolution", group, name=f"{name}.sums", scale=step * float(scales[0]) if raw else None,
            weights={"weight": quantised[mine]}, dims="bf01_oi01->bf01", number="int32", strides=how.stride,
            padding=(rows, rows, columns, columns), rhs_dilation=how.dilation, lhs_dilation=(1, 1),
            feature_group_count=1 if apart > 1 else count,
        )  # fmt: skip
        bias = None if offset is None else offset[mine]
        parts.append(_finish(lowering, node, sums, scales[mine] * step, bias, tail, 1))
    done = parts[0]
    if apart > 1:
        done = lowering.add("concatenate", *parts, name=name, scale=lowering.step(done), dimension=1)
    return reshaped(lowering, done, shape_of(node), f"{name}.shape"), tail.last


def conv_transpose(lowering: Lowering, node: Any) -> Lowered:
    """Zeros between the elements, then a convolution with the filters turned round."""
    x, weight, bias, stride, padding, more, groups, dilation = arguments(
        node, "input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation",
        stride=1, padding=0, output_padding=0, groups=1, dilation=1,
    )  # fmt: skip
    filters = lowering.parameter(node, weight, "weight")
    if filters.ndim == 3:
        filters = filters[:, :, None]
    kernel, by = filters.shape[2:], both(node, stride, 1)
    pad, extra = both(node, padding, 0), both(node, more, 0)
    if groups != 1 or both(node, dilation, 1) != (1, 1):
        fail(node, "a transposed convolution in groups or with dilation is not supported")
    if any(p > k - 1 for p, k in zip(pad, kernel, strict=True)):
        fail(node, f"padding {list(pad)} is more than its window of {list(kernel)} less one")
    source = _spread(lowering, node, image(lowering, node, x), by, extra)
    turned = np.ascontiguousarray(filters.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    how = Window(padding=(kernel[0] - 1 - pad[0], kernel[1] - 1 - pad[1]))
    return _convolved(lowering, node, source, turned, lowering.parameter(node, bias, "bias"), how)


def _spread(lowering: Lowering, node: Any, x: Node, by: tuple[int, int], extra: tuple[int, int]) -> Node:
    """x (b, c, h, w) with ``by - 1`` zeros between its rows and columns, and `extra` behind the last ones."""
    name = lowering.name_of(node)
    for axis, step, behind in ((2, by[0], extra[0]), (3, by[1], extra[1])):
        if step == 1:
            continue
        size, high = x.type.shape[axis], [0] * 5
        high[axis + 1] = step - 1
        shape = x.type.shape
        column = reshaped(lowering, x, (*shape[: axis + 1], 1, *shape[axis + 1 :]), f"{name}.apart{axis}")
        column = padded(lowering, node, column, [0] * 5, high, 0.0)
        wide = (*shape[:axis], size * step, *shape[axis + 1 :])
        x = reshaped(lowering, column, wide, f"{name}.wide{axis}")
        length = (size - 1) * step + 1 + min(behind, step - 1)
        x = sliced(lowering, x, axis, 0, length, 1, f"{name}.cut{axis}")
    beyond = [max(more - step + 1, 0) for more, step in zip(extra, by, strict=True)]
    return padded(lowering, node, x, [0] * 4, [0, 0, *beyond], 0.0)


def _fold(lowering: Lowering, norm: Any, filters: Array, bias: Array | None) -> tuple[Array, Array]:
    """Filters and bias of a convolution with the batch norm behind it."""
    gain, offset, mean, variance = (
        lowering.parameter(norm, argument, "statistics") for argument in norm.args[1:5]
    )
    factor = 1 / np.sqrt(variance + norm.args[7])
    factor = factor if gain is None else factor * gain
    moved = (0 if bias is None else bias) - mean
    return filters * factor.reshape(-1, 1, 1, 1), moved * factor + (0 if offset is None else offset)


def linear(lowering: Lowering, node: Any) -> Lowered:
    x, weight, bias = arguments(node, "input", "weight", "bias")
    matrix = lowering.parameter(node, weight, "weight")
    return _linear(lowering, node, x, matrix, lowering.parameter(node, bias, "bias"))


def _linear(lowering: Lowering, node: Any, x: Any, matrix: Array, offset: Array | None) -> Lowered:
    """x times the transpose of `matrix` (n, k)."""
    source = lowering.real(node, x)
    tail = lowering.tail(node, channels=(-1, len(matrix)))
    if tail.offset is not None:
        offset = tail.offset + (0 if offset is None else offset)
    name = lowering.name_of(node)
    *lead, k = source.type.shape
    flat = reshaped(lowering, source, (math.prod(lead), k), f"{name}.rows")
    raw = _raw(lowering, tail)
    step = lowering.real_step(source)
    quantised, scales = _weights(matrix, step, offset, by_tensor=raw or lowering.shifts)
    sums = lowering.add(
        "dot_general", flat, name=f"{name}.sums", scale=step * float(scales[0]) if raw else None,
        weights={"weight": np.ascontiguousarray(quantised.T)}, lhs_batch=(), rhs_batch=(),
        lhs_contracting=(1,), rhs_contracting=(0,), number="int32",
    )  # fmt: skip
    done = _finish(lowering, node, sums, scales * step, offset, tail, 1)
    return reshaped(lowering, done, shape_of(node), f"{name}.shape"), tail.last


def matmul(lowering: Lowering, node: Any) -> Lowered:
    known = lowering.known(node.args[1])
    if known is not None and known.dim() == 2:
        return _linear(lowering, node, node.args[0], lowering.parameter(node, node.args[1], "weight").T, None)
    a, b = (lowering.real(node, argument) for argument in node.args[:2])
    left, right = a.type.shape, b.type.shape
    if len(left) < 2 or len(right) < 2:
        fail(node, f"factors of {list(left)} and {list(right)}: a vector that is no parameter")
    lead = np.broadcast_shapes(left[:-2], right[:-2])
    a = expanded(lowering, node, a, (*lead, *left[-2:]))
    b = expanded(lowering, node, b, (*lead, *right[-2:]))
    name = lowering.name_of(node)
    flat = [
        reshaped(lowering, factor, (math.prod(lead), *factor.type.shape[-2:]), f"{name}.{side}")
        for factor, side in ((a, "a"), (b, "b"))
    ]
    tail = lowering.tail(node)
    step = lowering.real_step(a) * lowering.real_step(b)
    sums = lowering.add(
        "dot_general", *flat, name=f"{name}.sums", scale=step if _raw(lowering, tail) else None,
        lhs_batch=(0,), rhs_batch=(0,), lhs_contracting=(2,), rhs_contracting=(1,), number="int32",
    )  # fmt: skip
    done = _finish(lowering, node, sums, np.full(right[-1], step), None, tail, 2)
    return reshaped(lowering, done, shape_of(node), f"{name}.shape"), tail.last
