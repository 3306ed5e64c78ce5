"""Schedules as text, in and out."""

from __future__ import annotations

import pytest
from tests.nests.schedule.programs import gemm, seidel, stencil

from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.replay import replay, text
from axiloom.nests.schedule.show import dependence_table, dot, tree

LINES = """\
sink S1 S2 k               # the scaling, at the first k
tile S2 i j 2 4
reorder S2 k io jo ii ji

unroll S2 ji
unroll S2 ii
partition C cyclic 2 4
storage A distributed ports=2
pipeline S2 1
"""


def test_a_schedule_is_its_lines() -> None:
    done = replay(gemm(), LINES)
    assert replay(gemm(), text(done)) == done
    assert done.unrolled == {"ii", "ji"}
    assert text(done).splitlines()[0] == "sink S1 S2 k"


def test_lines_that_change_the_program_replay_from_the_first_program() -> None:
    done = Schedule.of(stencil()).unroll("S1", "j", 2).reuse("A", "S1", "i", "jo").storage("A_l", "block")
    assert replay(stencil(), text(done)) == done


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("tile S2 i j 2 2\ntiel S1 i 2", "s.sched:2: no primitive 'tiel': did you mean tile?"),
        ("__import__ os", "s.sched:1: no primitive '__import__': there are"),
        ("storage A ports=2 block", "s.sched:1: storage A ports=2 block: block comes after an option"),
        ("split S2 i 2 inner=a b=3", "s.sched:1: split S2 i 2 inner=a b=3: got an unexpected keyword"),
        ("\n\nsink S1 S2 k last", "s.sched:3: sink S1 S2 k last: S2(0, 0, 0) would read C[0][0] before"),
    ],
)
def test_faults_have_their_line(lines: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        replay(gemm(), lines, "s.sched")
    assert str(caught.value).startswith(message)


def test_loops_are_shown_as_a_tree() -> None:
    assert (
        tree(replay(gemm(), "sink S1 S2 k\nunroll S2 j 4\npipeline S2 2"))
        == """\
nest 1, interval 2
  for i 0..6
    for jo 0..1
      for k 0..6
        for ji 0..3, unrolled
          S1(i, ji + 4*jo)
          S2(i, ji + 4*jo, k)"""
    )


def test_dependences_are_shown_by_loop() -> None:
    assert (
        dependence_table(Schedule.of(gemm()))
        == """\
RAW S1 -> S2  C
RAW S2 -> S2  C  i 0, j 0, k 1  (=, =, <)
WAW S1 -> S2  C
WAW S2 -> S2  C  i 0, j 0, k 1  (=, =, <)
live in: A, read by S2
live in: B, read by S2
live in: C, read by S1"""
    )
    assert "WAR S1 -> S1  A  t 0..1, i -1..1, j -1..1  (<=, *, *)" in dependence_table(Schedule.of(seidel()))
    assert '"S2" -> "S2" [label="RAW C (0, 0, 1)", style=solid];' in dot(Schedule.of(gemm()))
