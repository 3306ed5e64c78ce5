"""Remedies by what the cost model says they win."""

from __future__ import annotations

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.report.types import Gain
from axiloom.run import gains
from axiloom.run.gains import worth
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate


def test_a_remedy_that_wins_nothing_is_none_and_the_best_is_first() -> None:
    known: dict[str, Gain | None] = {
        "slower": {"times": 0.7, "at_most": False},
        "no faster": {"times": 1.0, "at_most": True},
        "a little": {"times": 1.01, "at_most": False},
        "unknown": None,
        "most": {"times": 1.8, "at_most": True},
    }
    assert worth(list(known), known) == ["most", "a little", "unknown"]
    assert worth(["slower"], known) == []


def test_of_several_calls_all_count() -> None:
    """A driver that takes less time wins with each call: what it wins does not fall with their number."""
    system, found = System(isa.builtin("v3_4")), []
    for calls in (1, 4):
        run = ProblemRun(Workload.of("matmul:16x16x16"), system, Schedule(pipeline="published"), calls=calls)
        report = run.checked(simulate(run))
        gains.add(report, run)
        best = [one["gains"] for one in report["losses"] if one.get("gains")]
        found.append(max(gain["times"] for one in best for gain in one.values()))
    once, often = found
    assert 1.2 < once < often
