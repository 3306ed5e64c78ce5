"""ONNX's convolutions and pools in torch: their padding by every rule that ONNX has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from axiloom.frontend.onnx_refusal import NodeError

Edges = list[tuple[int, int]]
"""Before and behind, a dim of the image."""


def _dims(x: Any) -> int:
    """1 or 2: those of the image, behind batch and channels."""
    dims = int(x.dim()) - 2
    if dims not in (1, 2):
        raise NodeError(f"of an image of {dims} dims; 1 and 2 are read")
    return dims


def _edges(
    image: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int] | None,
    auto_pad: str,
) -> Edges:
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        edges = []
        for size, taps, step, apart in zip(image, kernel, strides, dilations, strict=True):
            total = max((-(-size // step) - 1) * step + (taps - 1) * apart + 1 - size, 0)
            small, large = total // 2, total - total // 2
            edges.append((small, large) if auto_pad == "SAME_UPPER" else (large, small))
        return edges
    if auto_pad == "VALID" or pads is None:
        return [(0, 0)] * len(image)
    edges = list(zip(pads[: len(image)], pads[len(image) :], strict=True))
    if any(edge < 0 for pair in edges for edge in pair):
        raise NodeError(f"pads {list(pads)}: negative ones are not read")
    return edges


def _even(edges: Edges) -> list[int] | None:
    """The padding of both sides, where it is the same."""
    return [before for before, _ in edges] if all(before == behind for before, behind in edges) else None


def _padded(x: Any, edges: Edges, value: float) -> Any:
    return functional.pad(x, [edge for pair in reversed(edges) for edge in pair], value=value)


def _ones(values: Sequence[int] | None, dims: int) -> list[int]:
    return [1] * dims if values is None else list(values)


def conv(
    X: Any,
    W: Any,
    B: Any = None,
    kernel_shape: Sequence[int] | None = None,  # that of W
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
) -> Any:
    dims = _dims(X)
    by, apart = _ones(strides, dims), _ones(dilations, dims)
    edges = _edges(X.shape[2:], W.shape[2:], by, apart, pads, auto_pad)
    padding = _even(edges)
    if padding is None:
        X, padding = _padded(X, edges, 0.0), [0] * dims
    function = functional.conv1d if dims == 1 else functional.conv2d
    return function(X, W, B, by, padding, apart, group)


def conv_transpose(
    X: Any,
    W: Any,
    B: Any = None,
    kernel_shape: Sequence[int] | None = None,  # that of W
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
) -> Any:
    dims = _dims(X)
    by, apart = _ones(strides, dims), _ones(dilations, dims)
    more = [0] * dims if output_padding is None else list(output_padding)
    whole = [
        step * (size - 1) + (taps - 1) * gap + 1 + extra
        for step, size, taps, gap, extra in zip(by, X.shape[2:], W.shape[2:], apart, more, strict=True)
    ]
    if output_shape is not None or auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        wanted = output_shape or [size * step for size, step in zip(X.shape[2:], by, strict=True)]
        edges = []
        for there, size in zip(whole, wanted, strict=True):
            total = there - size
            small, large = total // 2, total - total // 2
            edges.append((small, large) if auto_pad == "SAME_UPPER" else (large, small))
    else:
        edges = _edges(X.shape[2:], W.shape[2:], by, apart, pads, auto_pad)
    if any(edge < 0 for pair in edges for edge in pair):
        raise NodeError("a result that is larger than its windows reach")
    padding = [before for before, _ in edges]
    behind = [extra + before - after for extra, (before, after) in zip(more, edges, strict=True)]
    function = functional.conv_transpose1d if dims == 1 else functional.conv_transpose2d
    if all(0 <= extra < max(step, gap) for extra, step, gap in zip(behind, by, apart, strict=True)):
        return function(X, W, B, by, padding, behind, group, apart)
    y = function(X, W, B, by, [0] * dims, more, group, apart)
    for dim, (before, after) in enumerate(edges, 2):
        y = torch.ops.aten.slice(y, dim, before, y.shape[dim] - after, 1)
    return y


def _ceil_edges(image: Sequence[int], spans: Sequence[int], by: Sequence[int], edges: Edges) -> Edges:
    """With what the last windows reach beyond the image where their number is rounded up."""
    wider = []
    for size, span, step, (before, behind) in zip(image, spans, by, edges, strict=True):
        count = -(-(size + before + behind - span) // step) + 1
        if (count - 1) * step >= size + before:  # it would begin behind the image
            count -= 1
        wider.append((before, max(behind, (count - 1) * step + span - size - before)))
    return wider


def max_pool(
    X: Any,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
    auto_pad: str = "NOTSET",
    storage_order: int = 0,  # of the indices, which are refused
) -> Any:
    dims = _dims(X)
    by, apart = _ones(strides, dims), _ones(dilations, dims)
    edges = _edges(X.shape[2:], kernel_shape, by, apart, pads, auto_pad)
    if ceil_mode:
        spans = [(taps - 1) * gap + 1 for taps, gap in zip(kernel_shape, apart, strict=True)]
        edges = _ceil_edges(X.shape[2:], spans, by, edges)
    padding = _even(edges)
    if padding is None or any(2 * pad > taps for pad, taps in zip(padding, kernel_shape, strict=True)):
        X, padding = _padded(X, edges, float("-inf")), [0] * dims
    function = functional.max_pool1d if dims == 1 else functional.max_pool2d
    return function(X, list(kernel_shape), by, padding, apart)


def average_pool(
    X: Any,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    auto_pad: str = "NOTSET",
) -> Any:
    dims = _dims(X)
    by = _ones(strides, dims)
    if set(_ones(dilations, dims)) != {1}:
        raise NodeError("with dilations")
    image = X.shape[2:]
    edges = _edges(image, kernel_shape, by, [1] * dims, pads, auto_pad)
    wider = _ceil_edges(image, kernel_shape, by, edges) if ceil_mode else edges
    function = functional.avg_pool1d if dims == 1 else functional.avg_pool2d
    padding = _even(wider)
    plain = wider == edges and padding is not None and (count_include_pad or not any(padding))
    if plain and all(2 * pad <= taps for pad, taps in zip(padding or (), kernel_shape, strict=True)):
        return function(X, list(kernel_shape), by, padding)
    means = function(_padded(X, wider, 0.0) if any(map(any, wider)) else X, list(kernel_shape), by)
    shares = np.ones(())
    for size, taps, step, (before, behind), (_, late) in zip(
        image, kernel_shape, by, edges, wider, strict=True
    ):
        # Of each window, the part of it that counts.
        counts = np.zeros(before + size + late)
        counts[
            (0 if count_include_pad else before) : before + size + (behind if count_include_pad else 0)
        ] = 1
        windows = np.lib.stride_tricks.sliding_window_view(counts, taps)[::step]
        shares = shares[..., None] * windows.mean(1)
    return means if (shares == 1).all() else means / torch.from_numpy(shares.astype(np.float32))


def global_average_pool(X: Any) -> Any:
    return torch.mean(X, list(range(2, X.dim())), keepdim=True)


def global_max_pool(X: Any) -> Any:
    return torch.amax(X, list(range(2, X.dim())), keepdim=True)
