"""Operations that move elements: any number, no arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from axiloom.selection.ir.graph import Type
from axiloom.selection.ir.ops.checks import (
    dimension_of,
    dimensions_of,
    integer,
    ints,
    need,
    per_dimension,
)
from axiloom.selection.ir.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read

Types = Sequence[Type]


def _reshaped(types: Types, given: Attributes) -> Type:
    shape = per_dimension(ints(given, "shape"), len(ints(given, "shape")), "shape", 0)
    result = Type(shape, types[0].number)
    need(
        result.elements == types[0].elements,
        f"{types[0]} has {types[0].elements} elements, not {result.elements}",
    )
    return result


def groups(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[range, range]]:
    """Runs of dimensions that become each other, as small as they can be. A size may be unknown: then it
    says what is certain of it (`axiloom.selection.rules.prove.context`)."""
    found: list[tuple[range, range]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        first, second = i, j
        i, j = min(i + 1, len(before)), min(j + 1, len(after))
        while not _same(before[first:i], after[second:j]) and (i < len(before) or j < len(after)):
            grow = j == len(after) or (
                i < len(before) and _certain(_product(before[first:i]) < _product(after[second:j]))
            )
            i, j = (i + 1, j) if grow else (i, j + 1)
        found.append((range(first, i), range(second, j)))
    return found


def _product(sizes: Sequence[Any]) -> Any:
    return prod(sizes)


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return _certain(_product(a) == _product(b))


def _certain(condition: Any) -> bool:
    """Whether it holds whatever the sizes are."""
    return condition if isinstance(condition, bool) else bool(condition.certain)


def flat(index: Sequence[Any], sizes: Sequence[Any]) -> Any:
    """The position in row-major order."""
    result: Any = 0
    for at, size in zip(index, sizes, strict=True):
        result = at if isinstance(result, int) and result == 0 else result * size + at
    return result


def unflat(position: Any, sizes: Sequence[Any]) -> list[Any]:
    """The index of a position in row-major order."""
    result: list[Any] = []
    for size in reversed(sizes[1:]):
        result.append(position % size)
        position = position // size
    return [*([position] if sizes else []), *reversed(result)]


def _reshape(_: Algebra, reads: Sequence[Read], index: Index, types: Types, given: Attributes) -> Any:
    before, after = types[0].shape, ints(given, "shape")
    at: list[Any] = [0] * len(before)
    for source, target in groups(before, after):
        position = flat([index[i] for i in target], [after[i] for i in target])
        for dimension, one in zip(source, unflat(position, [before[i] for i in source]), strict=True):
            at[dimension] = one
    return reads[0](at)


def _transposed(types: Types, given: Attributes) -> Type:
    permutation = dimensions_of(types[0], ints(given, "permutation"))
    need(
        len(permutation) == len(types[0].shape),
        f"permutation {permutation} of {len(types[0].shape)} dimensions",
    )
    return Type(tuple(types[0].shape[i] for i in permutation), types[0].number)


def _transpose(_: Algebra, reads: Sequence[Read], index: Index, types: Types, given: Attributes) -> Any:
    at: list[Any] = [0] * len(index)
    for here, there in zip(index, ints(given, "permutation"), strict=True):
        at[there] = here
    return reads[0](at)


def _spread(types: Types, given: Attributes) -> Type:
    shape, dimensions = ints(given, "shape"), ints(given, "dimensions")
    result = Type(per_dimension(shape, len(shape), "shape", 0), types[0].number)
    need(
        len(dimensions) == len(types[0].shape),
        f"dimensions has {len(dimensions)} entries for an operand of {len(types[0].shape)} dimensions",
    )
    for size, there in zip(types[0].shape, dimensions_of(result, dimensions), strict=True):
        need(
            size in (1, shape[there]), f"an operand of {size} cannot fill dimension {there} of {shape[there]}"
        )
    return result


def _spread_array(arrays: Arrays, types: Types, given: Attributes) -> Array:
    shape, dimensions = ints(given, "shape"), ints(given, "dimensions")
    order = sorted(range(len(dimensions)), key=dimensions.__getitem__)
    along = [1] * len(shape)
    for size, there in zip(types[0].shape, dimensions, strict=True):
        along[there] = size
    return np.broadcast_to(arrays[0].transpose(order).reshape(along), shape)


def _broadcast(_: Algebra, reads: Sequence[Read], index: Index, types: Types, given: Attributes) -> Any:
    """An unknown size is taken for the result's, not for 1."""
    sizes = types[0].shape
    return reads[0](
        [0 if _is_one(sizes[i]) else index[there] for i, there in enumerate(ints(given, "dimensions"))]
    )


def _is_one(size: Any) -> bool:
    return _certain(size == 1)


