"""Two products out of one multiplier are the products: all that there are, and the sums of the longest k."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.array import pair
from axiloom.hw.array.mac_array import LATENCY, MacArray


def test_all_triples_by_the_formula() -> None:
    """2^24 products; `tests/prove/rtl/test_pairs.py` looks at the Verilog."""
    elements = np.arange(-128, 128)
    high, low = elements[:, None], elements[None, :]
    for shared in elements:
        total = ((high << 16) + low) * shared + (1 << 15)
        np.testing.assert_array_equal(
            ((total & 0xFFFF) ^ 0x8000).astype("<u2").view("<i2"), low * shared + 0 * high
        )
        np.testing.assert_array_equal(total >> 16, high * shared + 0 * low)
    held = (high << 16) + low
    assert (held.min(), held.max()) == (-(1 << 23) - 128, (127 << 16) + 127)  # 25 bits, and no fewer


@pytest.mark.parametrize("longest", [1, 2, 1023, 1024, 4096])
def test_sums_hold_the_longest_k_and_no_more(longest: int) -> None:
    bits = pair.sum_bits(longest)
    assert longest * 128 * 128 < 1 << bits - 1
    assert longest * 128 * 128 > 1 << bits - 3


def sums(longest: int, a: list[int], b: list[list[int]], rows: int = 2) -> list[list[int]]:
    """What an array puts out after a block: row r's sums of a[k] x b[k]."""
    cols = len(b[0])
    array = MacArray(8, rows, cols, longest)
    found: list[list[int]] = []

    async def bench(ctx: Any) -> None:
        for k, (factor, line) in enumerate(zip(a, b, strict=True)):
            ctx.set(array.a, sum((factor & 0xFF) << 8 * row for row in range(rows)))
            ctx.set(array.b, sum((one & 0xFF) << 8 * col for col, one in enumerate(line)))
            ctx.set(array.control.valid, 1)
            ctx.set(array.control.first, k == 0)
            await ctx.tick()
        ctx.set(array.control.valid, 0)
        await ctx.tick().repeat(LATENCY - 2)
        for row in range(rows + 1):
            ctx.set(array.select, row % rows)
            await ctx.tick()
            if row:
                word = ctx.get(array.selected)
                found.append([_signed(word >> 32 * col) for col in range(cols)])

    simulate(array, bench)
    return found


def _signed(word: int) -> int:
    return (word & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)


@pytest.mark.parametrize("longest", [3, 64])
@pytest.mark.parametrize("ends", [(-128, -128), (-128, 127), (127, 127)])
def test_the_largest_sums_are_whole(longest: int, ends: tuple[int, int]) -> None:
    a, b = [ends[0]] * longest, [[ends[1], ends[1], -ends[1] - 1, 0]] * longest
    right = [longest * ends[0] * one for one in b[0]]
    assert sums(longest, a, b) == [right, right]


@pytest.mark.parametrize("cols", [1, 2, 8])
def test_sums_of_random_blocks(cols: int) -> None:
    """A single column has no neighbour: its products come from a multiplier of their own."""
    random = np.random.default_rng(cols)
    a = random.integers(-128, 128, 20)
    b = random.integers(-128, 128, (20, cols))
    assert sums(20, a.tolist(), b.tolist()) == [(a @ b).tolist()] * 2


def test_sums_are_too_narrow_for_a_longer_k() -> None:
    """A bit fewer would not do: the test above looks at the widths."""
    longest = 4
    assert sums(longest, [-128] * 8, [[-128, -128]] * 8)[0] != [8 * 128 * 128] * 2
