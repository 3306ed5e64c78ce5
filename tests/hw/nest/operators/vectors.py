"""Operands that are hard, and the comparison of an operator's RTL with its reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.hw.nest.operators.netlist import computed

from axiloom.hw.nest.operators import Operator
from axiloom.hw.nest.operators.formats import FLOAT32, bits_of, unsigned

_FLOATS = (
    *(0, 1, 0x7FFFFF),  # zero, subnormals
    *(0x800000, 0x800001, 0xFFFFFF, 0x1000000, 0x1800000, 0xC000000),  # the smallest
    *(0x33800000, 0x34000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3F000000, 0x40000000, 0x40490FDB),
    *(0x4B000000, 0x4B7FFFFF, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000),  # 2^24, 2^31, 2^32
    *(0x7E800000, 0x7EFFFFFF, 0x7F000000, 0x7F7FFFFF),  # the largest
    *(0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF),  # infinity, NaN
)
SPECIALS = np.array([sign | each for each in _FLOATS for sign in (0, 1 << 31)], np.uint32)


def floats(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """All specials with all specials, and pairs that are: anything; close in exponent; nearly equal, so that
    they cancel; with few bits; with a product or quotient at the ends of the range."""
    x, y = (rng.integers(0, 1 << 32, 5 * count, np.uint64).astype(np.uint32) for _ in range(2))
    close, cancel, sparse, ends = (slice(part * count, (part + 1) * count) for part in range(1, 5))
    exponents = (x[close] >> 23 & 255).astype(np.int64) + rng.integers(-27, 28, count)
    y[close] = y[close] & 0x807FFFFF | exponents.clip(0, 255).astype(np.uint32) << 23
    y[cancel] = (x[cancel] ^ 0x80000000) + rng.integers(-4, 5, count).astype(np.uint32)
    y[cancel] += rng.choice(np.array([0, 0x800000, -0x800000]), count).astype(np.uint32)
    few = np.array([0xFF800000, 0xFFC00000, 0xFF800001, 0xFFFFF000, 0xFF80000F], np.uint32)
    x[sparse] |= rng.choice(np.array([0, 0x7FFFFF, 0x7FFFF0], np.uint32), count)
    y[sparse] &= rng.choice(few, count)
    # Exponents that sum to that of the smallest or the largest number; or differ by it.
    exponents = (x[ends] >> 23 & 255).astype(np.int64)
    edge = rng.choice(np.array([127, 381]), count) + rng.integers(-2, 3, count)
    mirrored = rng.random(count) < 0.5
    other = np.where(mirrored, edge - exponents, exponents - edge + 254)
    y[ends] = y[ends] & 0x807FFFFF | other.clip(0, 255).astype(np.uint32) << 23
    x[ends] |= rng.choice(np.array([0, 0x7FFFFF, 0x7FFFFE], np.uint32), count)
    size = len(SPECIALS)
    return np.concatenate([np.repeat(SPECIALS, size), x]), np.concatenate([np.tile(SPECIALS, size), y])


def words(rng: np.random.Generator, bits: list[int], count: int) -> list[Any]:
    """All of them, of 8 bits; else ends of the range, and numbers of any length."""
    if max(bits) <= 8 and sum(bits) <= 16:
        every = np.arange(1 << sum(bits))
        lows = [sum(bits[:place]) for place in range(len(bits))]
        return [
            (every >> low & (1 << size) - 1).astype(unsigned(size))
            for low, size in zip(lows, bits, strict=True)
        ]
    ends = [{0, 1, 2 % (1 << size), (1 << size) - 1, 1 << size - 1, (1 << size - 1) - 1} for size in bits]
    grid = [each.ravel() for each in np.meshgrid(*(np.array(sorted(end), object) for end in ends))]
    found = []
    for size, special in zip(bits, grid, strict=True):
        anything = rng.integers(0, 1 << 63, count).astype(object) * 2 + rng.integers(0, 2, count).astype(
            object
        )
        anything = (anything & (1 << size) - 1) >> rng.integers(0, size, count).astype(object)
        anything ^= rng.integers(0, 2, count).astype(object) * ((1 << size) - 1)
        found.append(np.concatenate([special, anything]).astype(unsigned(size)))
    return found


def operands(operator: Operator, rng: np.random.Generator, count: int) -> list[Any]:
    if operator.number == FLOAT32 and operator.name != "select":
        return list(floats(rng, count)[: len(operator.operand_bits)])
    return words(rng, operator.operand_bits, count)


def check(operator: Operator, rng: np.random.Generator, count: int = 300) -> int:
    """Raises AssertionError with the first operands that differ; how many were compared otherwise."""
    chosen = operands(operator, rng, count)
    compare(operator, chosen, computed(operator, *chosen))
    return len(chosen[0])


def compare(operator: Operator, chosen: list[Any], found: Any) -> None:
    expected = operator.reference(*chosen)
    assert expected.dtype == unsigned(bits_of(operator.result))
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        first = wrong[0]
        given = ", ".join(f"{int(each[first]):#x}" for each in chosen)
        raise AssertionError(
            f"{operator}: {len(wrong)} of {len(found)} differ; of {given} it gives {int(found[first]):#x}, "
            f"and {int(expected[first]):#x} is right"
        )
