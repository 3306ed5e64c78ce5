# amaranth: UnusedElaboratable=no
"""A block by a vector each cycle, against NumPy; with the largest sums there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.hw.component_bench import simulate

from axiloom.accelerators.vta.rtl import product


def agrees(block: int, steps: int = 40) -> bool:
    unit, rng = product.Product(block), np.random.default_rng(block)
    weights = rng.integers(-128, 128, (steps, block, block)).astype(np.int8)
    inputs = rng.integers(-128, 128, (steps, block)).astype(np.int8)
    weights[0], inputs[0] = -128, -128
    weights[1], inputs[1] = -128, 127
    found = []

    async def drive(ctx: Any) -> None:
        for step in range(steps + product.LATENCY):
            if step < steps:
                ctx.set(unit.weights, int.from_bytes(weights[step].tobytes(), "little"))
                ctx.set(unit.inputs, int.from_bytes(inputs[step].tobytes(), "little"))
            if step >= product.LATENCY:
                found.append(ctx.get(unit.totals))
            await ctx.tick()

    simulate(unit, drive)
    bits = unit.total_bits
    for step, totals in enumerate(found):
        expected = weights[step].astype(int) @ inputs[step].astype(int)
        if [totals >> bits * lane & (1 << bits) - 1 for lane in range(block)] != [
            int(one) & (1 << bits) - 1 for one in expected
        ]:
            return False
    return len(found) == steps


@pytest.mark.parametrize("block", [2, 6, 8, pytest.param(16, marks=pytest.mark.slow)])
def test_products(block: int) -> None:
    assert agrees(block)


def test_a_lost_borrow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two factors side by side, but the high one does not lend to the low one."""
    from amaranth.hdl import Cat

    monkeypatch.setattr(product, "packed", lambda low, high: Cat(low, high, high[-1]))
    assert not agrees(4)


@pytest.mark.parametrize("block", [0, 3, 18])
def test_blocks_that_are_not_built(block: int) -> None:
    with pytest.raises(ValueError, match=f"block must be even, from 2 to 16, not {block}"):
        product.Product(block)
