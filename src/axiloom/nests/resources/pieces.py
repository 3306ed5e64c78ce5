"""What the pieces of a circuit take on a 7-series part (AMD UG474, UG473): LUTs of six inputs, carry chains,
shift registers and RAM of LUTs, block RAM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from axiloom.nests.resources.amount import Amount

_BLOCKS = (
    *(
        (0.5, width, depth)
        for width, depth in ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))
    ),
    *(
        (1.0, width, depth)
        for width, depth in ((72, 512), (36, 1024), (18, 2048), (9, 4096), (4, 8192), (2, 16384), (1, 32768))
    ),
)
"""Of a block RAM with a port to read and one to write: size in 36 Kbit, bits, words."""

_SHORTEST = 3
"""Registers in a row that Yosys makes a shift register."""
_SHIFT = 32
"""Bits of a LUT as a shift register."""


def choice(bits: int, inputs: int, coded: bool) -> int:
    """LUTs of a multiplexer of `bits` bits, in a tree: a LUT takes four inputs by a `coded` number; or three,
    each with a bit that asks for it. (Yosys leaves MUXF7 unused: eight inputs are three LUTs.)"""
    if inputs <= 1:
        return 0
    return bits * (ceil((inputs - 1) / 3) if coded else ceil((inputs - 1) / 2))


def in_turn(bits: int, values: Mapping[int, object]) -> int:
    """LUTs of a choice by a phase, of a value in each of some turns: a LUT for each four phases that are not
    the same four values as others. In other phases it is that of the last turn."""
    if len({*values.values()}) <= 1:
        return 0
    last = max(values)
    fours = {
        tuple(values.get(phase, values[last]) for phase in range(first, first + 4))
        for first in range(0, 1 << last.bit_length(), 4)
    }
    return bits * len(fours)


def any_of(bits: int) -> int:
    """LUTs of one bit from `bits` bits: all, any, or equal to a constant."""
    return ceil((bits - 1) / 5) if bits > 1 else 0


def delay(bits: int, taps: Iterable[int]) -> Amount:
    """A value that is used as many cycles later as `taps` say."""
    lut = ff = before = 0
    for tap in sorted({*taps} - {0}):
        length, before = tap - before, tap
        if length < _SHORTEST:
            ff += bits * length
        else:
            lut += bits * ceil(length / _SHIFT)
    return Amount(lut=lut, ff=ff)


def total(parts: Sequence[tuple[int, int]]) -> int:
    """LUTs of a sum of values that lie from one bit up to another: one where two overlap. Elsewhere a carry
    chain has none."""
    if not parts:
        return 0
    (low, high), *rest = parts
    lut = 0
    for start, end in rest:
        lut += max(0, min(high, end) - max(low, start))
        low, high = min(low, start), max(high, end) + (min(high, end) > max(low, start))
    return lut


def block_ram(bits: int, depth: int, ports: int) -> Amount:
    """`ports` to read have a copy each."""
    size = min(blocks * ceil(bits / width) * ceil(depth / words) for blocks, width, words in _BLOCKS)
    return Amount(bram36=size * ports)


def lut_ram(bits: int, depth: int, ports: int) -> Amount:
    """RAM32M holds 6 bits of 32 words in 4 LUTs, RAM64M 3 bits of 64."""
    if depth <= 32:
        lut = 4 * ceil(bits / 6)
    else:
        lut = 4 * ceil(bits / 3) * ceil(depth / 64) + choice(bits, ceil(depth / 64), coded=True)
    return Amount(lut=lut * ports)
