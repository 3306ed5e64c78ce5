"""How each ATen op is done in integers: a function an op, giving the value and the last node it covers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from axiloom.quantise.fixed import (
    LONGEST_COMMON_SHIFT,
    best_scale,
    common_multipliers,
    multiplier,
    multipliers,
    scale_of,
    table,
    to_int8,
)
from axiloom.quantise.graph import (
    Add,
    Bias,
    Concat,
    Conv,
    Embedding,
    LayerNorm,
    Linear,
    MatMul,
    MaxPool,
    Node,
    Requantise,
    Reshape,
    Slice,
    Softmax,
    SumPool,
    Table,
    Transpose,
)
from axiloom.quantise.lower import Lowering, Tail, fail, limits_of

Array = np.ndarray[Any, Any]
Lowered = tuple[Node, Any]
Handler = Callable[[Lowering, Any], Lowered]

_LONGEST_NORM = 1 << 13
"""Elements that a layer norm may run over, so that its sums fit 32 bits."""
_NORM_BITS = 10
"""Fraction of a normalised value."""
_EXP_BITS = 14
"""Fraction of an exponential."""


def arguments(node: Any, *names: str, **defaults: Any) -> list[Any]:
    """The arguments of an ATen node by the names of its schema, wherever they stand."""
    found = []
    for number, name in enumerate(names):
        if number < len(node.args):
            found.append(node.args[number])
        else:
            found.append(node.kwargs.get(name, defaults.get(name)))
    return found


def _shape(node: Any) -> tuple[int, ...]:
    return tuple(int(size) for size in node.meta["val"].shape)


def _pair(value: Any) -> tuple[int, int]:
    values = [value] if isinstance(value, int) else list(value)
    return (int(values[0]), int(values[-1]))


# -- sums ------------------------------------------------------------------------------------------------
def _weights(weight: Array, *, by_tensor: bool) -> tuple[Array, Array]:
    """int8 of `weight`, whose first axis are the output channels, and the scale of each channel."""
    flat = np.abs(weight).reshape(len(weight), -1).max(1)
    whole = best_scale(weight) if by_tensor else 0.0
    scales = np.array([whole or scale_of(float(one)) for one in flat])
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
        return lowering.add(
            Bias(
                name=name,
                shape=sums.shape,
                inputs=(sums.name,),
                dtype="int32",
                scale=sums.scale,
                axis=axis,
                bias=whole,
            )
        )
    scale = lowering.scale(tail.last)
    try:
        factors, shifts = multipliers(scales / scale)
    except ValueError as error:
        fail(node, str(error))
    lo, hi = tail.limits(scale)
    return lowering.add(
        Requantise(
            name=name,
            shape=sums.shape,
            inputs=(sums.name,),
            scale=scale,
            axis=axis,
            bias=whole,
            multiplier=factors,
            shift=shifts,
            lo=lo,
            hi=hi,
        )
    )


def _raw(lowering: Lowering, tail: Tail) -> bool:
    """Whether sums leave the network as they are, and so must have one scale."""
    return lowering.is_output(tail.last) and tail.low == -math.inf and tail.high == math.inf


def conv2d(lowering: Lowering, node: Any) -> Lowered:
    x, weight, bias, stride, padding, dilation, groups = arguments(
        node,
        "input",
        "weight",
        "bias",
        "stride",
        "padding",
        "dilation",
        "groups",
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
    )
    source = lowering.value(node, x)
    filters = lowering.parameter(node, weight, "weight")
    offset = lowering.parameter(node, bias, "bias")
    if isinstance(padding, str):
        fail(node, f"padding `{padding}` is not supported; give it in numbers")
    if groups not in (1, source.shape[1]) or (groups > 1 and filters.shape[0] != groups):
        fail(node, f"{groups} groups are not supported; only 1, or one filter for each channel")
    tail = lowering.tail(node, norm=True)
    if tail.norm is not None:
        filters, offset = _fold(lowering, tail.norm, filters, offset)
    raw = _raw(lowering, tail)
    quantised, scales = _weights(filters, by_tensor=raw)
    assert source.scale is not None
    sums = lowering.add(
        Conv(
            name=f"{lowering.name_of(node)}.sums",
            shape=_shape(node),
            inputs=(source.name,),
            dtype="int32",
            scale=source.scale * float(scales[0]) if raw else None,
            weight=quantised,
            stride=_pair(stride),
            padding=_pair(padding),
            dilation=_pair(dilation),
            groups=groups,
        )
    )
    return _finish(lowering, node, sums, scales * source.scale, offset, tail, 1), tail.last


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
    source = lowering.value(node, x)
    tail = lowering.tail(node)
    name = lowering.name_of(node)
    rows, k = math.prod(source.shape[:-1]), source.shape[-1]
    flat = _reshaped(lowering, source, (rows, k), f"{name}.rows")
    raw = _raw(lowering, tail)
    quantised, scales = _weights(matrix, by_tensor=raw)
    assert source.scale is not None
    sums = lowering.add(
        Linear(
            name=f"{name}.sums",
            shape=(rows, len(matrix)),
            inputs=(flat.name,),
            dtype="int32",
            scale=source.scale * float(scales[0]) if raw else None,
            weight=np.ascontiguousarray(quantised.T),
        )
    )
    done = _finish(lowering, node, sums, scales * source.scale, offset, tail, 1)
    return _reshaped(lowering, done, _shape(node), f"{name}.shape"), tail.last


def matmul(lowering: Lowering, node: Any) -> Lowered:
    known = lowering.known(node.args[1])
    if known is not None and known.dim() == 2:
        return _linear(lowering, node, node.args[0], lowering.parameter(node, node.args[1], "weight").T, None)
    a, b = (lowering.value(node, argument) for argument in node.args[:2])
    if len(a.shape) != len(b.shape) or a.shape[:-2] != b.shape[:-2] or len(a.shape) < 2:
        fail(node, f"factors of {list(a.shape)} and {list(b.shape)}: their leading sizes must be equal")
    assert a.scale is not None
    assert b.scale is not None
    name = lowering.name_of(node)
    batch = math.prod(a.shape[:-2])
    flat = [
        _reshaped(lowering, factor, (batch, *factor.shape[-2:]), f"{name}.{side}")
        for factor, side in ((a, "a"), (b, "b"))
    ]
    tail = lowering.tail(node)
    step = a.scale * b.scale
    n = b.shape[-1]
    sums = lowering.add(
        MatMul(
            name=f"{name}.sums",
            shape=(batch, a.shape[-2], n),
            inputs=(flat[0].name, flat[1].name),
            dtype="int32",
            scale=step if _raw(lowering, tail) else None,
        )
    )
    done = _finish(lowering, node, sums, np.full(n, step), None, tail, 2)
    return _reshaped(lowering, done, _shape(node), f"{name}.shape"), tail.last


def _pooled(
    lowering: Lowering, node: Any, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> Lowered:
    source = lowering.value(node, node.args[0])
    assert source.scale is not None
    name = lowering.name_of(node)
    size = [
        (extent + 2 * pad - window) // step + 1
        for extent, window, step, pad in zip(source.shape[2:], kernel, stride, padding, strict=True)
    ]
    sums = lowering.add(
        SumPool(
            name=f"{name}.sums",
            shape=(*source.shape[:2], *size),
            inputs=(source.name,),
            dtype="int32",
            kernel=kernel,
            stride=stride,
            padding=padding,
        )
    )
    scale = lowering.scale(node)
    channels = source.shape[1]
    factor, shift = multiplier(source.scale / math.prod(kernel) / scale)
    done: Node = lowering.add(
        Requantise(
            name=name,
            shape=sums.shape,
            inputs=(sums.name,),
            scale=scale,
            axis=1,
            bias=np.zeros(channels, np.int32),
            multiplier=np.full(channels, factor, np.int32),
            shift=np.full(channels, shift, np.int32),
        )
    )
    return _reshaped(lowering, done, _shape(node), f"{name}.shape"), node


def avg_pool2d(lowering: Lowering, node: Any) -> Lowered:
    _, kernel, stride, padding, ceil, count_padding, divisor = arguments(
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
    if ceil or divisor is not None or (not count_padding and _pair(padding) != (0, 0)):
        fail(node, "ceil_mode, divisor_override and padding that does not count are not supported")
    return _pooled(lowering, node, _pair(kernel), _pair(stride or kernel), _pair(padding))


def adaptive_avg_pool2d(lowering: Lowering, node: Any) -> Lowered:
    shape = lowering.value(node, node.args[0]).shape
    out = _pair(node.args[1])
    if shape[2] % out[0] or shape[3] % out[1]:
        fail(node, f"from {list(shape[2:])} to {list(out)}: windows of unequal size are not supported")
    kernel = (shape[2] // out[0], shape[3] // out[1])
    return _pooled(lowering, node, kernel, kernel, (0, 0))


def mean(lowering: Lowering, node: Any) -> Lowered:
    shape = lowering.value(node, node.args[0]).shape
    dims = sorted(dim % len(shape) for dim in node.args[1])
    if len(shape) != 4 or dims != [2, 3]:
        fail(node, f"over the dims {dims} of {list(shape)}: only over the last two of four (a global pool)")
    return _pooled(lowering, node, shape[2:], shape[2:], (0, 0))


def max_pool2d(lowering: Lowering, node: Any) -> Lowered:
    x, kernel, stride, padding, dilation, ceil = arguments(
        node, "input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", padding=0, dilation=1
    )
    if ceil or _pair(dilation) != (1, 1):
        fail(node, "ceil_mode and dilation are not supported")
    source = lowering.value(node, x)
    made = MaxPool(
        name=lowering.name_of(node),
        shape=_shape(node),
        inputs=(source.name,),
        scale=source.scale,
        kernel=_pair(kernel),
        stride=_pair(stride or kernel),
        padding=_pair(padding),
    )
    return lowering.add(made), node


# -- element by element ----------------------------------------------------------------------------------
def add(lowering: Lowering, node: Any) -> Lowered:
    if node.kwargs.get("alpha", 1) != 1:
        fail(node, "alpha other than 1 is not supported")
    a, b = (lowering.value(node, argument) for argument in node.args[:2])
    if a.shape != _shape(node):
        a, b = b, a
    if a.shape != _shape(node):
        fail(node, f"{list(a.shape)} and {list(b.shape)}: only one of the two may be broadcast")
    assert a.scale is not None
    assert b.scale is not None
    tail = lowering.tail(node)
    scale = lowering.scale(tail.last)
    first, second, shift = common_multipliers(a.scale / scale, b.scale / scale)
    lo, hi = tail.limits(scale)
    made = Add(
        name=lowering.name_of(node),
        shape=a.shape,
        inputs=(a.name, b.name),
        scale=scale,
        first=first,
        second=second,
        shift=shift,
        lo=lo,
        hi=hi,
    )
    return lowering.add(made), tail.last


def scaled(lowering: Lowering, node: Any) -> Lowered:
    """x * c and x / c with a known positive number c: the same integers, worth more or less."""
    factor = lowering.known(node.args[1])
    if factor is None or (hasattr(factor, "numel") and factor.numel() != 1) or float(factor) <= 0:
        fail(node, "only products with, and quotients by, one positive number that is known are supported")
    value = lowering.value(node, node.args[0])
    assert value.scale is not None
    by = 1 / float(factor) if "div" in str(node.target) else float(factor)
    same = Reshape(
        name=lowering.name_of(node), shape=value.shape, inputs=(value.name,), scale=value.scale * by
    )
    return lowering.add(same), node


def _by_table(function: Callable[[Array], Array]) -> Handler:
    def handler(lowering: Lowering, node: Any) -> Lowered:
        source = lowering.value(node, node.args[0])
        assert source.scale is not None
        scale = lowering.scale(node)
        made = Table(
            name=lowering.name_of(node),
            shape=source.shape,
            inputs=(source.name,),
            scale=scale,
            table=table(function, source.scale, scale),
        )
        return lowering.add(made), node

    return handler


def clamp(lowering: Lowering, node: Any) -> Lowered:
    low, high = limits_of(node)
    return _by_table(lambda x: np.clip(x, low, high))(lowering, node)


def gelu(lowering: Lowering, node: Any) -> Lowered:
    approximate = node.kwargs.get("approximate", node.args[1] if len(node.args) > 1 else "none")
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi)
        return _by_table(lambda x: x / 2 * (1 + np.tanh(inner * (x + 0.044715 * x**3))))(lowering, node)
    erf = np.vectorize(math.erf)
    return _by_table(lambda x: x / 2 * (1 + erf(x / math.sqrt(2))))(lowering, node)


def softmax(lowering: Lowering, node: Any) -> Lowered:
    source = lowering.value(node, node.args[0])
    if node.args[1] % len(source.shape) != len(source.shape) - 1:
        fail(node, "only over the last dim")
    assert source.scale is not None
    scale = lowering.scale(node)
    powers = np.rint(2.0**_EXP_BITS * np.exp(-source.scale * np.arange(256))).astype(np.int32)
    shift = 30 - math.ceil(math.log2(1 / scale))
    made = Softmax(
        name=lowering.name_of(node),
        shape=source.shape,
        inputs=(source.name,),
        scale=scale,
        table=powers,
        numerator=round(2**shift / scale),
        shift=shift,
    )
    if source.shape[-1] > 1 << (30 - _EXP_BITS):
        fail(node, f"over {source.shape[-1]} elements: the sum of their exponentials does not fit 32 bits")
    return lowering.add(made), node


def layer_norm(lowering: Lowering, node: Any) -> Lowered:
    x, shape, gain, offset, epsilon = arguments(
        node, "input", "normalized_shape", "weight", "bias", "eps", eps=1e-5
    )
    source = lowering.value(node, x)
    n = source.shape[-1]
    if list(shape) != [n] or n > _LONGEST_NORM:
        fail(node, f"over {list(shape)}: only over the last dim, of at most {_LONGEST_NORM} elements")
    assert source.scale is not None
    scale = lowering.scale(node)
    gains = np.ones(n) if gain is None else lowering.parameter(node, gain, "weight")
    offsets = np.zeros(n) if offset is None else lowering.parameter(node, offset, "bias")
    # A normalised value is at most sqrt(n): its product with the gain, and the offset, each stay in 30 bits.
    largest = max(float(np.abs(gains).max()) * math.sqrt(n), float(np.abs(offsets).max())) / scale
    shift = min(LONGEST_COMMON_SHIFT, math.floor(29 - math.log2(largest)))
    if shift < 0:
        fail(node, "its weight is too large for what calibration saw of its result")
    made = LayerNorm(
        name=lowering.name_of(node),
        shape=source.shape,
        inputs=(source.name,),
        scale=scale,
        epsilon=float(np.float32(max(epsilon * n * n / source.scale**2, 2.0**-13))),
        gain=np.rint(gains / scale / 2**_NORM_BITS * 2**shift).astype(np.int32),
        offset=(np.rint(offsets / scale * 2**shift).astype(np.int32) + ((1 << shift) >> 1)).astype(np.int32),
        shift=shift,
    )
    return lowering.add(made), node


def embedding(lowering: Lowering, node: Any) -> Lowered:
    rows = lowering.parameter(node, node.args[0], "weight")
    indices = lowering.value(node, node.args[1])
    scale = best_scale(rows)
    made = Embedding(
        name=lowering.name_of(node),
        shape=_shape(node),
        inputs=(indices.name,),
        scale=scale,
        table=to_int8(rows, scale),
    )
    return lowering.add(made), node


# -- places ----------------------------------------------------------------------------------------------
def _reshaped(lowering: Lowering, value: Node, shape: tuple[int, ...], name: str) -> Node:
    if value.shape == shape:
        return value
    return lowering.add(
        Reshape(name=name, shape=shape, inputs=(value.name,), dtype=value.dtype, scale=value.scale)
    )


def reshape(lowering: Lowering, node: Any) -> Lowered:
    return _reshaped(lowering, lowering.value(node, node.args[0]), _shape(node), lowering.name_of(node)), node


def same(lowering: Lowering, node: Any) -> Lowered:
    return lowering.value(node, node.args[0]), node


def transpose(lowering: Lowering, node: Any) -> Lowered:
    source = lowering.value(node, node.args[0])
    rank = len(source.shape)
    order = list(range(rank))
    if str(node.target).startswith("aten.permute"):
        order = [dim % rank for dim in node.args[1]]
    else:
        one, other = (node.args[1] % rank, node.args[2] % rank) if len(node.args) > 1 else (0, 1)
        order[one], order[other] = order[other], order[one]
    if isinstance(source, Transpose):  # two in a row are one
        (inner,) = lowering.graph.operands(source)
        order = [source.permutation[dim] for dim in order]
        source = inner
    made = Transpose(
        name=lowering.name_of(node),
        shape=_shape(node),
        inputs=(source.name,),
        dtype=source.dtype,
        scale=source.scale,
        permutation=tuple(order),
    )
    return lowering.add(made), node


def cut(lowering: Lowering, node: Any) -> Lowered:
    """slice.Tensor and select.int."""
    source = lowering.value(node, node.args[0])
    rank = len(source.shape)
    if "select" in str(node.target):
        dim, start = node.args[1] % rank, node.args[2]
        step, size = 1, 1
    else:
        _, dim, start, _, step = arguments(node, "input", "dim", "start", "end", "step", dim=0, step=1)
        dim, step = (dim or 0) % rank, step or 1
        size = _shape(node)[dim]
    start = start or 0
    start = max(start + source.shape[dim], 0) if start < 0 else start
    offsets, strides, shape = [0] * rank, [1] * rank, list(source.shape)
    offsets[dim], strides[dim], shape[dim] = start, step, size
    made: Node = Slice(
        name=lowering.name_of(node),
        shape=tuple(shape),
        inputs=(source.name,),
        dtype=source.dtype,
        scale=source.scale,
        offsets=tuple(offsets),
        strides=tuple(strides),
    )
    if made.shape == source.shape:
        made = source
    else:
        made = lowering.add(made)
    return _reshaped(lowering, made, _shape(node), f"{made.name}.shape"), node


def concat(lowering: Lowering, node: Any) -> Lowered:
    parts = [lowering.value(node, part) for part in node.args[0]]
    axis = (node.args[1] if len(node.args) > 1 else 0) % len(parts[0].shape)
    scale = lowering.scale(node)
    equal = []
    for part in parts:
        assert part.scale is not None
        if part.scale != scale:
            values = table(lambda x: x, part.scale, scale)
            part = lowering.add(
                Table(
                    name=f"{lowering.name_of(node)}.{part.name}",
                    shape=part.shape,
                    inputs=(part.name,),
                    scale=scale,
                    table=values,
                )
            )
        equal.append(part.name)
    made = Concat(
        name=lowering.name_of(node), shape=_shape(node), inputs=tuple(equal), scale=scale, axis=axis
    )
    return lowering.add(made), node


_SAME = ("dropout.default", "contiguous.default", "clone.default", "alias.default", "detach.default")
_RESHAPES = (
    *("view.default", "reshape.default", "flatten.using_ints", "_unsafe_view.default", "unflatten.int"),
    *("unsqueeze.default", "squeeze.dim", "squeeze.dims", "squeeze.default"),
)
_CLAMPS = (
    *("relu.default", "relu_.default", "relu6.default", "clamp.default", "clamp_min.default"),
    *("hardtanh.default", "hardtanh_.default"),
)

HANDLERS: dict[str, Handler] = {
    "aten.conv2d.default": conv2d,
    "aten.linear.default": linear,
    "aten.matmul.default": matmul,
    "aten.bmm.default": matmul,
    "aten.avg_pool2d.default": avg_pool2d,
    "aten.adaptive_avg_pool2d.default": adaptive_avg_pool2d,
    "aten.mean.dim": mean,
    "aten.max_pool2d.default": max_pool2d,
    "aten.add.Tensor": add,
    "aten.add_.Tensor": add,
    "aten.mul.Tensor": scaled,
    "aten.div.Tensor": scaled,
    "aten.gelu.default": gelu,
    "aten.tanh.default": _by_table(np.tanh),
    "aten.sigmoid.default": _by_table(lambda x: 1 / (1 + np.exp(-x))),
    "aten.silu.default": _by_table(lambda x: x / (1 + np.exp(-x))),
    "aten.silu_.default": _by_table(lambda x: x / (1 + np.exp(-x))),
    "aten.softmax.int": softmax,
    "aten.layer_norm.default": layer_norm,
    "aten.embedding.default": embedding,
    "aten.transpose.int": transpose,
    "aten.permute.default": transpose,
    "aten.t.default": transpose,
    "aten.slice.Tensor": cut,
    "aten.select.int": cut,
    "aten.cat.default": concat,
    **{f"aten.{name}": reshape for name in _RESHAPES},
    **{f"aten.{name}": same for name in _SAME},
    **{f"aten.{name}": clamp for name in _CLAMPS},
}
"""By ATen op."""
