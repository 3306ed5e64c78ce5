"""float32, uint8 and fixed-point on the simulated SoC, the functional model in the accelerator's place."""

from __future__ import annotations

from typing import Any

import pytest

from axiloom import isa
from axiloom.drivergen import parse_workload
from axiloom.errors import SpecError
from axiloom.report.build import table
from axiloom.run.compare import compare
from axiloom.run.problem import Run


def run(problem: str, accelerator: str, **more: Any) -> Run:
    spec = isa.builtin(accelerator, data_type=problem.rpartition(":")[2])
    return Run(problem, parse_workload(problem).mlir, spec, sim="icarus", **more)


def test_float32_is_compared_by_a_bound() -> None:
    one = run("matmul:12x8x20:float32", "v3_4", model=True)
    report = one.report(against_cpu=True)
    result = report["result"]
    assert result["matches"]
    assert result["compared"] == (
        "within n u / (1 - n u) of sum |a||b|, which sums in any order keep; u = 2^-24, n roundings, n = 21"
    )
    assert 0 < result["largest"] < 1
    lines = table(report).splitlines()
    assert lines[-2] == "Result: close to NumPy in float64 in all 96 elements"
    assert lines[-1] == f"Compared: {result['compared']}; the farthest is at {result['largest']:.2f} of that"
    wrong = one.simulate()
    wrong.outputs["axl_arg2"][3, 5] += 1e-4
    found = compare(wrong, one.expected, one.margins)
    assert (found["matches"], found["mismatches"]) == (False, 1)
    assert found["first"].startswith("axl_arg2[3, 5] is ")
    wrong.outputs["axl_arg2"][0, 0] = float("nan")
    assert compare(wrong, one.expected, one.margins)["mismatches"] == 2


@pytest.mark.parametrize("problem", ["matmul:12x8x20:uint8", "matmul:12x8x20:fixed<16,8>"])
def test_integers_are_equal(problem: str) -> None:
    result = run(problem, "v3_4", model=True).report()["result"]
    assert result["matches"]
    assert "compared" not in result


def test_our_rtl_refuses() -> None:
    with pytest.raises(SpecError, match="there is no RTL of ours for it"):
        run("matmul:12x8x20:float32", "v3_4").report()
