"""``convolution``: images and kernels of any order of dimensions, strided, padded, dilated, in groups.

``dims`` says what dimensions are, as HLO's text does: ``b01f_01io->b01f`` for NHWC images, HWIO kernels and
NHWC results; ``bf01_oi01->bf01`` for NCHW. `padding` holds low and high for each spatial dimension: lo0,
hi0, lo1, hi1; negative padding cuts. As in StableHLO the kernel is not turned round.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from axiloom.graph.graph import GraphError, Type
from axiloom.graph.numbers import accumulator
from axiloom.graph.ops import windows
from axiloom.graph.ops.checks import integer, ints, need, rank_of, text
from axiloom.graph.ops.contract import product_number, sum_of_products, wide
from axiloom.graph.ops.op import Algebra, Array, Arrays, Attributes, Index, Op, Read
from axiloom.graph.ops.sums import products
from axiloom.graph.ops.windows import Windows

Types = Sequence[Type]


@dataclass(frozen=True)
class Dims:
    """Where dimensions lie: batch, feature and spatial ones of image, kernel (output, input) and result."""

    batch: int
    feature: int
    spatial: tuple[int, ...]
    kernel_out: int
    kernel_in: int
    kernel_spatial: tuple[int, ...]
    result_batch: int
    result_feature: int
    result_spatial: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.spatial)


@cache
def dims_of(text_: str) -> Dims:
    """Raises GraphError."""
    match = re.fullmatch(r"([bf\d]+)_([io\d]+)->([bf\d]+)", text_)
    if match is None:
        raise GraphError(f"dims `{text_[:40]}`: such as b01f_01io->b01f is needed")
    image, kernel, result = match.groups()
    digits = [str(i) for i in range(len(image) - 2)]
    wanted = (("bf", image), ("io", kernel), ("bf", result))
    need(len(digits) <= 8, f"dims `{text_[:40]}`: {len(digits)} spatial dimensions, at most 8")
    for letters, part in wanted:
        need(
            sorted(part) == sorted([*letters, *digits]),
            f"dims `{text_[:40]}`: {part} is not {letters} and digits",
        )
    spatial = [tuple(part.index(digit) for digit in digits) for _, part in wanted]
    return Dims(
        image.index("b"), image.index("f"), spatial[0],
        kernel.index("o"), kernel.index("i"), spatial[1],
        result.index("b"), result.index("f"), spatial[2],
    )  # fmt: skip


def windows_of(attributes: Attributes, rank: int) -> Windows:
    return windows.windows_of(attributes, rank, ints(attributes, "lhs_dilation"), "rhs_dilation")


def _result(types: Types, attributes: Attributes) -> Type:
    image, kernel = types
    dims, groups = dims_of(text(attributes, "dims")), integer(attributes, "feature_group_count")
    rank_of(image, dims.rank + 2, "the image")
    rank_of(kernel, dims.rank + 2, "the kernel")
    need(groups >= 1, f"feature_group_count {groups}")
    taken, filters = kernel.shape[dims.kernel_in], kernel.shape[dims.kernel_out]
    features = image.shape[dims.feature]
    need(
        taken * groups == features, f"a kernel of {taken} features in {groups} groups, an image of {features}"
    )
    need(filters % groups == 0, f"{filters} kernels in {groups} groups")
    sizes, window = [image.shape[i] for i in dims.spatial], [kernel.shape[i] for i in dims.kernel_spatial]
    need(all(window) and taken > 0, "a sum over nothing")
    counts = windows_of(attributes, dims.rank).counts(sizes, window)
    shape = [0] * (dims.rank + 2)
    shape[dims.result_batch], shape[dims.result_feature] = image.shape[dims.batch], filters
    for i, count in zip(dims.result_spatial, counts, strict=True):
        shape[i] = count
    return Type(tuple(shape), product_number(types, attributes).name)


def _evaluate(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    """One product of matrices, whose rows are what windows see."""
    dims, groups = dims_of(text(attributes, "dims")), integer(attributes, "feature_group_count")
    target = product_number(types, attributes)
    image, kernel = arrays
    image = image.transpose([dims.batch, *dims.spatial, dims.feature])
    kernel = kernel.transpose([*dims.kernel_spatial, dims.kernel_in, dims.kernel_out])
    *window, taken, filters = kernel.shape
    result_shape = _result(types, attributes).shape
    batch, counts = image.shape[0], [result_shape[i] for i in dims.result_spatial]
    places = windows_of(attributes, dims.rank)
    seen = np.zeros((batch, *counts, prod(window), groups, taken), image.dtype)
    for number, position in enumerate(product(*map(range, window))):
        met = [places.meeting(d, image.shape[d + 1], counts[d], k) for d, k in enumerate(position)]
        spans = [span for span in met if span is not None]
        if len(spans) == dims.rank:  # else no window meets the image here: zeros
            to, source = (tuple(span[side] for span in spans) for side in (0, 1))
            part = image[(slice(None), *source)]
            seen[..., number, :, :][(slice(None), *to)] = part.reshape(*part.shape[:-1], groups, taken)
    rows = np.moveaxis(seen, -2, 0).reshape(groups, -1, prod(window) * taken)
    columns = np.moveaxis(kernel.reshape(-1, groups, filters // groups), 1, 0)
    a, b = (wide(values, type_.number, target) for values, type_ in zip((rows, columns), types, strict=True))
    sums = products(a, b, accumulator(target))
    flat = target.encode(np.moveaxis(sums, 0, 1).reshape(batch, *counts, filters))
    back = np.argsort([dims.result_batch, *dims.result_spatial, dims.result_feature])
    return np.asarray(flat.transpose(back))


def _element(
    algebra: Algebra, reads: Sequence[Read], index: Index, types: Types, attributes: Attributes
) -> Any:
    dims, groups = dims_of(text(attributes, "dims")), integer(attributes, "feature_group_count")
    image, kernel = types
    taken, filters = kernel.shape[dims.kernel_in], kernel.shape[dims.kernel_out]
    out = index[dims.result_feature]
    window = [kernel.shape[i] for i in dims.kernel_spatial]
    places, sizes = windows_of(attributes, dims.rank), [image.shape[i] for i in dims.spatial]
    numbers = (image.number, kernel.number, text(attributes, "number"))

    def read(where: Index, feature: Any) -> Any:
        at: list[Any] = [0] * len(index)
        at[dims.batch] = index[dims.result_batch]
        at[dims.feature] = feature if groups == 1 else out // (filters // groups) * taken + feature
        for i, coordinate in zip(dims.spatial, where, strict=True):
            at[i] = coordinate
        return reads[0](at)

    def pair(k: Index) -> tuple[Any, Any]:
        *position, feature = k
        at: list[Any] = [0] * len(index)
        at[dims.kernel_out], at[dims.kernel_in] = out, feature
        for i, coordinate in zip(dims.kernel_spatial, position, strict=True):
            at[i] = coordinate
        met = [(index[i], coordinate) for i, coordinate in zip(dims.result_spatial, position, strict=True)]
        x = places.inside(
            algebra,
            met,
            sizes,
            lambda where: read(where, feature),
            lambda: algebra.apply(f"literal:{image.number}:0"),
        )
        return x, reads[1](at)

    return sum_of_products(algebra, [*window, taken], numbers, pair)


OPS = (
    Op(
        "convolution", 2, _result, _evaluate, _element,
        {
            "dims": str, "strides": tuple, "padding": tuple, "lhs_dilation": tuple, "rhs_dilation": tuple,
            "feature_group_count": int, "number": str,
        },
        "image and kernel; operands are converted to `number` first",
    ),
)  # fmt: skip
