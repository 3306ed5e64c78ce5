"""Operations that move elements: any number, no arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.ops.checks import (
    dimensions_of,
    ints,
    need,
    per_dimension,
)
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read

Types = Sequence[Type]


def _reshaped(types: Types, attributes: Attributes) -> Type:
    shape = per_dimension(ints(attributes, "shape"), len(ints(attributes, "shape")), "shape", 0)
    result = Type(shape, types[0].number)
    need(
        result.elements == types[0].elements,
        f"{types[0]} has {types[0].elements} elements, not {result.elements}",
    )
    return result


def groups(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[range, range]]:
    """Runs of dimensions that become each other, as small as they can be. A size may be unknown: then it
    says what is certain of it (`axiloom.selection.rules.prove.context`)."""
    runs: list[tuple[range, range]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        first, second = i, j
        i, j = min(i + 1, len(before)), min(j + 1, len(after))
        while not _same(before[first:i], after[second:j]) and (i < len(before) or j < len(after)):
            grow = j == len(after) or (
                i < len(before) and _certain(_product(before[first:i]) < _product(after[second:j]))
            )
            i, j = (i + 1, j) if grow else (i, j + 1)
        runs.append((range(first, i), range(second, j)))
    return runs


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


def _reshape(_: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes) -> Any:
    before, after = types[0].shape, ints(attributes, "shape")
    at: list[Any] = [0] * len(before)
    for source, target in groups(before, after):
        position = flat([index[i] for i in target], [after[i] for i in target])
        for dimension, coordinate in zip(source, unflat(position, [before[i] for i in source]), strict=True):
            at[dimension] = coordinate
    return reads[0](at)


def _transposed(types: Types, attributes: Attributes) -> Type:
    permutation = dimensions_of(types[0], ints(attributes, "permutation"))
    need(
        len(permutation) == len(types[0].shape),
        f"permutation {permutation} of {len(types[0].shape)} dimensions",
    )
    return Type(tuple(types[0].shape[i] for i in permutation), types[0].number)


def _transpose(_: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes) -> Any:
    at: list[Any] = [0] * len(index)
    for here, there in zip(index, ints(attributes, "permutation"), strict=True):
        at[there] = here
    return reads[0](at)


def _spread(types: Types, attributes: Attributes) -> Type:
    shape, dimensions = ints(attributes, "shape"), ints(attributes, "dimensions")
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


def _spread_array(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    shape, dimensions = ints(attributes, "shape"), ints(attributes, "dimensions")
    order = sorted(range(len(dimensions)), key=dimensions.__getitem__)
    along = [1] * len(shape)
    for size, there in zip(types[0].shape, dimensions, strict=True):
        along[there] = size
    return np.broadcast_to(arrays[0].transpose(order).reshape(along), shape)


def _broadcast(_: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes) -> Any:
    """An unknown size is taken for the result's, not for 1."""
    sizes = types[0].shape
    return reads[0](
        [0 if _is_one(sizes[i]) else index[there] for i, there in enumerate(ints(attributes, "dimensions"))]
    )


def _is_one(size: Any) -> bool:
    return _certain(size == 1)


def _same_type(types: Types, attributes: Attributes) -> Type:
    dimensions_of(types[0], ints(attributes, "dimensions"))
    return types[0]


def _reverse(_: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes) -> Any:
    turned = ints(attributes, "dimensions")
    return reads[0](
        [
            n - 1 - at if i in turned else at
            for i, (at, n) in enumerate(zip(index, types[0].shape, strict=True))
        ]
    )


OPS = (
    Op(
        "reshape", 1, _reshaped,
        lambda arrays, _, attributes: arrays[0].reshape(ints(attributes, "shape")), _reshape,
        {"shape": tuple}, "the same elements in row-major order",
    ),
    Op(
        "transpose", 1, _transposed,
        lambda arrays, _, attributes: arrays[0].transpose(ints(attributes, "permutation")), _transpose,
        {"permutation": tuple}, "dimension i of the result is dimension permutation[i] of the operand",
    ),
    Op(
        "broadcast_in_dim", 1, _spread, _spread_array, _broadcast, {"shape": tuple, "dimensions": tuple},
        "dimension i of the operand is dimension dimensions[i] of the result; a size of 1 is repeated",
    ),
    Op(
        "reverse", 1, _same_type,
        lambda arrays, _, attributes: np.flip(arrays[0], ints(attributes, "dimensions")), _reverse,
        {"dimensions": tuple}, "the order along these dimensions",
    ),
)  # fmt: skip
