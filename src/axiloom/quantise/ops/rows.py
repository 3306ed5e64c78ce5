"""Ops over the last dim, whose sums must fit 32 bits: softmax and layer norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from axiloom.graph.numbers import number
from axiloom.graph.ops.quantised import NORM_BITS
from axiloom.quantise.lower.fixed import LONGEST_COMMON_SHIFT
from axiloom.quantise.lower.lowering import Lowering, fail
from axiloom.quantise.ops.arguments import Lowered, arguments, shape_of
from axiloom.quantise.ops.places import permuted, reshaped

_LONGEST_NORM = 1 << 13
"""Elements that a layer norm may run over, so that its sums fit 32 bits."""

_EXP_BITS = 14
"""Fraction of an exponential."""


def softmax(lowering: Lowering, node: Any) -> Lowered:
    source, scale, name = lowering.real(node, node.args[0]), lowering.scale(node), lowering.name_of(node)
    rank = len(source.type.shape)
    dim, order = node.args[1] % rank, list(range(rank))
    order[dim], order[-1] = order[-1], order[dim]
    source = permuted(lowering, source, order, f"{name}.turned")
    if scale < 2.0**-30:
        fail(node, "its values on the calibration data are too small")
    powers = np.rint(2.0**_EXP_BITS * np.exp(-lowering.real_step(source) * np.arange(256))).astype(np.int32)
    shift = 30 - math.ceil(math.log2(1 / scale))
    if (count := source.type.shape[-1]) > 1 << (30 - _EXP_BITS):
        fail(node, f"over {count} elements: the sum of their exponentials does not fit 32 bits")
    normalised = lowering.add(
        "softmax_int8", source, name=name, scale=scale, weights={"table": powers},
        numerator=round(2**shift / scale), shift=shift,
    )  # fmt: skip
    return permuted(lowering, normalised, order, f"{name}.back"), node


def layer_norm(lowering: Lowering, node: Any) -> Lowered:
    x, shape, gain, offset, epsilon = arguments(
        node, "input", "normalized_shape", "weight", "bias", "eps", eps=1e-5
    )
    n, name = math.prod(shape), lowering.name_of(node)
    source = lowering.real(node, x)
    if n > _LONGEST_NORM:
        fail(node, f"over {list(shape)}: only over at most {_LONGEST_NORM} elements")
    source = reshaped(lowering, source, (*source.type.shape[: -len(shape)], n), f"{name}.rows")
    scale = lowering.scale(node)
    gains = np.ones(n) if gain is None else lowering.parameter(node, gain, "weight").ravel()
    offsets = np.zeros(n) if offset is None else lowering.parameter(node, offset, "bias").ravel()
    # A normalised value is at most sqrt(n): its product with the gain, and the offset, each stay in 30 bits.
    largest = max(2.0**-9, float(np.abs(gains).max()) * math.sqrt(n), float(np.abs(offsets).max())) / scale
    shift = min(LONGEST_COMMON_SHIFT, math.floor(29 - math.log2(largest)))
    if shift < 0:
        fail(node, "its weight is too large for what calibration saw of its result")
    half = (1 << shift) >> 1
    normalised = lowering.add(
        "layer_norm_int8", source, name=name, scale=scale, shift=shift,
        epsilon=number("float32").text(max(epsilon * n * n / lowering.real_step(source) ** 2, 2.0**-13)),
        weights={
            "gain": np.rint(gains / scale / 2**NORM_BITS * 2**shift).astype(np.int32),
            "offset": (np.rint(offsets / scale * 2**shift).astype(np.int32) + half).astype(np.int32),
        },
    )  # fmt: skip
    return reshaped(lowering, normalised, shape_of(node), f"{name}.shape"), node
