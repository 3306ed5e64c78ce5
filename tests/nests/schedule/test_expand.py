"""expand: every iteration has an array of its own, if no value passes between them."""

from __future__ import annotations

import pytest
from tests.nests.schedule.programs import results

from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.legality import is_legal

N = "int32"


def sums(first: int = 0) -> Program:
    """Of the rows of a lower triangle, in a local scalar."""
    p = Builder("sums")
    A, y, t = p.input("A", (6, 6), N), p.output("y", (6,), N), p.local("t", (), N)
    with p.loop("i", first, 6) as i:
        t.set((), 0, "S0")
        with p.loop("j", 0, i + 1) as j:
            t.set((), t[()] + A[i, j], "S1")
        y.set((i,), t[()], "S2")
    if first:
        with p.loop("z", 0, first) as z:
            y.set((z,), 0, "S3")
    return p.program()


@pytest.mark.parametrize("first", [0, 2])
def test_rows_no_longer_wait_for_each_other(first: int) -> None:
    start = Schedule.of(sums(first))
    with pytest.raises(LegalityError):
        start.fission("S1", "i")
    done = start.expand("t", "i")
    assert done.program.array("t").shape == (6 - first,)
    apart = done.fission("S1", "i").fission("S2", "i").reorder("S1", "j", "i")
    assert results(apart) == results(done) == results(start)
    assert is_legal(apart)
    assert not faults(apart.program)
    assert apart.log[0] == "expand t i"


def test_a_value_that_passes_on_is_refused() -> None:
    p = Builder("last")
    A, y, t = p.input("A", (4,), N), p.output("y", (4,), N), p.local("t", (), N)
    t.set((), 0, "S0")
    with p.loop("i", 0, 4) as i:
        y.set((i,), t[()], "S1")
        t.set((), A[i], "S2")
    with pytest.raises(ScheduleError, match="no loop of S0 'i': there are none"):
        Schedule.of(p.program()).expand("t", "i")
    p = Builder("running")
    A, y, t = p.input("A", (4,), N), p.output("y", (4,), N), p.local("t", (1,), N)
    with p.loop("i", 0, 4) as i:
        with p.loop("z", 0, 1 - i) as z:
            t.set((z,), 0, "S0")
        t.set((0,), t[0] + A[i], "S1")
        y.set((i,), t[0], "S2")
    with pytest.raises(LegalityError) as caught:
        Schedule.of(p.program()).expand("t", "i")
    assert str(caught.value) == (
        "expand t i: S1(1) reads what S1(0) has written into t, in another iteration of loop i"
    )


@pytest.mark.parametrize(
    ("array", "loops", "text"),
    [
        ("A", ["i"], "expand A i: A is the caller's: only a local array can change its shape"),
        ("t", [], "expand t: name the loops, each once"),
        ("t", ["j"], "no loop of S0 'j': there are i"),
        ("u", ["i"], "no array 'u': there are A, y, t"),
    ],
)
def test_refusals(array: str, loops: list[str], text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        Schedule.of(sums()).expand(array, *loops)
    assert text in str(caught.value)


def test_a_layout_comes_afterwards() -> None:
    with pytest.raises(ScheduleError, match="t has a layout already"):
        Schedule.of(sums()).storage("t", "registers").expand("t", "i")
