"""A component, or a module around a function that adds to one, in Amaranth's simulator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from amaranth.sim import Simulator

Testbench = Callable[[Any], Awaitable[None]]


def simulate(design: Any, *benches: Testbench, models: Sequence[Testbench] = ()) -> None:
    """Until all `benches` end; `models` go on as long. In each cycle the models run first, then the benches,
    each in order, and see what those before have set."""
    simulator = Simulator(design)
    simulator.add_clock(1e-8)
    for model in models:
        simulator.add_testbench(model, background=True)
    for bench in benches:
        simulator.add_testbench(bench)
    simulator.run()
