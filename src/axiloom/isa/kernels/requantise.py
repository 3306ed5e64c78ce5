"""Post-processing: from a sum in int32 to an element in int8, with a bias and a scale for each channel.

Two words of P belong to a channel: its bias (int32), and ``multiplier | shift << 16`` with a multiplier of 16
bits without sign and a shift of 6 bits; the bits above are not looked at. With the settings zp, lo, hi::

    y = min(max((((sum + bias) * multiplier + half) >> shift) + zp, lo), hi)    half = (1 << shift) >> 1

``sum + bias`` wraps mod 2^32; the rest is exact in 64 bits, the shift arithmetic: halves are rounded up. So a
scale s is ``multiplier / 2^shift``, ReLU is ``lo = zp``, and a clamp is lo and hi.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from axiloom.isa.kernels.forms import Array


def requantise(
    sums: Array, channels: Array, settings: Mapping[str, int], axis: int = 0
) -> npt.NDArray[np.int8]:
    """The elements (int8) of `sums` (mod 2^32), whose channels lie along `axis`.

    `channels`: P, (channels, 2). `settings`: zp, lo and hi, each in -128 ... 127.
    """
    shape = [1] * sums.ndim
    shape[axis] = -1
    bias, scale = (column.reshape(shape) for column in channels.T)
    multiplier = (scale & np.uint32(0xFFFF)).astype(np.int64)
    shift = (scale >> np.uint32(16) & np.uint32(63)).astype(np.int64)
    biased = (sums + bias).view(np.int32).astype(np.int64)
    half = ((np.uint64(1) << shift.astype(np.uint64)) >> np.uint64(1)).astype(np.int64)
    scaled = (biased * multiplier + half) >> shift
    moved = scaled + np.int64(settings["zp"])
    return np.asarray(np.minimum(np.maximum(moved, settings["lo"]), settings["hi"]), dtype=np.int8)
