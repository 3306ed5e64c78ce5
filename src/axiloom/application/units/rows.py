"""Products with weights as matrices: rows (n, inputs) times (outputs, inputs) transposed, and a vector added.

Dense layers are that. A convolution in one group is it on its windows (im2col): a row for each place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from axiloom.application.units.counts import Array
from axiloom.graph.graph import Node
from axiloom.graph.ops.convolution import dims_of, windows_of


@dataclass(frozen=True)
class Product:
    """`x` (n, inputs), `w` (outputs, inputs), `b` (outputs)."""

    x: Array
    w: Array
    b: Array


@dataclass(frozen=True)
class Match:
    """A product in a graph: nodes that are inside, and operands x, w and perhaps b."""

    inside: tuple[Node, ...]
    operands: tuple[Node, ...]


def find(node: Node, uses: Mapping[int, int]) -> Match | str | None:
    """The product that ends in `node`, with its bias if one is added; why it is none."""
    if node.op == "bias_add":
        inner = node.operands[0]
        if uses[id(inner)] > 1 or not _is(inner) or node.attributes["dimension"] != _feature(inner):
            return None
        reason = _refused(inner)
        return reason or Match((inner, node), (*inner.operands, node.operands[1]))
    if not _is(node):
        return None
    return _refused(node) or Match((node,), node.operands)


def _is(node: Node) -> bool:
    return node.op in ("dense", "convolution")


def _feature(node: Node) -> int:
    if node.op == "dense":
        return len(node.type.shape) - 1
    return dims_of(str(node.attributes["dims"])).result_feature


def _refused(node: Node) -> str | None:
    if any(operand.type.number != "float32" for operand in node.operands):
        return f"numbers of {', '.join(operand.type.number for operand in node.operands)}: float32 is taken"
    if node.op == "dense":
        return None
    return plain(node)


def plain(node: Node) -> str | None:
    """Why a convolution is not one group without dilation and with padding of zeros."""
    if node.attributes["feature_group_count"] != 1:
        return f"{node.attributes['feature_group_count']} groups: convolutions of one group are taken"
    windows = windows_of(node.attributes, dims_of(str(node.attributes["dims"])).rank)
    if {*windows.base, *windows.dilation} != {1}:
        return "a dilated convolution"
    if min(*windows.low, *windows.high) < 0:
        return "a convolution that cuts its image"
    return None


def inputs(node: Node) -> int:
    """How many products make an element of the result."""
    w = node.operands[1].type
    if node.op == "dense":
        return w.shape[1]
    return w.elements // w.shape[dims_of(str(node.attributes["dims"])).kernel_out]


def sizes(node: Node) -> tuple[int, int, int]:
    """Rows, outputs and inputs of a product."""
    deep = inputs(node)
    outputs = node.operands[1].type.elements // deep
    return node.type.elements // outputs, outputs, deep


def padded(array: Array, *multiples: int) -> Array:
    """With zeros behind, to these multiples of the last dimensions."""
    first = array.ndim - len(multiples)
    more = [(0, 0)] * first + [
        (0, -size % by) for size, by in zip(array.shape[first:], multiples, strict=True)
    ]
    return np.pad(array, more)


def product(inside: Sequence[Node], arrays: Sequence[Array]) -> Product:
    """The matrices of a found product's operands, of any numbers in which 0 is the number 0."""
    node = inside[0]
    x, w = arrays[:2]
    if node.op == "convolution":
        x, w = _windows(node, x, w)
    b = arrays[2] if len(arrays) > 2 else np.zeros(len(w), w.dtype)
    return Product(x.reshape(-1, w.shape[1]), w, b)


def back(inside: Sequence[Node], rows: Array) -> Array:
    """The result, from rows (n, outputs)."""
    node = inside[0]
    if node.op == "dense":
        return rows.reshape(node.type.shape)
    dims = dims_of(str(node.attributes["dims"]))
    order = [dims.result_batch, *dims.result_spatial, dims.result_feature]
    return rows.reshape([node.type.shape[i] for i in order]).transpose(np.argsort(order))


def _windows(node: Node, x: Array, w: Array) -> tuple[Array, Array]:
    dims = dims_of(str(node.attributes["dims"]))
    windows = windows_of(node.attributes, dims.rank)
    x = x.transpose([dims.batch, *dims.spatial, dims.feature])
    w = w.transpose([dims.kernel_out, *dims.kernel_spatial, dims.kernel_in])
    pads = list(zip(windows.low, windows.high, strict=True))
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    size = w.shape[1:-1]
    seen = np.lib.stride_tricks.sliding_window_view(x, size, axis=tuple(range(1, 1 + len(size))))
    seen = seen[(slice(None), *(slice(None, None, step) for step in windows.strides))]
    # (n, places, channels, window) to (n, places, window, channels)
    seen = np.moveaxis(seen, 1 + len(size), -1)
    return seen.reshape(-1, int(np.prod(w.shape[1:]))), w.reshape(len(w), -1)
