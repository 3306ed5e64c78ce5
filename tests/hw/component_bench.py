"""A component, or a module around a function that adds to one, in Amaranth's simulator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from amaranth.sim import Simulator

Testbench = Callable[[Any], Awaitable[None]]


def simulate(design: Any, *benches: Testbench, models: Sequence[Testbench] = (), limit: int = 50_000) -> None:
    """Until all `benches` end, at most `limit` cycles; `models` go on as long. In each cycle the models run
    first, then the benches, each in order, and see what those before have set."""

    async def watchdog(ctx: Any) -> None:
        for _ in range(limit):
            await ctx.tick()
        raise AssertionError(f"no end after {limit} cycles")

    simulator = Simulator(design)
    simulator.add_clock(1e-8)
    for model in (watchdog, *models):
        simulator.add_testbench(model, background=True)
    for bench in benches:
        simulator.add_testbench(bench)
    simulator.run()
