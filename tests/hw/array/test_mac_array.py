"""Products mod 2^32 of every width, at the ends of their range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.hw.component_bench import simulate

from axiloom.hw.array.mac_array import Multiplier


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_products_wrap(bits: int) -> None:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    ends = [low, low + 1, -1, 0, 1, high - 1, high, 0x1FFFF & high, 0x20000 & high]
    random = np.random.default_rng(bits).integers(low, high, (200, 2), endpoint=True).tolist()
    pairs = [(a, b) for a in ends for b in ends] + [(a, b) for a, b in random]
    multiplier = Multiplier(bits)
    products = []

    async def bench(ctx: Any) -> None:
        for a, b in [*pairs, (0, 0)]:
            ctx.set(multiplier.a, a)
            ctx.set(multiplier.b, b)
            await ctx.tick()
            products.append(ctx.get(multiplier.product))

    simulate(multiplier, bench)
    assert products[1:] == [a * b % 2**32 for a, b in pairs], "two cycles from factors to product"
