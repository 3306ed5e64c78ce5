"""overlay: one memory for two arrays; and buffers of arrays that nothing else reads."""

from __future__ import annotations

import numpy as np
import pytest

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError


def chain(late: bool = False) -> Program:
    """out = (x + 1) * 2 + 3, array by array; `late`: plus the first of them."""
    p = Builder("chain")
    x, one, two, out = p.input("x", (6,)), p.local("one", (6,)), p.local("two", (6,)), p.output("out", (6,))
    with p.loop("i", 0, 6) as i:
        one[i] = x[i] + 1.0
    with p.loop("i", 0, 6) as i:
        two[i] = one[i] * 2.0
    with p.loop("i", 0, 6) as i:
        out[i] = two[i] + 3.0 + one[i] if late else two[i] + 3.0
    return p.program()


def same(one: Program | Schedule, other: Program | Schedule) -> None:
    x = {"x": np.arange(6, dtype=np.float32)}
    assert np.array_equal(interpret(one, x)["out"], interpret(other, x)["out"])


def test_chain_in_one_memory() -> None:
    schedule = Schedule.of(chain()).overlay("one", "out").overlay("two", "out")
    assert [each.name for each in schedule.program.arrays] == ["x", "out"]
    same(schedule, chain())


def test_needed_later() -> None:
    schedule = Schedule.of(chain(late=True))
    with pytest.raises(ScheduleError, match=r"overlay two one: S2 would read the other array's contents"):
        schedule.overlay("two", "one")
    same(schedule.overlay("two", "out"), chain(late=True))


def test_result_must_stay() -> None:
    p = Builder("both")
    x, late, out = p.input("x", (6,)), p.local("late", (6,)), p.output("out", (6,))
    with p.loop("i", 0, 6) as i:
        out[i] = x[i]
    with p.loop("i", 0, 6) as i:
        late[i] = x[i] + 1.0
    with pytest.raises(ScheduleError, match="the caller would find elements of late in out"):
        Schedule.of(p.program()).overlay("late", "out")


def test_refused() -> None:
    schedule = Schedule.of(chain())
    with pytest.raises(ScheduleError, match="x is an input, which nothing may write to"):
        schedule.overlay("one", "x")
    with pytest.raises(ScheduleError, match="name a local array and another array; x is in"):
        schedule.overlay("x", "one")


@pytest.mark.parametrize("outside", [False, True])
def test_buffer_of_what_nothing_else_reads(outside: bool) -> None:
    """A row of a local array is all that is kept; not if a later nest reads the array."""
    p = Builder("rows")
    x, t, out = p.input("x", (6,)), p.local("t", (4, 6)), p.output("out", (6,))
    with p.loop("j", 0, 6) as j:
        out[j] = 0.0
    with p.loop("i", 0, 4) as i:
        with p.loop("j", 0, 6) as j:
            t[i, j] = x[j] * 2.0
        with p.loop("j", 0, 6) as j:
            out[j] = out[j] + t[i, j]
    if outside:
        with p.loop("j", 0, 6) as j:
            out[j] = out[j] + t[3, j]
    schedule = Schedule.of(p.program()).buffer_at("t", "S1", "i")
    assert ("t" in [each.name for each in schedule.program.arrays]) is outside
    same(schedule, p.program())
