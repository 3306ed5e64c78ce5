"""ONNX's convolutions and pools in torch: their padding by every rule that ONNX has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from axiloom.read.onnx.function import NodeError, passing_on

Edges = list[tuple[int, int]]
"""Before and behind, a dim of the image."""


@dataclass(frozen=True)
class Windows:
    """How windows lie on an image: numbers a dim of it, behind batch and channels."""

    image: list[int]
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: Sequence[int] | None
    auto_pad: str

    @classmethod
    def of(
        cls,
        x: Any,
        *,
        kernel_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        auto_pad: str = "NOTSET",
    ) -> Windows:
        """By the attributes that the ops share."""
        image = list(x.shape[2:])
        if len(image) not in (1, 2):
            raise NodeError(f"of an image of {len(image)} dims; 1 and 2 are read")
        if pads is not None and min(pads) < 0:
            raise NodeError(f"pads {list(pads)}: negative ones are not read")
        ones = [1] * len(image)
        return cls(image, list(kernel_shape), list(strides or ones), list(dilations or ones), pads, auto_pad)

    @property
    def spans(self) -> list[int]:
        """Elements from the first of a window to its last."""
        return [(taps - 1) * gap + 1 for taps, gap in zip(self.kernel, self.dilations, strict=True)]

    @property
    def edges(self) -> Edges:
        """The padding that the attributes ask for."""
        dims = len(self.image)
        if self.auto_pad.startswith("SAME"):
            ends = zip(self.image, self.spans, self.strides, strict=True)
            totals = [max((-(-size // by) - 1) * by + span - size, 0) for size, span, by in ends]
            return _shared(totals, self.auto_pad)
        if self.auto_pad == "VALID" or self.pads is None:
            return [(0, 0)] * dims
        return list(zip(self.pads[:dims], self.pads[dims:], strict=True))

    @property
    def rounded_up(self) -> Edges:
        """With what the last windows reach beyond the image where their number is rounded up."""
        wider = []
        ends = zip(self.image, self.spans, self.strides, self.edges, strict=True)
        for size, span, by, (before, behind) in ends:
            last = -(-(size + before + behind - span) // by) * by
            if last >= size + before:  # it would begin behind the image
                last -= by
            wider.append((before, max(behind, last + span - size - before)))
        return wider

    def function(self, name: str) -> Any:
        """torch's function of that name for images of so many dims."""
        return getattr(functional, f"{name}{len(self.image)}d")


def _shared(totals: Sequence[int], auto_pad: str) -> Edges:
    """Padding on both sides; where the total is odd, SAME_UPPER has more behind and all else more before."""
    if auto_pad == "SAME_UPPER":
        return [(total // 2, total - total // 2) for total in totals]
    return [(total - total // 2, total // 2) for total in totals]


def _even(x: Any, edges: Edges, value: float, most: Sequence[int] | None = None) -> tuple[Any, list[int]]:
    """`x`, and the padding that is the same on both sides; else `x` padded by `value`, and none.

    `most`: what twice the padding may be, a dim.
    """
    even = all(before == behind for before, behind in edges)
    if even and all(2 * pad <= limit for (pad, _), limit in zip(edges, most or (), strict=bool(most))):
        return x, [pad for pad, _ in edges]
    return _padded(x, edges, value), [0] * len(edges)


def _padded(x: Any, edges: Edges, value: float) -> Any:
    return functional.pad(x, [edge for pair in reversed(edges) for edge in pair], value=value)


@passing_on(Windows.of)
def conv(X: Any, W: Any, B: Any = None, group: int = 1, **how: Any) -> Any:
    windows = Windows.of(X, **{**how, "kernel_shape": W.shape[2:]})
    X, padding = _even(X, windows.edges, 0.0)
    return windows.function("conv")(X, W, B, windows.strides, padding, windows.dilations, group)


@passing_on(Windows.of)
def conv_transpose(
    X: Any,
    W: Any,
    B: Any = None,
    group: int = 1,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    **how: Any,
) -> Any:
    windows = Windows.of(X, **{**how, "kernel_shape": W.shape[2:]})
    by, apart, dims = windows.strides, windows.dilations, len(windows.image)
    more = list(output_padding or [0] * dims)
    if output_shape is not None or windows.auto_pad.startswith("SAME"):
        wanted = output_shape or [size * step for size, step in zip(windows.image, by, strict=True)]
        parts = zip(windows.image, by, windows.spans, more, wanted, strict=True)
        totals = [step * (size - 1) + span + extra - want for size, step, span, extra, want in parts]
        edges = _shared(totals, windows.auto_pad)
    else:
        edges = windows.edges
    if any(edge < 0 for pair in edges for edge in pair):
        raise NodeError("a result that is larger than its windows reach")
    # torch cuts off the same on both sides, and puts the rest behind.
    behind = [extra + before - after for extra, (before, after) in zip(more, edges, strict=True)]
    transposed = windows.function("conv_transpose")
    if all(0 <= extra < max(step, gap) for extra, step, gap in zip(behind, by, apart, strict=True)):
        return transposed(X, W, B, by, [before for before, _ in edges], behind, group, apart)
    y = transposed(X, W, B, by, [0] * dims, more, group, apart)
    for dim, (before, after) in enumerate(edges, 2):
        y = torch.ops.aten.slice(y, dim, before, y.shape[dim] - after, 1)
    return y


@passing_on(Windows.of)
def max_pool(X: Any, ceil_mode: int = 0, storage_order: int = 0, **how: Any) -> Any:
    """`storage_order` is that of the indices, which are refused."""
    windows = Windows.of(X, **how)
    edges = windows.rounded_up if ceil_mode else windows.edges
    X, padding = _even(X, edges, float("-inf"), windows.kernel)
    return windows.function("max_pool")(X, windows.kernel, windows.strides, padding, windows.dilations)


@passing_on(Windows.of)
def average_pool(X: Any, ceil_mode: int = 0, count_include_pad: int = 0, **how: Any) -> Any:
    windows = Windows.of(X, **how)
    if set(windows.dilations) != {1}:
        raise NodeError("with dilations")
    edges, none = windows.edges, [(0, 0)] * len(windows.image)
    wider = windows.rounded_up if ceil_mode else edges
    by_torch = count_include_pad and wider == edges
    X, padding = _even(X, wider, 0.0, windows.kernel if by_torch else [0] * len(none))
    means = windows.function("avg_pool")(X, windows.kernel, windows.strides, padding)
    if any(padding):
        return means
    # Of each window, the part of it that counts.
    shares = np.ones(())
    counted = edges if count_include_pad else none
    for at, (size, (before, behind)) in enumerate(zip(windows.image, wider, strict=True)):
        counts = np.zeros(before + size + behind)
        counts[before - counted[at][0] : before + size + counted[at][1]] = 1
        rows = np.lib.stride_tricks.sliding_window_view(counts, windows.kernel[at])[:: windows.strides[at]]
        shares = shares[..., None] * rows.mean(1)
    return means if (shares == 1).all() else means / torch.from_numpy(shares.astype(np.float32))


def global_average_pool(X: Any) -> Any:
    return torch.mean(X, list(range(2, X.dim())), keepdim=True)


def global_max_pool(X: Any) -> Any:
    return torch.amax(X, list(range(2, X.dim())), keepdim=True)
