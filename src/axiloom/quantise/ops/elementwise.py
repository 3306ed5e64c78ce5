"""Ops element by element: sums of two values, known factors, functions by table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from axiloom.quantise.graph.fixed import common_multipliers, multiplier, table
from axiloom.quantise.graph.graph import Add, Mul, Node, Reshape, Table
from axiloom.quantise.graph.lower import Lowering, fail, limits_of
from axiloom.quantise.ops.arguments import Array, Handler, Lowered, shape_of
from axiloom.quantise.ops.places import reshaped

_PRODUCT_BITS, _LONGEST = 15, 30
"""Of the factor of a product of two int8, and its shift: all of it fits 31 bits."""


def _whole_first(lowering: Lowering, node: Any) -> tuple[Node, Node, bool]:
    """Both operands, first the one that has the result's shape; whether they are swapped."""
    a, b = (lowering.value(node, argument) for argument in node.args[:2])
    shape = shape_of(node)
    for first, second, swapped in ((a, b, False), (b, a, True)):
        if first.shape == shape:
            return first, second, swapped
    swapped = math.prod(a.shape) < math.prod(b.shape)
    first, second = (b, a) if swapped else (a, b)
    if math.prod(first.shape) != math.prod(shape):
        fail(node, f"{list(a.shape)} and {list(b.shape)}: only one of the two may be broadcast")
    # It lacks dims of one element.
    return reshaped(lowering, first, shape, f"{first.name}.dims"), second, swapped


def product(lowering: Lowering, node: Any) -> Lowered:
    """x * y of two values; with a known positive number the same integers, worth more or less."""
    if any(lowering.known(one) is not None for one in node.args[:2]):
        known = lowering.known(node.args[1])
        if known is not None and getattr(known, "numel", lambda: 1)() == 1 and float(known) > 0:
            return scaled(lowering, node)
    a, b, _ = _whole_first(lowering, node)
    assert a.scale is not None
    assert b.scale is not None
    scale = lowering.scale(node)
    factor, shift = multiplier(a.scale * b.scale / scale, _PRODUCT_BITS)
    if shift > _LONGEST:
        factor, shift = factor >> (shift - _LONGEST), _LONGEST
    made = Mul(
        name=lowering.name_of(node),
        shape=a.shape,
        inputs=(a.name, b.name),
        scale=scale,
        factor=factor,
        shift=shift,
    )
    return lowering.add(made), node


def subtract(lowering: Lowering, node: Any) -> Lowered:
    """a - b, as a sum with a negative factor."""
    return add(lowering, node, -1)


def add(lowering: Lowering, node: Any, sign: int = 1) -> Lowered:
    if node.kwargs.get("alpha", 1) != 1:
        fail(node, "alpha other than 1 is not supported")
    a, b, swapped = _whole_first(lowering, node)
    signs = (sign, 1) if swapped else (1, sign)
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
        first=signs[0] * first,
        second=signs[1] * second,
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


def by_table(function: Callable[[Array], Array]) -> Handler:
    """The handler of an op that is a function of one element."""

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
    return by_table(lambda x: np.clip(x, low, high))(lowering, node)


def gelu(lowering: Lowering, node: Any) -> Lowered:
    approximate = node.kwargs.get("approximate", node.args[1] if len(node.args) > 1 else "none")
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi)
        return by_table(lambda x: x / 2 * (1 + np.tanh(inner * (x + 0.044715 * x**3))))(lowering, node)
    erf = np.vectorize(math.erf)
    return by_table(lambda x: x / 2 * (1 + erf(x / math.sqrt(2))))(lowering, node)
