"""A convolution as HLSCNN computes it, in plain NumPy on whole arrays, and a host's layouts and commands.

Nothing of axiloom is imported here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Conv:
    """Sizes and what comes after the sum; `accumulate`: on what the outputs were."""

    channels: int
    rows: int
    cols: int
    filters: int
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    bias: int | None = None
    relu: bool = False
    accumulate: bool = False

    @property
    def blocks(self) -> int:
        return -(-self.channels // 8)

    @property
    def out(self) -> tuple[int, int]:
        (kr, kc), (sr, sc) = self.kernel, self.strides
        return (self.rows - kr) // sr + 1, (self.cols - kc) // sc + 1


def quantised(values: Array, fraction: int, bits: int = 16) -> Array:
    """As the published host does: floor, then clamp."""
    most = 1 << bits - 1
    return np.clip(np.floor(values * 2.0**fraction), -most, most - 1).astype(np.int64)


def plain(
    conv: Conv,
    x: Array,
    w: Array,
    before: Array | None = None,
    *,
    halves_up: bool = True,
    wraps: bool = False,
) -> Array:
    """Outputs (filters, rows, cols) in Q9.7.

    Of x (channels, rows, cols) in Q9.7 and w (filters, channels, kernel rows, kernel cols) in Q2.14.
    """

    def narrow(v: Array) -> Array:
        return v.astype(np.int16).astype(np.int64) if wraps else np.minimum(np.maximum(v, -32768), 32767)

    padding = conv.blocks * 8 - conv.channels
    x, w = np.pad(x, [(0, padding), (0, 0), (0, 0)]), np.pad(w, [(0, 0), (0, padding), (0, 0), (0, 0)])
    (rows, cols), (sr, sc) = conv.out, conv.strides
    sofar = np.zeros((conv.filters, rows, cols), np.int64) if before is None else before.astype(np.int64)
    taps = [
        (b, i, j) for b in range(conv.blocks) for i in range(conv.kernel[0]) for j in range(conv.kernel[1])
    ]
    for b, i, j in taps:
        seen = x[8 * b : 8 * b + 8, i : i + sr * (rows - 1) + 1 : sr, j : j + sc * (cols - 1) + 1 : sc]
        products = w[:, 8 * b : 8 * b + 8, i, j][:, :, None, None].astype(np.int64) * seen[None].astype(
            np.int64
        )
        psum = (products // 32).sum(axis=1)
        total = sofar + narrow((psum + 256 * halves_up) // 512)
        if (b, i, j) == taps[-1]:
            total = total + (conv.bias or 0)
            total = np.where(conv.relu & (total < 0), 0, total)
        sofar = narrow(total)
    return sofar


def relative_error(rng: np.random.Generator, conv: Conv, *, width: int, halves_up: bool = True) -> float:
    """Norm of the difference of `plain` and float64 of the data before it is quantised, by that of float64.

    Activations and weights are uniform in -1 to 1; weights have `width` bytes.
    """
    x = rng.uniform(-1, 1, (conv.channels, conv.rows, conv.cols))
    w = rng.uniform(-1, 1, (conv.filters, conv.channels, *conv.kernel))
    windows = np.lib.stride_tricks.sliding_window_view(x, conv.kernel, axis=(1, 2))
    reference = np.einsum("cyxij,fcij->fyx", windows[:, :: conv.strides[0], :: conv.strides[1]], w)
    weights = quantised(w, 14) if width == 2 else quantised(w, 6, 8) << 8
    found = plain(conv, quantised(x, 7), weights, halves_up=halves_up) / 128
    return float(np.linalg.norm(found - reference) / np.linalg.norm(reference))


# --- a host -----------------------------------------------------------------------------------------------


def activation_bytes(conv: Conv, x: Array) -> Array:
    whole = np.zeros((conv.blocks * 8, conv.rows, conv.cols), "<i2")
    whole[: conv.channels] = x
    blocks = whole.reshape(conv.blocks, 8, conv.rows, conv.cols)
    return np.ascontiguousarray(blocks.transpose(0, 2, 3, 1)).reshape(-1).view(np.uint8)


def weight_bytes(conv: Conv, w: Array, width: int) -> Array:
    """`width` 1: the upper byte of each weight."""
    whole = np.zeros((conv.filters, conv.blocks * 8, *conv.kernel), np.int64)
    whole[:, : conv.channels] = w
    blocks = whole.reshape(conv.filters, conv.blocks, 8, *conv.kernel).transpose(0, 1, 3, 4, 2).reshape(-1)
    return (blocks >> 8).astype(np.int8).view(np.uint8) if width == 1 else blocks.astype("<i2").view(np.uint8)


def output_bytes(conv: Conv, y: Array) -> Array:
    """Filters in groups of eight side by side."""
    groups = -(-conv.filters // 8)
    whole = np.zeros((groups * 8, *conv.out), "<i2")
    whole[: conv.filters] = y
    return (
        np.ascontiguousarray(whole.reshape(groups, 8, *conv.out).transpose(0, 2, 3, 1))
        .reshape(-1)
        .view(np.uint8)
    )


def outputs_of(conv: Conv, raw: Array) -> Array:
    groups = -(-conv.filters // 8)
    values = raw.view("<i2").reshape(groups, *conv.out, 8).transpose(0, 3, 1, 2)
    return values.reshape(groups * 8, *conv.out)[: conv.filters].astype(np.int64)


def write(register: int, value: int) -> dict[str, int]:
    at = 4 * register
    return {"addr": 0x32000000 + at, "data": value << 8 * (at % 16), "wr": 1}


def commands(
    conv: Conv, act: int, weights: tuple[int, int], out: int, initial: tuple[int, int] | None = None
) -> Iterator[dict[str, int]]:
    """Fill spad0 with `weights` (address in the host's memory, bytes), spad1 with `initial`, convolve.

    `out`: where outputs go in spad1, in 16 bytes.
    """
    for base, place in ((weights, 0x4000), (initial, 0x24000 + 16 * out)):
        if base:
            yield write(4, base[0])
            yield write(5, -(-base[1] // 16))
            yield {"addr": 0x32000000 + place, "wr": 1}
    (rows, cols), (kr, kc), (sr, sc) = conv.out, conv.kernel, conv.strides
    yield write(18, act)
    yield write(19, 0)
    yield write(20, out)
    yield write(21, conv.cols | conv.rows << 10 | conv.channels << 20)
    yield write(22, cols | rows << 10 | conv.filters << 20)
    yield write(23, kc | kr << 8 | sc << 16 | sr << 19)
    word = (conv.bias or 0) % (1 << 16) | (conv.bias is not None) << 16 | conv.relu << 17
    yield write(24, word | conv.accumulate << 18 | conv.filters << 19)
    yield write(17, 1)
