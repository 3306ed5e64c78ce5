# amaranth: UnusedElaboratable=no
"""What units share: values of the command under way, in the same bits or in others; flags and resets."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from tests.hw.component_bench import simulate

from axiloom.hw.command.meaning import Meaning
from axiloom.hw.command.unit import Task, Unit, flag
from axiloom.isa.instructions.tree import Bits, Const, Name, unsigned


def _bits(low: int) -> Bits:
    return Bits(Name("word", unsigned(64)), Const(low), 8)


@pytest.mark.parametrize("places", [(3, 3), (3, 20)])
def test_values(places: tuple[int, int]) -> None:
    word, active = Signal(64), [Signal(name=f"active_{n}") for n in range(2)]
    tasks = {
        f"unit_{n}": Task(Meaning(f"one_{n}", f"unit_{n}", {}, {}, {"count": _bits(low)}, {}), active[n])
        for n, low in enumerate(places)
    }
    m, unit = Module(), Unit("unit", tasks, {"word": word})
    value = Signal(8)
    m.d.sync += value.eq(unit.value(m, "count"))
    seen = []

    async def drive(ctx: Any) -> None:
        ctx.set(word, 0x1122_3344_5566_7788)
        for n in range(2):
            for place in range(2):
                ctx.set(active[place], place == n)
            await ctx.tick()
            seen.append(ctx.get(value))

    simulate(m, drive)
    assert seen == [0x1122_3344_5566_7788 >> low & 255 for low in places]


def test_a_flag_is_cleared_on_its_way() -> None:
    inner, reset, given, seen = Module(), Signal(), Signal(), []
    late = flag(inner, given, "late", 3)
    m = Module()
    m.submodules.inner = ResetInserter(reset)(inner)

    async def drive(ctx: Any) -> None:
        for cycle in range(12):
            ctx.set(given, cycle in (0, 4, 6))
            ctx.set(reset, cycle == 5)
            seen.append(ctx.get(late))
            await ctx.tick()

    simulate(m, drive)
    assert [cycle for cycle, one in enumerate(seen) if one] == [3, 9]
