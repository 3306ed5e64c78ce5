"""The counter that knows its end a cycle ahead, against counting in Python."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.array.counter import count_through


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(4))
def test_counts_to_any_last_and_knows_when_it_is_there(seed: int) -> None:
    """Also where a new count begins in the middle of the old one, or with its last step."""
    rng = random.Random(seed)
    m = Module()
    last, begins, steps = Signal(3), Signal(), Signal()
    count, at_last = count_through(m, "block", last, begins, steps)
    turns = 0

    async def bench(ctx: Any) -> None:
        nonlocal turns
        end, place = 0, 0
        for cycle in range(2000):
            begin, step, new = cycle == 0 or rng.random() < 0.05, rng.random() < 0.6, rng.randrange(8)
            ctx.set(begins, begin)
            ctx.set(steps, step)
            ctx.set(last, new)  # counts only with `begins`
            if cycle:
                assert ctx.get(count) == place
                assert ctx.get(at_last) == (place == end)
            if begin:
                end, place = new, 0
            elif step:
                turns += place == end
                place = 0 if place == end else place + 1
            await ctx.tick()

    simulate(m, bench)
    assert turns > 50
