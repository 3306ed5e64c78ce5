"""Windows over random stencils: strides, lanes, one loop or two, triangles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nests.schedule.programs import results

from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Program
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.legality import is_legal

Tap = tuple[int, int]


def stencil(size: Tap, stride: Tap, first: Tap, taps: list[Tap], triangle: bool) -> Program:
    p = Builder("stencil")
    shape = [s * (f + n) + 4 for s, f, n in zip(stride, first, size, strict=True)]
    A = p.input("A", shape, "int32")
    B = p.inout("B", (2, first[0] + size[0], first[0] + first[1] + sum(size)), "int32")
    with (
        p.loop("c", 0, 2) as c,
        p.loop("i", first[0], first[0] + size[0]) as i,
        p.loop("j", i if triangle else first[1], first[1] + size[1]) as j,
    ):
        total = A[i * stride[0], j * stride[1]] * 1
        for weight, (a, b) in enumerate(taps, 2):
            total = total + A[i * stride[0] + a, j * stride[1] + b] * weight
        B.set((c, i, j), total, "S")
    return p.program()


few = st.integers(1, 3)


@settings(max_examples=25, deadline=None)
@given(
    size=st.tuples(st.integers(3, 5), st.integers(3, 6)),
    stride=st.tuples(few, few),
    first=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    taps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4),
    triangle=st.booleans(),
    lanes=few,
    rows=st.booleans(),
)
def test_windows_change_no_result(
    size: Tap, stride: Tap, first: Tap, taps: list[Tap], triangle: bool, lanes: int, rows: bool
) -> None:
    start = done = Schedule.of(stencil(size, stride, first, taps, triangle))
    inner = "j"
    if lanes > 1:
        done, inner = start.unroll("S", "j", lanes), "jo"
    done = done.reuse("A", "S", *(("i", inner) if rows else (inner,)))
    assert is_legal(done)
    assert not faults(done.program)
    assert results(done) == results(start)


@pytest.mark.every(4)
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("taps", [[], [(0, 1)], [(1, 0), (0, 2)]])
@pytest.mark.parametrize("by", [1, 2])
def test_a_window_along_a_skewed_loop_stays_in_the_array(by: int, taps: list[Tap], rows: bool) -> None:
    """Its loop runs over what any row needs, in each row."""
    start = Schedule.of(stencil((4, 5), (1, 2), (0, 0), taps, False))
    done = start.skew("S", "j", "c" if rows else "i", by).reuse("A", "S", *(("i", "j") if rows else ("j",)))
    assert is_legal(done)
    assert not faults(done.program)
    assert results(done) == results(start)
