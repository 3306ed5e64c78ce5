"""Kernels beside matmul and convolution, through the whole system on the engines for these."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.some import slow

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.cosim.system import System
from axiloom.drivergen import parse_workload
from axiloom.report.build import table
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of, simulate_cpu


def run(problem: str, name: str, *, sg: bool = False) -> ProblemRun:
    dtype = parse_workload(problem).dtype
    spec = isa.builtin(name, 4 if name in ("v1", "v2", "v3") else None, dtype)
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=sg))
    return ProblemRun(Workload.of(problem), System(spec))


def checked(problem: str, name: str, *, sg: bool = False) -> Report:
    report = report_of(run(problem, name, sg=sg))
    assert report["result"]["matches"]
    return report


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("problem", "name", "sg"),
    [
        ("matvec:9x10", "v1", False),
        ("vecmat:10x9", "v2", False),
        ("dot:21", "v3", False),
        ("bmm:2x5x6x7", "v3", False),
        pytest.param("matvec:16x32:int8", "v4", True, marks=pytest.mark.slow),
        pytest.param("bmm:2x8x16x8:int8", "conv_v4", True, marks=pytest.mark.slow),
        slow("matvec:24x32:int8", "conv_v4", True),
        ("dwconv:8x8,8,3x3,pad=1:int8", "conv_v4", True),
        slow("dwconv:6x7,3,3x3,stride=2:int8", "conv_v4", False),
        ("conv:6x6,8,3x3,4,groups=2:int8", "conv_v4", True),
        pytest.param("dwconv:5x5,2,3x3", "conv_v3", False, marks=pytest.mark.slow),
    ],
)
def test_equal_to_numpy(problem: str, name: str, sg: bool) -> None:
    report = checked(problem, name, sg=sg)
    assert report["limit"]["ratio"] > 1


@pytest.mark.slow
def test_advice() -> None:
    """Asked for, it runs; the report says that the CPU alone is faster."""
    report = checked("dot:21", "v3")
    assert report["advice"].startswith("keep this size on the CPU (an estimate): about 0.06")
    assert f"\nAdvice: {report['advice']}\n" in table(report)
    assert "advice" not in checked("bmm:2x5x6x7", "v3")


def test_programs_by_hand_are_for_matmul_and_convolution() -> None:
    with pytest.raises(UsageError, match="cpu_neon is written for matmul:MxNxK and conv:"):
        simulate_cpu(run("dot:21", "v3"), "neon")
    grouped = run("conv:6x6,8,3x3,4,groups=2:int8", "conv_v4")
    with pytest.raises(
        UsageError, match=r"programs by hand are for matmul:MxNxK and for conv:\.\.\. without groups"
    ):
        simulate_cpu(grouped, "neon")
