# amaranth: UnusedElaboratable=no
"""Delay lines: a value comes so many cycles late, and every length of the same value is one line."""

from __future__ import annotations

import random
from typing import Any

from amaranth.hdl import Const, Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.nest.delays import Delays


def test_so_many_cycles_ago() -> None:
    rng = random.Random(1)
    m, value = Module(), Signal(8)
    delays = Delays(m)
    late = {cycles: delays.after("value", "value", value, cycles) for cycles in (5, 0, 2)}
    given: list[int] = []

    async def bench(ctx: Any) -> None:
        for _ in range(50):
            given.append(rng.getrandbits(8))
            ctx.set(value, given[-1])
            for cycles, signal in late.items():
                if len(given) > cycles:
                    assert ctx.get(signal) == given[-1 - cycles]
            await ctx.tick()

    simulate(m, bench)


def test_lines_are_shared_and_have_no_reset() -> None:
    m, value, constant = Module(), Signal(8), Const(3, 4)
    delays = Delays(m)
    line = [delays.after("value", "value", value, cycles) for cycles in range(4)]
    assert line[0] is value
    assert delays.after("value", "other", value, 3) is line[3]
    assert all(isinstance(one, Signal) and one.reset_less for one in line[1:])
    assert delays.after("constant", "constant", constant, 7) is constant
