"""ATen's layers: convolutions, norms, pooling, attention, embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from axiloom.graph.graph import Node
from axiloom.graph.numbers import Number, number
from axiloom.read.aten.call import Call, Rule
from axiloom.read.aten.sums import dot, fold

_DIMS = {1: "bf0_oi0->bf0", 2: "bf01_oi01->bf01", 3: "bf012_oi012->bf012"}


def _each(value: Any, rank: int) -> tuple[int, ...]:
    """One number for all dimensions, or one for each."""
    values = [value] if isinstance(value, int) else list(value)
    return tuple(values * rank if len(values) == 1 else values)


def _convolution(call: Call) -> Node:
    call.only(transposed=False)
    x, w = call.node("input"), call.node("weight")
    rank = len(w.type.shape) - 2
    if len(x.type.shape) != rank + 2:
        raise call.refuse(f"an image of {len(x.type.shape)} dimensions: one with a batch dimension is needed")
    strides, dilation = (_each(call.given[name], rank) for name in ("stride", "dilation"))
    padding = _padding(call, w.type.shape[2:], dilation)
    convolved = call.make(
        "convolution", x, w, dims=_DIMS[rank], strides=strides, padding=padding, lhs_dilation=(1,) * rank,
        rhs_dilation=dilation, feature_group_count=call.given["groups"], number=call.number,
    )  # fmt: skip
    return with_bias(call, convolved, call.optional("bias"), 1)


def _padding(call: Call, window: Sequence[int], dilation: Sequence[int]) -> tuple[int, ...]:
    padding = call.given["padding"]
    if padding == "valid":
        return (0, 0) * len(window)
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, window, strict=True)]
        return tuple(pad for t in total for pad in (t // 2, t - t // 2))
    return tuple(pad for p in _each(padding, len(window)) for pad in (p, p))


def with_bias(call: Call, x: Node, bias: Node | None, dimension: int) -> Node:
    return x if bias is None else call.make("bias_add", x, bias, dimension=dimension)


def _linear(call: Call) -> Node:
    x = call.node("input")
    product = call.make("dense", x, call.node("weight"), number=call.number)
    return with_bias(call, product, call.optional("bias"), len(call.shape) - 1)


def _batch_norm(call: Call) -> Node:
    """As scale and shift of each channel: constants where weights are."""
    call.only(training=False, train=False)
    x = call.node("input")
    mean, variance = (call.node(name) for name in ("running_mean", "running_var"))
    ones = call.context.like(mean, 1)
    weight, bias = call.optional("weight") or ones, call.optional("bias") or call.context.like(mean, 0)
    if not call.context.known(mean, variance, weight, bias):
        raise call.refuse("weights and statistics must be constants")
    of = mean.type.number
    values = [call.context.value(node).astype(np.float64) for node in (mean, variance, weight, bias)]
    scale = values[2] / np.sqrt(values[1] + call.given["eps"])
    shift = values[3] - values[0] * scale
    vectors = (
        _vector(call, number(of), vector, name) for vector, name in ((scale, "scale"), (shift, "shift"))
    )
    return call.make("scale_shift", x, *vectors, dimension=1)


def _vector(call: Call, of: Number, values: Any, name: str) -> Node:
    return call.context.constant(of.encode(values), of.name, f"{call.context.place}.{name}")


def _layer_norm(call: Call) -> Node:
    x, shape = call.node("input"), call.given["normalized_shape"]
    count = math.prod(shape)
    flat = call.context.reshape(x, (*x.type.shape[: len(x.type.shape) - len(shape)], count))
    empty = call.context.splat(1, shape, x.type.number), call.context.splat(0, shape, x.type.number)
    weights = (
        call.optional(name) or default for name, default in zip(("weight", "bias"), empty, strict=True)
    )
    vectors = [call.context.reshape(weight, (count,)) for weight in weights]
    epsilon = number(x.type.number).text(call.given["eps"])
    return call.context.reshape(call.make("layer_norm", flat, *vectors, epsilon=epsilon), x.type.shape)


def _softmax(call: Call) -> Node:
    call.only(half_to_float=False)
    x = call.context.convert(call.node("self"), call.number)
    return call.make("softmax", x, dimension=call.dimension(call.given["dim"], len(call.shape)))


def _log_softmax(call: Call) -> Node:
    call.only(half_to_float=False)
    x = call.context.convert(call.node("self"), call.number)
    along = call.dimension(call.given["dim"], len(call.shape))
    rest = tuple(i for i in range(len(call.shape)) if i != along)

    def back(node: Node) -> Node:
        return call.context.broadcast(node, call.shape, rest)

    centred = call.make("subtract", x, back(call.make("reduce", x, kind="max", dimensions=(along,))))
    total = call.make("reduce", call.make("exponential", centred), kind="add", dimensions=(along,))
    return call.make("subtract", centred, back(call.make("log", total)))


def _windows(call: Call, x: Node, kind: str) -> Node:
    call.only(ceil_mode=False)
    rank = len(call.given["kernel_size"]) if not isinstance(call.given["kernel_size"], int) else 1
    window = _each(call.given["kernel_size"], rank)
    strides = _each(call.given.get("stride") or window, rank)
    padding = [pad for p in _each(call.given.get("padding", 0), rank) for pad in (p, p)]
    before = (1,) * (len(x.type.shape) - rank)
    return call.make(
        "reduce_window", x, kind=kind, window=(*before, *window), strides=(*before, *strides),
        padding=(*(0,) * (2 * len(before)), *padding),
        dilation=(*before, *_each(call.given.get("dilation", 1), rank)),
    )  # fmt: skip


def _max_pool(call: Call) -> Node:
    """Of the variant with indices, the indices cannot be used."""
    return _windows(call, call.node("self"), "max")


def _avg_pool(call: Call) -> Node:
    total = _windows(call, call.node("self"), "add")
    padded = any(_each(call.given.get("padding", 0), 1))
    if padded:
        call.only(count_include_pad=True)
    sizes = call.given["kernel_size"]
    count = call.given.get("divisor_override") or math.prod([sizes] if isinstance(sizes, int) else sizes)
    return call.make("divide", total, call.context.like(total, count))


def _adaptive_avg_pool(call: Call) -> Node:
    x, wanted = call.node("self"), call.given["output_size"]
    rank = len(wanted)
    sizes, outputs = x.type.shape[-rank:], call.shape[-rank:]
    if any(size % out for size, out in zip(sizes, outputs, strict=True)):
        raise call.refuse(f"pooling of {sizes} to {outputs}: only sizes that divide")
    count = math.prod(sizes) // math.prod(outputs)
    if math.prod(outputs) == 1:
        total = fold(call, x, "add", range(len(x.type.shape) - rank, len(x.type.shape)))
    else:
        ones = (1,) * (len(x.type.shape) - rank)
        window = (*ones, *(size // out for size, out in zip(sizes, outputs, strict=True)))
        total = call.make(
            "reduce_window", x, kind="add", window=window, strides=window, padding=(0, 0) * len(window),
            dilation=(1,) * len(window),
        )  # fmt: skip
    return call.make("divide", total, call.context.like(total, count))


def _embedding(call: Call) -> Node:
    call.only(scale_grad_by_freq=False, sparse=False)
    return call.make("take", call.node("weight"), call.node("indices"))


def _attention(call: Call) -> Node:
    """softmax(q k^T scale + mask) v"""
    call.only(dropout_p=0.0, enable_gqa=False)
    q, k, v = (call.node(name) for name in ("query", "key", "value"))
    rank = len(q.type.shape)
    batch = tuple(range(rank - 2))
    scores = call.make(
        "dot_general", q, k, lhs_batch=batch, rhs_batch=batch, lhs_contracting=(rank - 1,),
        rhs_contracting=(rank - 1,), number=call.number,
    )  # fmt: skip
    scale = call.given.get("scale") or 1 / math.sqrt(q.type.shape[-1])
    scores = call.make("multiply", scores, call.context.like(scores, scale))
    scores = _masked(call, scores, call.optional("attn_mask"), bool(call.given.get("is_causal")))
    return dot(call, call.make("softmax", scores, dimension=rank - 1), v, rank - 2)


def _masked(call: Call, scores: Node, mask: Node | None, causal: bool) -> Node:
    if causal:
        shape, last = scores.type.shape, len(scores.type.shape)
        rows, columns = (
            call.make("iota", shape=shape, number="int32", dimension=dimension)
            for dimension in (last - 2, last - 1)
        )
        kept = call.make("compare", rows, columns, direction="GE")
        return call.make("select", kept, scores, call.context.like(scores, -np.inf))
    if mask is None:
        return scores
    spread = call.spread(mask, scores.type.shape)
    if mask.type.number == "bool":
        return call.make("select", spread, scores, call.context.like(scores, -np.inf))
    return call.make("add", scores, spread)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution"), _convolution),
    **dict.fromkeys(("softmax", "_softmax"), _softmax),
    **dict.fromkeys(("log_softmax", "_log_softmax"), _log_softmax),
    **dict.fromkeys(("max_pool1d", "max_pool2d", "max_pool2d_with_indices"), _max_pool),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d"), _avg_pool),
    **dict.fromkeys(
        ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d"), _adaptive_avg_pool
    ),
    **dict.fromkeys(("batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm),
    **dict.fromkeys(("layer_norm", "native_layer_norm"), _layer_norm),
    "linear": _linear, "embedding": _embedding, "scaled_dot_product_attention": _attention,
}  # fmt: skip
