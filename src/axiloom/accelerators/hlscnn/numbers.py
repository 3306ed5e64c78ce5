"""HLSCNN's convolution on whole arrays: what `hlscnn.isa` computes, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from axiloom.application.units.counts import Array, Counts

CHANNELS = 8
"""Of a tap."""
CUT, NARROWED = 5, 9
"""Bits of products that are cut, and of partial sums that are rounded off."""
LOW, HIGH = -32768, 32767
_ELEMENTS = 1 << 15
"""Of a working array: so many stay in the CPU's cache."""


@dataclass(frozen=True)
class Version:
    """As the constants of the text."""

    round: int = 1
    saturate: int = 1


NOW = Version()


def convolved(x: Array, w: Array, strides: tuple[int, int], sums: Counts, version: Version = NOW) -> Array:
    """Images (n, channels, rows, cols) in Q9.7, kernels (filters, channels, rows, cols) in Q2.14, without
    padding; results (n, filters, rows, cols) in Q9.7."""
    blocks = -(-x.shape[1] // CHANNELS)
    more = blocks * CHANNELS - x.shape[1]
    x = np.pad(x.astype(np.int32), [(0, 0), (0, more), (0, 0), (0, 0)])
    w = np.pad(w.astype(np.int32), [(0, 0), (0, more), (0, 0), (0, 0)])
    (filters, _, kr, kc), (sr, sc) = w.shape, strides
    rows, cols = (x.shape[2] - kr) // sr + 1, (x.shape[3] - kc) // sc + 1
    count = len(x) * rows * cols
    sofar = np.zeros((filters, count), np.int32)
    chunk = max(_ELEMENTS // filters, 1)
    for b in range(blocks):
        part = x[:, b * CHANNELS : (b + 1) * CHANNELS].transpose(1, 0, 2, 3)
        for i in range(kr):
            for j in range(kc):
                window = part[:, :, i : i + sr * (rows - 1) + 1 : sr, j : j + sc * (cols - 1) + 1 : sc]
                seen = np.ascontiguousarray(window).reshape(CHANNELS, count)
                taps = w[:, b * CHANNELS : (b + 1) * CHANNELS, i, j]
                for at in range(0, count, chunk):
                    _tap(seen[:, at : at + chunk], taps, sofar[:, at : at + chunk], sums, version)
    return np.ascontiguousarray(sofar.reshape(filters, len(x), rows, cols).transpose(1, 0, 2, 3))


def _tap(x: Array, w: Array, sofar: Array, sums: Counts, version: Version) -> None:
    """Adds eight channels (8, places) by (filters, 8) to `sofar` (filters, places)."""
    psum = np.zeros(sofar.shape, np.int32)
    for k in range(CHANNELS):
        products = w[:, k, None] * x[None, k]
        products >>= CUT
        psum += products
    if version.round:
        psum += 1 << NARROWED - 1
    psum >>= NARROWED
    _narrow(psum, sums, version)
    psum += sofar
    _narrow(psum, sums, version)
    sofar[:] = psum


def _narrow(values: Array, sums: Counts, version: Version) -> None:
    outside = 0
    if values.min() < LOW or values.max() > HIGH:
        outside = int(np.count_nonzero((values < LOW) | (values > HIGH)))
        if version.saturate:
            np.clip(values, LOW, HIGH, out=values)
        else:
            values[:] = values.astype(np.int16)
    sums.add(values.size, *((outside, 0, 0) if version.saturate else (0, 0, outside)))
