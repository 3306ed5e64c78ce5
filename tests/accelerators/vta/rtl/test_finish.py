# amaranth: UnusedElaboratable=no
"""FINISH: done with the first one, and until a reset."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Const, Module
from tests.accelerators.vta.rtl.device_bench import Bench
from tests.hw.component_bench import simulate

from axiloom.accelerators.vta.rtl.finish import Finish
from axiloom.hw.command.unit import Task


def test_finish() -> None:
    meaning = Bench(3, 8, divided=32).machine.meanings["finish"]
    m, unit = Module(), Finish({"finish": Task(meaning, Const(1))}, {})
    unit.build(m)
    seen = []

    async def drive(ctx: Any) -> None:
        for start in (0, 0, 1, 0, 0, 1, 0):
            ctx.set(unit.start, start)
            seen.append((ctx.get(unit.done), ctx.get(unit.finished)))
            await ctx.tick()

    simulate(m, drive)
    assert seen == [(0, 0), (0, 0), (1, 0), (0, 1), (0, 1), (1, 1), (0, 1)]
