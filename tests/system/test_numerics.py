"""float32, uint8 and fixed-point on the simulated SoC, the functional model in the accelerator's place."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.cosim.system import System
from axiloom.report.build import table
from axiloom.run.compare import compare
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of, simulate


def run(problem: str, accelerator: str, *, model: bool = False) -> ProblemRun:
    spec = isa.builtin(accelerator, data_type=problem.rpartition(":")[2])
    return ProblemRun(Workload.of(problem), System(spec, sim="icarus", model=model))


@pytest.mark.slow
def test_float32_is_compared_by_a_bound() -> None:
    one = run("matmul:12x8x20:float32", "v3_4", model=True)
    report = report_of(one, against="loops")
    result = report["result"]
    assert result["matches"]
    assert result["compared"] == (
        "within n u / (1 - n u) of sum |a||b|, which sums in any order keep; u = 2^-24, n roundings, n = 21"
    )
    assert 0 < result["largest"] < 1
    lines = table(report).splitlines()
    where = lines.index("Result: close to NumPy in float64 in all 96 elements")
    assert (
        lines[where + 1]
        == f"Compared: {result['compared']}; the farthest is at {result['largest']:.2f} of that"
    )
    wrong = simulate(one)
    wrong.outputs["axl_arg2"][3, 5] += 1e-4
    found = compare(wrong, one.expected, one.margins)
    assert (found["matches"], found["mismatches"]) == (False, 1)
    assert found["first"].startswith("axl_arg2[3, 5] is ")
    wrong.outputs["axl_arg2"][0, 0] = float("nan")
    assert compare(wrong, one.expected, one.margins)["mismatches"] == 2


@pytest.mark.every(2)
@pytest.mark.parametrize("problem", ["matmul:12x8x20:uint8", "matmul:12x8x20:fixed<16,8>"])
def test_integers_are_equal(problem: str) -> None:
    result = report_of(run(problem, "v3_4", model=True))["result"]
    assert result["matches"]
    assert "compared" not in result


def test_our_rtl_refuses() -> None:
    with pytest.raises(SpecError, match="there is no RTL of ours for it"):
        report_of(run("matmul:12x8x20:float32", "v3_4"))
