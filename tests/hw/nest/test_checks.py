"""The first check that fails is told, and stays."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.nest.checks import Checks


def test_the_first_fault_stays() -> None:
    m, bad = Module(), [Signal(name=f"bad_{number}") for number in range(3)]
    checks = Checks(True)
    for number, one in enumerate(bad):
        checks.never(f"fault {number}", one)
    error = checks.build(m)
    assert checks.texts == ["fault 0", "fault 1", "fault 2"]

    async def bench(ctx: Any) -> None:
        await ctx.tick()
        assert ctx.get(error) == 0
        ctx.set(bad[2], 1)
        ctx.set(bad[1], 1)
        await ctx.tick()
        assert ctx.get(error) == 2
        ctx.set(bad[0], 1)
        await ctx.tick()
        assert ctx.get(error) == 2

    simulate(m, bench)


def test_without_checks_nothing_is_watched() -> None:
    checks = Checks(False)
    checks.never("fault", Signal())
    assert checks.texts == []
