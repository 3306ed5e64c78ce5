"""Primitives that change the program: it computes the same, and reads what they promise."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.nests.schedule.enumeration import accesses, scheduled_order
from tests.nests.schedule.programs import conv, gemm, jacobi, results, stencil

from axiloom.nests.poly.checks import faults
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.legality import is_legal


def same(start: Schedule, done: Schedule) -> None:
    assert results(done) == results(start)
    assert is_legal(done)
    assert not faults(done.program)


def reads_of(schedule: Schedule, array: str) -> int:
    statements = {each.name: each for each in schedule.program.statements}
    found: Counter[str] = Counter()
    for name, at in scheduled_order(schedule):
        found.update(each for each, _ in accesses(statements[name], at)[0])
    return found[array]


def test_a_window_with_line_buffers_reads_each_element_once() -> None:
    start = Schedule.of(stencil())
    done = start.reuse("A", "S1", "i", "j")
    same(start, done)
    assert reads_of(start, "A") == 9 * 5 * 7
    assert reads_of(done, "A") == 7 * 9
    assert {each.name: each.shape for each in done.program.arrays if each.name not in "AB"} == {
        "A_w": (3, 3), "A_l": (2, 9),
    }  # fmt: skip


def test_a_window_along_one_loop_reads_a_column_an_iteration() -> None:
    start = Schedule.of(stencil())
    done = start.reuse("A", "S1", "j")
    same(start, done)
    assert reads_of(done, "A") == 5 * 3 * 9


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        ((("unroll", "S1", "j", 4),), ("jo",)),
        ((("unroll", "S1", "j", 4),), ("i", "jo")),
        ((("tile", "S1", "i", "j", 2, 2), ("unroll", "S1", "ji"), ("unroll", "S1", "ii")), ("io", "jo")),
        ((("interchange", "S1", "i", "j"),), ("j", "i")),
    ],
)
def test_windows_move_by_several_elements_for_lanes(
    steps: tuple[tuple[str | int, ...]], loops: tuple[str]
) -> None:
    for cross in (False, True):
        start = done = Schedule.of(stencil(cross=cross))
        for name, *args in steps:
            done = getattr(done, str(name))(*args)
        done = done.reuse("A", "S1", *loops)
        same(start, done)
        assert reads_of(done, "A") == (63 if len(loops) == 2 else 135)


@pytest.mark.every(3)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("loops", [("y", "x"), ("x",)])
def test_windows_of_convolutions(stride: int, loops: tuple[str, ...]) -> None:
    start = Schedule.of(conv(stride))
    done = start
    for each in ("q", "p", "o"):
        done = done.unroll("S1", each)
    same(start, done.reuse("X", "S1", *loops))


def test_a_window_of_an_array_that_the_loop_writes_is_refused() -> None:
    p = Builder("inplace")
    A = p.inout("A", (9,), "int32")
    with p.loop("i", 0, 7) as i:
        A.set((i + 1,), A[i] + A[i + 2], "S1")
    with pytest.raises(ScheduleError, match="reuse A S1 i: S1 writes A within loop i"):
        Schedule.of(p.program()).reuse("A", "S1", "i")


def test_windows_say_with_which_loops_they_move() -> None:
    start = Schedule.of(stencil())
    with pytest.raises(ScheduleError, match="or with the last two: i j"):
        start.reuse("A", "S1", "i")
    by_columns = Schedule.of(gemm()).interchange("S2", "k", "j")
    with pytest.raises(ScheduleError, match="A does not move with loop j: nothing is new there"):
        by_columns.reuse("A", "S2", "k", "j")


@pytest.mark.parametrize(
    "lines",
    [
        (("buffer_at", "A", "S2", "i"),),
        (("buffer_at", "C", "S2", "j"),),
        (("tile", "S2", "i", "j", 2, 3), ("buffer_at", "C", "S2", "jo"), ("buffer_at", "A", "S2", "io")),
        (
            ("tile", "S2", "i", "j", "k", 2, 3, 2),
            ("buffer_at", "B", "S2", "ko"),
            ("buffer_at", "A", "S2", "ko"),
        ),
        (("fuse", "S2", "S1", "j"), ("buffer_at", "C", "S2", "j")),
    ],
)
def test_copies_of_slices(lines: tuple[tuple[str | int, ...]]) -> None:
    start = done = Schedule.of(gemm(5, 4, 6))
    for name, *args in lines:
        done = getattr(done, str(name))(*args)
    same(start, done)


def test_what_the_loop_writes_before_it_reads_is_not_copied_in() -> None:
    p = Builder("sums")
    A, s, t = p.input("A", (4, 5), "int32"), p.local("s", (4,), "int32"), p.output("t", (4,), "int32")
    with p.loop("i", 0, 4) as i:
        s.set((i,), 0, "S1")
        with p.loop("j", 0, 5) as j:
            s.set((i,), s[i] + A[i, j], "S2")
        t.set((i,), s[i] * 2, "S3")
    start = Schedule.of(p.program())
    done = start.buffer_at("s", "S2", "i")
    same(start, done)
    assert "s_i_in" not in [each.name for each in done.program.statements]


def test_a_slice_that_is_no_box_is_refused() -> None:
    p = Builder("moves")
    A = p.inout("A", (20,), "int32")
    with p.loop("t", 0, 4) as t, p.loop("i", 0, 4) as i:
        A.set((i + t,), A[i + t * 2 + 4], "S2")
    start = Schedule.of(p.program())
    with pytest.raises(ScheduleError, match="buffer_at A S2 t: subscripts"):
        start.buffer_at("A", "S2", "t")


@pytest.mark.every(7)
@pytest.mark.parametrize("how", ["turns", "lanes"])
@pytest.mark.parametrize("parts", [2, 3, 4, 7])
def test_partial_sums(parts: int, how: str) -> None:
    start = Schedule.of(gemm())
    same(start, start.reassociate("S2", "k", parts, how))
    tiled = start.tile("S2", "j", 3).unroll("S2", "ji")
    same(start, tiled.reassociate("S2", "k", parts, how))


def test_float_sums_are_only_reassociated_on_request() -> None:
    start = Schedule.of(gemm(number="float32"))
    with pytest.raises(ScheduleError, match=r"float32 rounds, .* say rounding=changes"):
        start.reassociate("S2", "k", 4)
    done = start.reassociate("S2", "k", 4, rounding="changes")
    assert done.log == ("reassociate S2 k 4 rounding=changes",)


def test_what_is_no_sum_is_not_reassociated() -> None:
    with pytest.raises(ScheduleError, match="S1 is not of the form T = T"):
        Schedule.of(jacobi()).reassociate("S1", "i", 2)
    with pytest.raises(ScheduleError, match="each iteration of j has a sum of its own"):
        Schedule.of(gemm()).interchange("S2", "j", "k").reassociate("S2", "j", 2)
