"""``windows``: what a window sees at each of its places, as dimensions of its own.

So a convolution is a product of matrices over windows, and a pooling a fold of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from axiloom.graph.graph import Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.checks import dimensions_of, ints, per_dimension, text
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read
from axiloom.graph.ops.windows import windows_of

Types = Sequence[Type]


def _result(types: Types, attributes: Attributes) -> Type:
    (x,) = types
    number(x.number).parse(text(attributes, "value"))
    dimensions = dimensions_of(x, ints(attributes, "dimensions"))
    window = per_dimension(ints(attributes, "window"), len(dimensions), "window", 1)
    counts = windows_of(attributes, len(dimensions)).counts([x.shape[i] for i in dimensions], window)
    shape = list(x.shape)
    for dimension, count in zip(dimensions, counts, strict=True):
        shape[dimension] = count
    return Type((*shape, *window), x.number)


def _evaluate(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    """A padded copy, and then positions of it."""
    (x,) = arrays
    dimensions, window = ints(attributes, "dimensions"), ints(attributes, "window")
    places, result = windows_of(attributes, len(dimensions)), _result(types, attributes).shape
    outside = number(types[0].number).parse(text(attributes, "value"))
    result_array = np.broadcast_to(outside, result).copy()
    for position in np.ndindex(*window):
        to, source = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        for d, (dimension, k) in enumerate(zip(dimensions, position, strict=True)):
            met = places.meeting(d, x.shape[dimension], result[dimension], k)
            if met is None:
                break
            to[dimension], source[dimension] = met
        else:
            result_array[(*to, *position)] = x[tuple(source)]
    return result_array


def _element(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    (x,) = types
    dimensions, rank = ints(attributes, "dimensions"), len(x.shape)
    met = [(index[dimension], index[rank + d]) for d, dimension in enumerate(dimensions)]

    def read(where: Index) -> Any:
        at = list(index[:rank])
        for dimension, coordinate in zip(dimensions, where, strict=True):
            at[dimension] = coordinate
        return reads[0](at)

    return windows_of(attributes, len(dimensions)).inside(
        algebra,
        met,
        [x.shape[dimension] for dimension in dimensions],
        read,
        lambda: algebra.apply(f"literal:{x.number}:{attributes['value']}"),
    )


OPS = (
    Op(
        "windows", 1, _result, _evaluate, _element,
        {
            "dimensions": tuple, "window": tuple, "strides": tuple, "padding": tuple, "dilation": tuple,
            "value": str,
        },
        "along `dimensions`, what a window sees at each place: places where the dimensions were, then the "
        "window; padding lo0 hi0 lo1 hi1 ... is `value`",
    ),
)  # fmt: skip
