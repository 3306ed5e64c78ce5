"""Counters go through the points of their bounds, in order, and know the last."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate
from tests.nest import circuits, model

from axiloom.hw.nest.circuit import Counter
from axiloom.hw.nest.counters import Counters, first_values

CASES = [circuits.triangular(), circuits.one_pipe(), circuits.dynamic_banks()]


@pytest.mark.parametrize("counters", [case.pipes[0].counters for case in CASES] + [()], ids=str)
def test_all_points_twice(counters: tuple[Counter, ...]) -> None:
    rng = random.Random(1)
    m, start, advance = Module(), Signal(), Signal()
    unit = Counters(m, "p", counters, start, advance)
    points = list(model.points(counters))
    assert first_values(counters) == points[0]
    beat = Signal()
    m.d.sync += beat.eq(~beat)

    async def bench(ctx: Any) -> None:
        for end in (len(points) // 2, len(points)):  # broken off by a start, then whole
            ctx.set(start, 1)
            await ctx.tick()
            ctx.set(start, 0)
            for number, point in enumerate(points[:end]):
                while True:
                    go = rng.random() < 0.7
                    ctx.set(advance, go)
                    assert {name: ctx.get(value) for name, value in unit.values.items()} == point
                    assert ctx.get(unit.ended) == (number == len(points) - 1)
                    await ctx.tick()
                    if go:
                        break
            ctx.set(advance, 0)

    simulate(m, bench)
