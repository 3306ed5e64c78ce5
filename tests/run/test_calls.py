"""Several calls of a driver in one program: each is right, and the later ones find the caches warm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.cosim.job import Result
from axiloom.cosim.system import System
from axiloom.report.build import cpu_title, summary, table
from axiloom.report.types import Kernel
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate

V3 = isa.builtin("v3_4")
RUN = ProblemRun(Workload.of("matmul:4x4x4"), System(V3), calls=3)


def test_expected_sums_grow_with_each_call() -> None:
    a, b, c = (RUN.inputs[f"axl_arg{i}"] for i in range(3))
    for number, found in enumerate(RUN.each_expected, 1):
        np.testing.assert_array_equal(found["axl_arg2"], c + number * (a @ b))
    assert RUN.expected is RUN.each_expected[-1]
    assert RUN.multiply_adds == 3 * 4**3


def test_the_program_calls_the_driver_so_often(tmp_path: Path) -> None:
    RUN.build(tmp_path)
    assert (
        "for (int call = 0; call < 3 && status == DMA_OK; call++)" in (tmp_path / "driver_main.c").read_text()
    )
    replace(RUN, calls=1).build(tmp_path)
    assert "for (" not in (tmp_path / "driver_main.c").read_text()


def test_rounded_sums_are_refused() -> None:
    system = System(isa.builtin("v3", 4, "float32"))
    with pytest.raises(UsageError, match=r"^--calls: sums of float32 are rounded"):
        ProblemRun(Workload.of("matmul:4x4x4:float32"), system, calls=2)


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(RUN)


def test_each_call_is_right_and_the_first_takes_longest(result: Result) -> None:
    report = RUN.checked(result)
    calls, limit = report["limit"]["calls"], report["limit"]["call_limit"]
    assert report["result"]["matches"]
    assert len(calls) == 3
    assert calls[0] > 1.2 * max(calls[1:])
    assert report["limit"]["call_ratio"] == pytest.approx(calls[0] / limit, rel=0.01)
    later = sum(calls[1:]) / 2
    assert f"cycles at first, {calls[0] / limit:.2f} times {limit:,}, then {later:,.0f}" in table(report)


def test_a_wrong_call_is_named_though_the_last_one_is_right(result: Result) -> None:
    outputs = [dict(one) for one in result.call_outputs]
    outputs[1]["axl_arg2"] = outputs[1]["axl_arg2"] + 1
    report = RUN.checked(replace(result, call_outputs=outputs))
    assert report["result"]["matches"] is False
    assert (report["result"]["first"] or "").startswith("call 2: axl_arg2[0, 0] is ")
    assert any("call 2" in line for line in summary(report))


@pytest.mark.parametrize("kernel", ["loops", "neon"])
def test_the_cpu_alone_is_called_as_often(result: Result, kernel: Kernel) -> None:
    alone = RUN.on_cpu(kernel, None)
    assert alone["result"]["matches"]
    theirs = alone["calls"]
    assert len(theirs) == 3
    assert theirs[0] > 1.2 * max(theirs[1:])
    report = RUN.checked(result, alone)
    assert report["cpu"]["calls"] == theirs
    ours = report["limit"]["calls"]
    line = next(line for line in table(report).splitlines() if line.startswith("Calls: "))
    assert line.startswith(f"Calls: {ours[0]:,} cycles at first, {cpu_title(alone)} {theirs[0]:,} (")
    assert f"; later {sum(ours[1:]) / 2:,.0f} and {sum(theirs[1:]) / 2:,.0f} (" in line


def test_one_call_has_no_line_of_calls() -> None:
    alone = replace(RUN, calls=1).on_cpu("loops", None)
    assert "calls" not in alone
