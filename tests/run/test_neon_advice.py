"""A report says that NEON is faster where it is, and only there."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.report.build import table
from axiloom.report.types import Report
from axiloom.run import neon_advice
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate

SMALL = ProblemRun(Workload.of("matmul:8x8x8"), System(isa.builtin("v3_4")), calls=3)


@cache
def report() -> Report:
    return SMALL.checked(simulate(SMALL))


def test_it_says_so_of_later_calls() -> None:
    built = report()
    neon_advice.add(built, SMALL)
    theirs = SMALL.on_cpu("neon", None)["calls"][1]
    ours = round(sum(built["limit"]["calls"][1:]) / 2)
    assert theirs < ours
    assert built["advice"].startswith("NEON would take about ")
    assert (
        f" cycles a later call (estimate; --against neon measures it), the accelerator takes {ours:,}"
        in built["advice"]
    )
    assert f"\nAdvice: {built['advice']}\n" in table(built)


@pytest.mark.parametrize("cycles", [40, 50])
def test_not_where_the_accelerator_is_faster(cycles: int) -> None:
    built = report() | {"limit": report()["limit"] | {"call_cycles": cycles, "calls": [cycles] * 3}}
    built.pop("advice", None)
    neon_advice.add(built, SMALL)
    assert "advice" not in built


def test_not_beside_a_measurement_nor_without_a_kernel() -> None:
    measured = {name: value for name, value in report().items() if name != "advice"} | {"cpu": {}}
    neon_advice.add(measured, SMALL)  # type: ignore[arg-type]
    assert "advice" not in measured
    built = report()
    built.pop("advice", None)
    other = replace(SMALL, workload=replace(SMALL.workload, name="bmm:2x8x8x8"))
    neon_advice.add(built, other)
    assert "advice" not in built
