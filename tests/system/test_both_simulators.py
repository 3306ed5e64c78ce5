"""Icarus and Verilator agree on result, fabric cycles and every counter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of


@pytest.mark.every(9)
@pytest.mark.icarus
@pytest.mark.parametrize(
    ("name", "dtype", "width", "scatter_gather", "pipeline"),
    [
        ("v1_4", "int32", 32, False, "published"),
        ("v3_4", "int32", 32, True, "all"),
        ("v4_16", "int32", 32, False, "published"),
        ("v2_4", "int16", 64, True, "all"),
        ("v3_8", "int8", 128, False, "copying"),
    ],
)
def test_simulators_agree(name: str, dtype: str, width: int, scatter_gather: bool, pipeline: str) -> None:
    spec = isa.builtin(name, data_type=dtype)
    spec = isa.revise(spec, stream_width=width, dma=replace(spec.link.dma, scatter_gather=scatter_gather))
    problem, schedule = Workload.of(f"matmul:10x9x7:{dtype}"), Schedule(pipeline=pipeline)
    one, other = (
        report_of(ProblemRun(problem, System(spec, sim=sim), schedule)) for sim in ("verilator", "icarus")
    )
    assert one["result"]["matches"]
    assert other["result"] == one["result"]
    assert other["fabric"] == one["fabric"]
    assert other["counters"] == one["counters"]


@pytest.mark.slow
def test_two_runs_give_the_same_bytes() -> None:
    one = ProblemRun(Workload.of("matmul:20x20x20"), System(isa.builtin("v3_4")))
    run = [report_of(one) for _ in range(2)]
    for report in run:
        del report["simulation"]
    assert run[0] == run[1]