def _sliced(types: Types, given: Attributes) -> Type:
    rank = len(types[0].shape)
    starts = per_dimension(ints(given, "start"), rank, "start", 0)
    strides = per_dimension(ints(given, "strides"), rank, "strides", 1)
    limits = per_dimension(ints(given, "limit"), rank, "limit", 0)
    for start, limit, size in zip(starts, limits, types[0].shape, strict=True):
        need(start <= limit <= size, f"a slice from {start} to {limit} of {size}")
    shape = (-(-(b - a) // s) for a, b, s in zip(starts, limits, strides, strict=True))
    return Type(tuple(shape), types[0].number)


def _slice_array(arrays: Arrays, _: Types, given: Attributes) -> Array:
    parts = zip(ints(given, "start"), ints(given, "limit"), ints(given, "strides"), strict=True)
    return np.asarray(arrays[0][tuple(slice(*one) for one in parts)])


def _slice(_: Algebra, reads: Sequence[Read], index: Index, __: Types, given: Attributes) -> Any:
    parts = zip(index, ints(given, "start"), ints(given, "strides"), strict=True)
    return reads[0]([at * stride + start for at, start, stride in parts])


def _joined(types: Types, given: Attributes) -> Type:
    at = dimension_of(types[0], integer(given, "dimension"))
    first = types[0]
    for one in types[1:]:
        same = one.number == first.number and len(one.shape) == len(first.shape)
        rest = [a == b for i, (a, b) in enumerate(zip(one.shape, first.shape, strict=False)) if i != at]
        need(same and all(rest), f"{first} and {one} along dimension {at}")
    return Type(
        (*first.shape[:at], sum(one.shape[at] for one in types), *first.shape[at + 1 :]), first.number
    )


def _concatenate(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, given: Attributes
) -> Any:
    along = integer(given, "dimension")

    def part(number: int, position: Any) -> Any:
        def here() -> Any:
            return reads[number]([*index[:along], position, *index[along + 1 :]])

        if number == len(reads) - 1:
            return here()
        size = types[number].shape[along]
        return algebra.choose(position < size, here, lambda: part(number + 1, position - size))

    return part(0, index[along])


def _padded(types: Types, given: Attributes) -> Type:
    value, rank = types[1], len(types[0].shape)
    need(
        value == Type((), types[0].number),
        f"the padding is a {types[0].number} without dimensions, not {value}",
    )
    low, high = ints(given, "low"), ints(given, "high")
    need(len(low) == len(high) == rank, f"low and high have {len(low)} and {len(high)} entries, not {rank}")
    interior = per_dimension(ints(given, "interior"), rank, "interior", 0)
    sizes = zip(types[0].shape, low, high, interior, strict=True)
    shape = tuple(a + n + max(n - 1, 0) * i + b for n, a, b, i in sizes)
    need(all(one >= 0 for one in shape), f"padding {low}, {high} leaves {shape}")
    return Type(shape, types[0].number)


def _pad_array(arrays: Arrays, types: Types, given: Attributes) -> Array:
    """Negative padding cuts."""
    low = ints(given, "low")
    steps = [one + 1 for one in ints(given, "interior")]
    result = np.full(_padded(types, given).shape, arrays[1])
    source, target = [], []
    for size, start, step, room in zip(types[0].shape, low, steps, result.shape, strict=True):
        first = max(0, -(start // step))
        last = max(first, min(size, -(-(room - start) // step)))
        source.append(slice(first, last))
        target.append(
            slice(start + first * step, start + first * step + max(0, (last - first) * step - step + 1), step)
        )
    if all(one.stop > one.start for one in source):
        result[tuple(target)] = arrays[0][tuple(source)]
    return result


def _pad(algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, given: Attributes) -> Any:
    low, interior = ints(given, "low"), ints(given, "interior")

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


def _same_type(types: Types, given: Attributes) -> Type:
    dimensions_of(types[0], ints(given, "dimensions"))
    return types[0]


def _reverse(_: Algebra, reads: Sequence[Read], index: Index, types: Types, given: Attributes) -> Any:
    turned = ints(given, "dimensions")
    return reads[0](
        [
            n - 1 - at if i in turned else at
            for i, (at, n) in enumerate(zip(index, types[0].shape, strict=True))
        ]
    )


OPS = (
    Op(
        "reshape", 1, _reshaped, lambda arrays, _, given: arrays[0].reshape(ints(given, "shape")), _reshape,
        {"shape": tuple}, "the same elements in row-major order",
    ),
    Op(
        "transpose", 1, _transposed,
        lambda arrays, _, given: arrays[0].transpose(ints(given, "permutation")), _transpose,
        {"permutation": tuple}, "dimension i of the result is dimension permutation[i] of the operand",
    ),
    Op(
        "broadcast_in_dim", 1, _spread, _spread_array, _broadcast, {"shape": tuple, "dimensions": tuple},
        "dimension i of the operand is dimension dimensions[i] of the result; a size of 1 is repeated",
    ),
    Op(
        "slice", 1, _sliced, _slice_array, _slice, {"start": tuple, "limit": tuple, "strides": tuple},
        "from start to below limit",
    ),
    Op(
        "concatenate", None, _joined,
        lambda arrays, _, given: np.concatenate(arrays, integer(given, "dimension")), _concatenate,
        {"dimension": int}, "one after the other along a dimension",
    ),
    Op(
        "pad", 2, _padded, _pad_array, _pad, {"low": tuple, "high": tuple, "interior": tuple},
        "x and a scalar: low before, high behind, interior between elements; what is negative cuts",
    ),
    Op(
        "reverse", 1, _same_type,
        lambda arrays, _, given: np.flip(arrays[0], ints(given, "dimensions")), _reverse,
        {"dimensions": tuple}, "the order along these dimensions",
    ),
)  # fmt: skip
