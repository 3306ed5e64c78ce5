"""FlexASR's numbers by floats: pieces with the published decimals, rounding by the nearest number of a list.

Floats of 64 bits are exact here: no number has more than 53 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

SIGMOID = (
    (0.1513671875, 0.126953125, 0.08984375, 0.056640625, 0.033203125, 0.0185546875, 0.009765625, 0.005859375),
    (0.5009765625, 0.65234375, 0.779296875, 0.869140625, 0.92578125, 0.958984375, 0.9775390625, 0.98828125),
)
TANH = (
    (
        *(
            0.2451171875,
            0.21875,
            0.1728515625,
            0.1259765625,
            0.0859375,
            0.0556640625,
            0.0361328125,
            0.0224609375,
        ),
        *(0.013671875, 0.0087890625, 0.0048828125, 0.0029296875),
    ),
    (
        *(
            0.0009765625,
            0.24609375,
            0.46484375,
            0.6376953125,
            0.7646484375,
            0.8505859375,
            0.90625,
            0.9423828125,
        ),
        *(0.96484375, 0.978515625, 0.9873046875, 0.9921875),
    ),
)
ROOT = (-331, -279, -240, -210, -185, -165, -148, -134), (5789, 5458, 5178, 4938, 4728, 4543, 4378, 4229)
EXP = (194, 230, 273, 325), (1022, 1216, 1446, 1719)


def truncated(x: Numbers, bits: int) -> Numbers:
    """To so many bits behind the point, downwards."""
    return np.floor(x * 2.0**bits) / 2.0**bits


def line(pieces: Any, x: Numbers, scale: float = 1) -> Numbers:
    slopes, offsets = (np.array(one) / scale for one in pieces)
    piece = np.minimum(np.floor(x), len(slopes) - 1).astype(int)
    return slopes[piece] * (x - np.floor(x)) + offsets[piece]


def sigmoid(x: Numbers, *, newer: bool = False) -> Numbers:
    size = np.abs(x) / 2.0**14
    size_ = truncated(size, 10) if newer else size
    y = np.where(size >= 5, 1 - 2.0**-20, line(SIGMOID, truncated(size_ * 1.599609375, 10)))
    return np.floor(np.where(x < 0, 1 - y, y) * 2.0**14)


def tanh(x: Numbers) -> Numbers:
    size = np.abs(x) / 2.0**14
    y = np.where(size >= 3, 1 - 2.0**-20, line(TANH, truncated(size * 4, 10)))
    return np.floor(np.where(x < 0, -y, y) * 2.0**14)


def inverse_root(x: Numbers) -> Numbers:
    """`x` as the device reads it: -1 has all 20 bits."""
    mantissa, exponent = np.frexp(np.where(x < 0, x + 2.0**20, x) / 2.0**14)
    y = line(ROOT, truncated((np.maximum(mantissa, 0.5) - 0.5) * 16, 12), 2.0**12)
    odd = exponent % 2 == 1
    y = np.where(odd, truncated(y * 0.70703125, 24), y)
    whole = np.floor(y * 2.0**14 / np.exp2(np.floor(exponent / 2)))
    return np.where(x == 0, -1, wrapped(whole, 20))


def exp(x: Numbers) -> Numbers:
    """Of units of 2^-20; nothing here is so large that it wraps."""
    power = truncated(x / 2.0**20 * 1.44268798828125, 20)
    whole = np.floor(power)
    y = line(EXP, truncated((power - whole) * 4, 10), 2.0**10)
    return np.floor(y * np.exp2(np.maximum(whole, -62)) * 2.0**20)


def wrapped(x: Numbers, bits: int) -> Numbers:
    return (x + 2.0 ** (bits - 1)) % 2.0**bits - 2.0 ** (bits - 1)


def real(byte: Numbers) -> Numbers:
    """With a bias of 0."""
    sign, exponent, mantissa = byte // 128, byte // 16 % 8, byte % 16
    size = np.where(exponent + mantissa == 0, 0, np.exp2(exponent - 10.0) * (1 + mantissa / 16))
    return np.where(sign == 1, -size, size)


def _grid() -> Numbers:
    """All numbers of five significant bits from 1 to 2^27, zero, and their negatives."""
    sizes = (np.arange(16, 32)[:, None] * np.exp2(np.arange(-4, 24.0))).ravel()
    return np.sort(np.concatenate([-sizes, [0], sizes]))


GRID = _grid()
MIDDLES = (GRID[1:] + GRID[:-1]) / 2


def packed(x: Numbers, low: int, *, sign_kept: bool = True) -> Numbers:
    """The byte of x whose smallest exponent stands for 2^low."""
    nearest = GRID[np.searchsorted(MIDDLES, x, side="right")]
    mantissa, exponent = np.frexp(nearest)
    exponent = exponent - 1 - low
    sign = np.where(nearest < 0, 128, 0)
    byte = sign + exponent * 16 + np.rint(np.abs(mantissa) * 32) - 16
    byte = np.where(exponent > 7, 127 + (sign if sign_kept else 0), byte)
    return np.where((nearest == 0) | (exponent < 0), 0, byte)
