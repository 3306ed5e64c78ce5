"""Ops that choose or move elements: reshapes, transpositions, slices, padding, concatenations, lookups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from axiloom.graph import Node
from axiloom.graph.ops.checks import ints
from axiloom.quantise.lower.fixed import best_scale, table, to_int8
from axiloom.quantise.lower.lowering import Lowering, fail
from axiloom.quantise.ops.arguments import Lowered, arguments, shape_of


def reshaped(lowering: Lowering, value: Node, shape: tuple[int, ...], name: str) -> Node:
    if value.type.shape == shape:
        return value
    return lowering.add("reshape", value, name=name, scale=lowering.step(value), shape=shape)


def permuted(lowering: Lowering, value: Node, order: Sequence[int], name: str) -> Node:
    if value.op == "transpose":  # two in a row are one
        before = ints(value.attributes, "permutation")
        order = [before[dim] for dim in order]
        (value,) = value.operands
    if list(order) == sorted(order):
        return value
    scale = lowering.step(value)
    return lowering.add("transpose", value, name=name, scale=scale, permutation=tuple(order))


def reshape(lowering: Lowering, node: Any) -> Lowered:
    return reshaped(
        lowering, lowering.value(node, node.args[0]), shape_of(node), lowering.name_of(node)
    ), node


def same(lowering: Lowering, node: Any) -> Lowered:
    return lowering.value(node, node.args[0]), node


def transpose(lowering: Lowering, node: Any) -> Lowered:
    source = lowering.value(node, node.args[0])
    rank = len(source.type.shape)
    order = list(range(rank))
    if str(node.target).startswith("aten.permute"):
        order = [dim % rank for dim in node.args[1]]
    else:
        first, second = (node.args[1] % rank, node.args[2] % rank) if len(node.args) > 1 else (0, 1)
        order[first], order[second] = order[second], order[first]
    return permuted(lowering, source, order, lowering.name_of(node)), node


def cut(lowering: Lowering, node: Any) -> Lowered:
    """slice.Tensor and select.int."""
    source = lowering.value(node, node.args[0])
    rank = len(source.type.shape)
    if "select" in str(node.target):
        dim, start = node.args[1] % rank, node.args[2]
        step, size = 1, 1
    else:
        _, dim, start, _, step = arguments(node, "input", "dim", "start", "end", "step", dim=0, step=1)
        dim, step = (dim or 0) % rank, step or 1
        size = shape_of(node)[dim]
    start = start or 0
    start = max(start + source.type.shape[dim], 0) if start < 0 else start
    piece = sliced(lowering, source, dim, start, size, step, lowering.name_of(node))
    return reshaped(lowering, piece, shape_of(node), f"{piece.place}.shape"), node


def part(lowering: Lowering, node: Any) -> Lowered:
    """One result of a split, a chunk or an unbind: a slice, and without its dim for an unbind."""
    whole, number = node.args
    kind = str(whole.target)
    x, how, dim = arguments(whole, "self", "how", "dim", dim=0)
    if "unbind" in kind:
        dim = how or 0
    source = lowering.value(node, x)
    dim %= len(source.type.shape)
    sizes = [1 if "unbind" in kind else int(value.shape[dim]) for value in whole.meta["val"]]
    piece = _cut(lowering, source, dim, sum(sizes[:number]), sizes[number], 1, lowering.name_of(node))
    return reshaped(lowering, piece, shape_of(node), f"{piece.place}.shape"), node


def stack(lowering: Lowering, node: Any) -> Lowered:
    """A concatenation along a new dim."""
    rank = len(shape_of(node))
    axis = (node.args[1] if len(node.args) > 1 else 0) % rank
    name = lowering.name_of(node)
    parts = []
    for number, argument in enumerate(node.args[0]):
        value = lowering.real(node, argument)
        shape = (*value.type.shape[:axis], 1, *value.type.shape[axis:])
        parts.append(reshaped(lowering, value, shape, f"{name}.{number}"))
    return _joined(lowering, node, parts, axis)


def concat(lowering: Lowering, node: Any) -> Lowered:
    parts = [lowering.real(node, part) for part in node.args[0]]
    axis = (node.args[1] if len(node.args) > 1 else 0) % len(parts[0].type.shape)
    return _joined(lowering, node, parts, axis)


def _joined(lowering: Lowering, node: Any, parts: list[Node], axis: int) -> Lowered:
    """The parts in steps of one scale, one behind the other."""
    scale, name = lowering.scale(node), lowering.name_of(node)
    equal = [rescaled_by_table(lowering, part, scale, f"{name}.{part.place}") for part in parts]
    return lowering.add("concatenate", *equal, name=name, scale=scale, dimension=axis), node


def rescaled_by_table(lowering: Lowering, x: Node, scale: float, name: str) -> Node:
    """The same real numbers in steps of `scale`."""
    step = lowering.real_step(x)
    if step == scale:
        return x
    values = table(lambda real: real, step, scale)
    return lowering.add("lookup", x, name=name, scale=scale, weights={"table": values})


def embedding(lowering: Lowering, node: Any) -> Lowered:
    rows = lowering.parameter(node, node.args[0], "weight")
    indices = lowering.value(node, node.args[1])
    if lowering.step(indices) is not None:
        fail(node, "its indices are real numbers")
    scale, name = best_scale(rows), lowering.name_of(node)
    weights = {"weight": to_int8(rows, scale)}
    return lowering.add("embedding", indices, name=name, scale=scale, weights=weights), node


_MOST_PARTS = 1024
"""Slices that one selection may become."""


def sliced(lowering: Lowering, x: Node, dim: int, at: int, size: int, step: int, name: str) -> Node:
    """`size` elements of one dim from `at` on."""
    if (at, size, step) == (0, x.type.shape[dim], 1):
        return x
    return _cut(lowering, x, dim, at, size, step, name)


def _cut(lowering: Lowering, x: Node, dim: int, at: int, size: int, step: int, name: str) -> Node:
    start, strides, limit = [0] * len(x.type.shape), [1] * len(x.type.shape), list(x.type.shape)
    start[dim], strides[dim], limit[dim] = at, step, at + (size - 1) * step + 1
    return lowering.add(
        "slice", x, name=name, scale=lowering.step(x), start=tuple(start), limit=tuple(limit),
        strides=tuple(strides),
    )  # fmt: skip


def _runs(places: Sequence[int]) -> list[tuple[int, int, int]]:
    """Start, number and positive step of the slices that give these elements in their order."""
    runs: list[tuple[int, int, int]] = []
    at = 0
    while at < len(places):
        step = places[at + 1] - places[at] if at + 1 < len(places) else 1
        count = 1
        while step > 0 and at + count < len(places) and places[at + count] == places[at] + count * step:
            count += 1
        runs.append((places[at], count, max(step, 1)))
        at += count
    return runs


def selected(lowering: Lowering, node: Any, x: Node, dim: int, places: Sequence[int], name: str) -> Node:
    """The elements at `places` of one dim: slices, one behind the other; each one k times by copies beside
    it."""
    times = len(places) // x.type.shape[dim]
    if times > 1 and list(places) == [at for at in range(x.type.shape[dim]) for _ in range(times)]:
        shape = (*x.type.shape[: dim + 1], 1, *x.type.shape[dim + 1 :])
        column = reshaped(lowering, x, shape, f"{name}.apart")
        copies = _side_by_side(lowering, [column] * times, dim + 1, f"{name}.copies")
        wide = (*x.type.shape[:dim], len(places), *x.type.shape[dim + 1 :])
        return reshaped(lowering, copies, wide, name)
    runs = _runs(places)
    if len(runs) > _MOST_PARTS:
        fail(node, f"it would take {len(runs)} slices of `{x.place}`; accepted are {_MOST_PARTS}")
    parts = [
        sliced(lowering, x, dim, at, count, step, f"{name}.{number}" if len(runs) > 1 else name)
        for number, (at, count, step) in enumerate(runs)
    ]
    return parts[0] if len(parts) == 1 else _side_by_side(lowering, parts, dim, name)


def _side_by_side(lowering: Lowering, parts: Sequence[Node], axis: int, name: str) -> Node:
    """Parts of one scale."""
    return lowering.add("concatenate", *parts, name=name, scale=lowering.step(parts[0]), dimension=axis)


def take(lowering: Lowering, node: Any) -> Lowered:
    """index_select by indices that are known."""
    x, dim, indices = node.args
    known = lowering.known(indices)
    if known is None:
        fail(node, "its indices depend on an input")
    source = lowering.value(node, x)
    places = [int(place) for place in known.reshape(-1)]
    return selected(
        lowering, node, source, dim % len(source.type.shape), places, lowering.name_of(node)
    ), node


def flip(lowering: Lowering, node: Any) -> Lowered:
    value, name = lowering.value(node, node.args[0]), lowering.name_of(node)
    for dim in node.args[1]:
        at = dim % len(value.type.shape)
        value = selected(lowering, node, value, at, range(value.type.shape[at])[::-1], name)
    return value, node


def expanded(lowering: Lowering, node: Any, x: Node, shape: Sequence[int]) -> Node:
    """`x` in a shape that it broadcasts to."""
    name = lowering.name_of(node)
    x = reshaped(lowering, x, (*(1,) * (len(shape) - len(x.type.shape)), *x.type.shape), f"{name}.dims")
    for dim, size in enumerate(shape):
        if x.type.shape[dim] == 1 < size:
            x = selected(lowering, node, x, dim, [0] * size, f"{name}.expanded{dim}")
    return x


def expand(lowering: Lowering, node: Any) -> Lowered:
    return expanded(lowering, node, lowering.value(node, node.args[0]), shape_of(node)), node


def upsample_nearest(lowering: Lowering, node: Any) -> Lowered:
    """By sizes, or by factors as torch rounds them."""
    x, _, factors = arguments(node, "input", "output_size", "scale_factors")
    value, name = lowering.value(node, x), lowering.name_of(node)
    for number, size in enumerate(shape_of(node)[2:]):
        there = value.type.shape[2 + number]
        by = 1 / factors[number] if factors else there / size
        places = [min(int(at * np.float32(by)), there - 1) for at in range(size)]
        value = selected(lowering, node, value, 2 + number, places, f"{name}.{number}")
    return value, node


def pad(lowering: Lowering, node: Any) -> Lowered:
    """Of a constant value, or by elements of x; what is negative is cut off."""
    x, edges, mode, number = arguments(node, "input", "pad", "mode", "value", mode="constant", value=None)
    if "constant_pad_nd" in str(node.target):
        x, edges, number = arguments(node, "input", "pad", "value", value=0)
        mode = "constant"
    value, name = lowering.value(node, x), lowering.name_of(node)
    rank = len(value.type.shape)
    low, high = [0] * rank, [0] * rank
    for at in range(len(edges) // 2):
        low[rank - 1 - at], high[rank - 1 - at] = edges[2 * at], edges[2 * at + 1]
    if mode != "constant":
        how = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
        for dim in range(rank):
            if (low[dim], high[dim]) != (0, 0):
                places = np.pad(np.arange(value.type.shape[dim]), (low[dim], high[dim]), how)  # type: ignore[call-overload]
                value = selected(lowering, node, value, dim, [int(p) for p in places], f"{name}.{dim}")
        return value, node
    for dim in range(rank):
        start, stop = max(-low[dim], 0), value.type.shape[dim] - max(-high[dim], 0)
        value = sliced(lowering, value, dim, start, stop - start, 1, f"{name}.cut{dim}")
    return padded(
        lowering, node, value, [max(e, 0) for e in low], [max(e, 0) for e in high], number or 0.0
    ), node


def padded(
    lowering: Lowering, node: Any, x: Node, low: Sequence[int], high: Sequence[int], number: float
) -> Node:
    """x with a real number around it: in steps of x, but for one that x does not reach."""
    if not any((*low, *high)):
        return x
    name = lowering.name_of(node)
    step = lowering.step(x)
    if step is None:
        fail(node, "of integers")
    if math.isfinite(number) and number != 0:
        step = lowering.scale(node)
        x = rescaled_by_table(lowering, x, step, f"{name}.steps")
    value = int(np.clip(np.rint(number / step) if math.isfinite(number) else number, -128, 127))
    return lowering.add(
        "pad", x, lowering.number(value), name=f"{name}.padded", scale=step, low=tuple(low), high=tuple(high),
        interior=(0,) * len(low),
    )  # fmt: skip
