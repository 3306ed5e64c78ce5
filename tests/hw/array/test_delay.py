# amaranth: UnusedElaboratable=no
"""A chain of registers: values come so many cycles late, and in their own shape."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import data
from tests.hw.component_bench import simulate

from axiloom.hw.array.delay import delayed


@pytest.mark.parametrize("cycles", [1, 2, 5])
def test_as_it_was_so_many_cycles_ago(cycles: int) -> None:
    rng = random.Random(cycles)
    m = Module()
    layout = data.StructLayout({"low": 3, "high": 5})
    value = Signal(layout)
    late = delayed(m, "value", value, cycles)
    assert late.shape() == layout
    given: list[int] = []

    async def bench(ctx: Any) -> None:
        for _ in range(50):
            given.append(rng.getrandbits(8))
            ctx.set(value.as_value(), given[-1])
            if len(given) > cycles:
                expected = given[-1 - cycles]
                assert (ctx.get(late.low), ctx.get(late.high)) == (expected & 7, expected >> 3)
            await ctx.tick()

    simulate(m, bench)


def test_no_delay_is_the_value_itself() -> None:
    value = Signal(3)
    assert delayed(Module(), "value", value, 0) is value
