"""Ops element by element that read two values; those of one value are tables (`Lowering.value`)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from axiloom.graph import Node
from axiloom.quantise.lower.fixed import common_multipliers, multiplier, table
from axiloom.quantise.lower.lowering import Lowering, fail
from axiloom.quantise.ops.arguments import Array, Lowered, shape_of
from axiloom.quantise.ops.places import expanded, reshaped

_PRODUCT_BITS, _LONGEST = 15, 30
"""Of the factor of a product of two int8, and its shift: all of it fits 31 bits."""


def _whole_first(lowering: Lowering, node: Any) -> tuple[Node, Node, bool]:
    """Both operands, first the one that has the result's shape; whether they are swapped."""
    a, b = (lowering.real(node, argument, loose=True) for argument in node.args[:2])
    shape = shape_of(node)
    for first, second, swapped in ((a, b, False), (b, a, True)):
        if first.type.shape == shape:
            return first, second, swapped
    swapped = a.type.elements < b.type.elements
    first, second = (b, a) if swapped else (a, b)
    if first.type.elements == math.prod(shape):  # it lacks dims of one element
        return reshaped(lowering, first, shape, f"{first.place}.dims"), second, swapped
    return expanded(lowering, node, first, shape), second, swapped


def _product(lowering: Lowering, a: Node, b: Node, name: str, scale: float) -> Node:
    factor, shift = multiplier(lowering.real_step(a) * lowering.real_step(b) / scale, _PRODUCT_BITS)
    if shift > _LONGEST:
        factor, shift = factor >> (shift - _LONGEST), _LONGEST
    return lowering.add("multiply_scaled", a, b, name=name, scale=scale, factor=factor, shift=shift)


def _sum(
    lowering: Lowering,
    a: Node,
    b: Node,
    name: str,
    scale: float,
    signs: tuple[int, int] = (1, 1),
    limits: tuple[int, int] = (-128, 127),
) -> Node:
    first, second, shift = common_multipliers(lowering.real_step(a) / scale, lowering.real_step(b) / scale)
    return lowering.add(
        "add_scaled", a, b, name=name, scale=scale, first=signs[0] * first, second=signs[1] * second,
        shift=shift, low=limits[0], high=limits[1],
    )  # fmt: skip


def product(lowering: Lowering, node: Any) -> Lowered:
    """x * y of two values."""
    a, b, _ = _whole_first(lowering, node)
    return _product(lowering, a, b, lowering.name_of(node), lowering.scale(node)), node


def quotient(lowering: Lowering, node: Any) -> Lowered:
    """x / c with numbers that are known: a product with 1 / c."""
    known = lowering.known(node.args[1])
    if known is None or node.kwargs.get("rounding_mode"):
        fail(node, "only quotients by numbers that are known, and those of functions of one value")
    by = 1 / np.asarray(known, np.float64)
    if not np.isfinite(by).all():
        fail(node, "a quotient by 0")
    a, b = lowering.real(node, node.args[0]), lowering.constant(node, "divisor", by)
    if a.type.shape != shape_of(node):
        a = expanded(lowering, node, a, shape_of(node))
    return _product(lowering, a, b, lowering.name_of(node), lowering.scale(node)), node


def subtract(lowering: Lowering, node: Any) -> Lowered:
    """a - b, as a sum with a negative factor."""
    return add(lowering, node, -1)


def add(lowering: Lowering, node: Any, sign: int = 1) -> Lowered:
    if node.kwargs.get("alpha", 1) != 1:
        fail(node, "alpha other than 1 is not supported")
    a, b, swapped = _whole_first(lowering, node)
    signs = (sign, 1) if swapped else (1, sign)
    tail = lowering.tail(node)
    scale = lowering.scale(tail.last)
    return _sum(lowering, a, b, lowering.name_of(node), scale, signs, tail.limits(scale)), tail.last


def extremum(lowering: Lowering, node: Any) -> Lowered:
    """max(a, b) = b + max(a - b, 0), and min(a, b) = b + min(a - b, 0), of two values."""
    a, b, _ = _whole_first(lowering, node)
    step = lowering.real_step(a) + lowering.real_step(b)  # of their difference, whatever they are
    name, limits = lowering.name_of(node), (0, 127) if "maximum" in str(node.target) else (-128, 0)
    more = _sum(lowering, a, b, f"{name}.more", step, (1, -1), limits)
    return _sum(lowering, more, b, name, lowering.scale(node)), node


def prelu(lowering: Lowering, node: Any) -> Lowered:
    """max(x, 0) + slope * min(x, 0), one slope a channel."""
    source, name = lowering.real(node, node.args[0]), lowering.name_of(node)
    slope = lowering.parameter(node, node.args[1], "slope").reshape(-1, *[1] * (len(source.type.shape) - 2))
    step, steepest = lowering.real_step(source), float(np.abs(slope).max(initial=0.0)) or 1.0
    above, below = (
        lowering.add(
            "lookup",
            source,
            name=f"{name}.{side}",
            scale=step,
            weights={"table": table(partial(limit, 0), step, step)},
        )
        for side, limit in (("above", np.maximum), ("below", np.minimum))
    )
    weight = lowering.constant(node, "slope", slope)
    sloped = _product(lowering, below, weight, f"{name}.sloped", step * steepest)
    return _sum(lowering, above, sloped, name, lowering.scale(node)), node


def cast(lowering: Lowering, node: Any) -> Lowered:
    """Integers of the user's as int8 in steps of a scale; from one float to another, and between integers,
    nothing."""
    source, kind = lowering.value(node, node.args[0]), node.meta["val"].dtype
    scale = lowering.step(source)
    if scale is not None and kind.is_floating_point:
        return source, node
    if scale is None and not kind.is_floating_point and str(kind) != "torch.bool":
        return source, node
    if scale is not None or not source.type.shape:
        fail(node, f"to {str(kind).removeprefix('torch.')}: only from integers to float32")
    return rescaled(lowering, source, lowering.name_of(node), 0, 1.0, lowering.scale(node)), node


def rescaled(lowering: Lowering, x: Node, name: str, axis: int, step: float, scale: float) -> Node:
    """Integers worth `step` each as int8 in steps of `scale`; `axis`: one of their dims."""
    factor, shift = multiplier(step / scale)
    bias, factors, shifts = (np.full(x.type.shape[axis], value, np.int32) for value in (0, factor, shift))
    return requantised(lowering, x, name, axis, scale, bias, factors, shifts)


def requantised(
    lowering: Lowering, sums: Node, name: str, axis: int, scale: float, bias: Array, factors: Array,
    shifts: Array, limits: tuple[int, int] = (-128, 127),
) -> Node:  # fmt: skip
    """int32 sums as int8; `bias`, `factors` and `shifts` int32, one a channel along `axis`."""
    weights = {"bias": bias, "multiplier": factors, "shift": shifts}
    return lowering.add(
        "requantise", sums, name=name, scale=scale, weights=weights, dimension=axis, zero=0, low=limits[0],
        high=limits[1],
    )  # fmt: skip
