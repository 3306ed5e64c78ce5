"""Coalesced drivers on the RTL: the same result as NumPy's, with fewer transfers."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import reports_of


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v3_4", "v4_16"])
def test_equal_to_numpy_with_fewer_transfers(name: str) -> None:
    problem, system = Workload.of("matmul:44x37x50"), System(isa.builtin(name))
    published, coalesced = reports_of(
        [ProblemRun(problem, system, Schedule("Cs", pipeline=one)) for one in ("published", "coalesced")]
    )
    for report in (published, coalesced):
        assert report["result"]["matches"], report["result"]["first"]
        assert report["stale"] == []
    assert coalesced["config"]["pipeline"] == "coalesced"
    assert coalesced["fabric"]["words_in"] == published["fabric"]["words_in"]
    assert coalesced["fabric"]["transfers_in"] < published["fabric"]["transfers_in"]
    assert coalesced["fabric"]["transfers_out"] == published["fabric"]["transfers_out"]
