"""Operations that take parts of tensors and put tensors together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.ops.checks import (
    dimension_of,
    integer,
    ints,
    need,
    per_dimension,
)
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read

Types = Sequence[Type]


def _sliced(types: Types, attributes: Attributes) -> Type:
    rank = len(types[0].shape)
    starts = per_dimension(ints(attributes, "start"), rank, "start", 0)
    strides = per_dimension(ints(attributes, "strides"), rank, "strides", 1)
    limits = per_dimension(ints(attributes, "limit"), rank, "limit", 0)
    for start, limit, size in zip(starts, limits, types[0].shape, strict=True):
        need(start <= limit <= size, f"a slice from {start} to {limit} of {size}")
    shape = (-(-(b - a) // s) for a, b, s in zip(starts, limits, strides, strict=True))
    return Type(tuple(shape), types[0].number)


def _slice_array(arrays: Arrays, _: Types, attributes: Attributes) -> Array:
    parts = zip(
        ints(attributes, "start"), ints(attributes, "limit"), ints(attributes, "strides"), strict=True
    )
    return np.asarray(arrays[0][tuple(slice(*part) for part in parts)])


def _slice(_: Algebra, reads: Sequence[Read], index: Index, __: Types, attributes: Attributes) -> Any:
    parts = zip(index, ints(attributes, "start"), ints(attributes, "strides"), strict=True)
    return reads[0]([at * stride + start for at, start, stride in parts])


def _joined(types: Types, attributes: Attributes) -> Type:
    at = dimension_of(types[0], integer(attributes, "dimension"))
    first = types[0]
    for type_ in types[1:]:
        same = type_.number == first.number and len(type_.shape) == len(first.shape)
        rest = [a == b for i, (a, b) in enumerate(zip(type_.shape, first.shape, strict=False)) if i != at]
        need(same and all(rest), f"{first} and {type_} along dimension {at}")
    return Type(
        (*first.shape[:at], sum(type_.shape[at] for type_ in types), *first.shape[at + 1 :]), first.number
    )


def _concatenate(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    along = integer(attributes, "dimension")

    def part(number: int, position: Any) -> Any:
        def here() -> Any:
            return reads[number]([*index[:along], position, *index[along + 1 :]])

        if number == len(reads) - 1:
            return here()
        size = types[number].shape[along]
        return algebra.choose(position < size, here, lambda: part(number + 1, position - size))

    return part(0, index[along])


def _padded(types: Types, attributes: Attributes) -> Type:
    value, rank = types[1], len(types[0].shape)
    need(
        value == Type((), types[0].number),
        f"the padding is a {types[0].number} without dimensions, not {value}",
    )
    low, high = ints(attributes, "low"), ints(attributes, "high")
    need(len(low) == len(high) == rank, f"low and high have {len(low)} and {len(high)} entries, not {rank}")
    interior = per_dimension(ints(attributes, "interior"), rank, "interior", 0)
    sizes = zip(types[0].shape, low, high, interior, strict=True)
    shape = tuple(a + n + max(n - 1, 0) * i + b for n, a, b, i in sizes)
    need(all(size >= 0 for size in shape), f"padding {low}, {high} leaves {shape}")
    return Type(shape, types[0].number)


def _pad_array(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    """Negative padding cuts."""
    low = ints(attributes, "low")
    steps = [gap + 1 for gap in ints(attributes, "interior")]
    result = np.full(_padded(types, attributes).shape, arrays[1])
    source, target = [], []
    for size, start, step, room in zip(types[0].shape, low, steps, result.shape, strict=True):
        first = max(0, -(start // step))
        last = max(first, min(size, -(-(room - start) // step)))
        source.append(slice(first, last))
        target.append(
            slice(start + first * step, start + first * step + max(0, (last - first) * step - step + 1), step)
        )
    if all(part.stop > part.start for part in source):
        result[tuple(target)] = arrays[0][tuple(source)]
    return result


def _pad(algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes) -> Any:
    low, interior = ints(attributes, "low"), ints(attributes, "interior")

    def from_dimension(d: int) -> Any:
        if d == len(index):
            return reads[0](_inside(index, low, interior))
        inside = index[d] - low[d]
        step = interior[d] + 1
        last = (types[0].shape[d] - 1) * step
        return algebra.choose(
            inside >= 0,
            lambda: algebra.choose(
                inside <= last,
                lambda: (
                    from_dimension(d + 1)
                    if step == 1
                    else algebra.choose(inside % step == 0, lambda: from_dimension(d + 1), outside)
                ),
                outside,
            ),
            outside,
        )

    def outside() -> Any:
        return reads[1](())

    return from_dimension(0)


def _inside(index: Index, low: Sequence[int], interior: Sequence[int]) -> list[Any]:
    parts = zip(index, low, interior, strict=True)
    return [(i - a) if between == 0 else (i - a) // (between + 1) for i, a, between in parts]


OPS = (
    Op(
        "slice", 1, _sliced, _slice_array, _slice, {"start": tuple, "limit": tuple, "strides": tuple},
        "from start to below limit",
    ),
    Op(
        "concatenate", None, _joined,
        lambda arrays, _, attributes: np.concatenate(arrays, integer(attributes, "dimension")), _concatenate,
        {"dimension": int}, "one after the other along a dimension",
    ),
    Op(
        "pad", 2, _padded, _pad_array, _pad, {"low": tuple, "high": tuple, "interior": tuple},
        "x and a scalar: low before, high behind, interior between elements; what is negative cuts",
    ),
)  # fmt: skip
