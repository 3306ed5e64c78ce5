# amaranth: UnusedElaboratable=no
"""A command is held from the cycle in which it is taken until its unit is done."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Module, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.command.decode import Decoded
from axiloom.hw.command.held import Held


def test_a_command_is_held_while_its_unit_works() -> None:
    word, begins, other = Signal(8), Signal(), Signal()
    of = {name: Decoded(Signal(name=f"is_{name}"), Signal(), {}) for name in ("gemm", "alu", "load")}
    held = Held("unit", {"word": word}, of, ("gemm", "alu"))
    unit = SimpleNamespace(start=Signal(name="start"), done=Signal(name="done"))
    m = Module()
    held.build(m, begins, unit)
    m.d.sync += other.eq(held.wanted)
    seen = []

    async def drive(ctx: Any) -> None:
        for cycle in range(12):
            ctx.set(word, 10 + cycle)
            ctx.set(of["load"].enabled, cycle in (1, 4))
            ctx.set(of["alu"].enabled, cycle in (2, 3))
            ctx.set(of["gemm"].enabled, cycle == 8)
            ctx.set(begins, cycle in (1, 3, 4, 8))
            ctx.set(unit.done, cycle in (6, 10))
            seen.append(
                tuple(ctx.get(one) for one in (unit.start, held.running, held.words["word"]))
                + tuple(ctx.get(one) for one in held.active.values())
            )
            await ctx.tick()

    simulate(m, drive)
    # start, running, word, gemm, alu
    assert seen[:4] == [(0, 0, 0, 0, 0)] * 4  # a load is none of its commands; ALU waits at the front
    assert seen[4] == (1, 1, 13, 0, 1)
    assert seen[5:7] == [(0, 1, 13, 0, 1)] * 2
    assert seen[7:9] == [(0, 0, 13, 0, 1)] * 2
    assert seen[9] == (1, 1, 18, 1, 0)
    assert seen[11] == (0, 0, 18, 1, 0)
