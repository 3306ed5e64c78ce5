"""The bound stands in the report, and no call passes it."""

from dataclasses import replace

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.report.build import table
from axiloom.run import device_bound
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate

SPEC = isa.builtin("v3_4")
SG = isa.revise(SPEC, dma=replace(SPEC.dma, scatter_gather=True))


def test_no_call_passes_it() -> None:
    run = ProblemRun(Workload.of("matmul:8x8x8"), System(SG), Schedule(pipeline="all"), calls=3)
    report = run.checked(simulate(run))
    report["config"]["pipeline"] = "all"
    device_bound.add(report, run)
    limit = report["limit"]
    assert limit["call_limit"] < limit["alone_cycles"] < min(limit["calls"])
    assert f"; the device alone needs {limit['alone_cycles']:,}, " in table(report)


def test_not_without_a_queue() -> None:
    run = ProblemRun(Workload.of("matmul:4x4x4"), System(SPEC), calls=2)
    report = run.checked(simulate(run))
    device_bound.add(report, run)
    assert "alone_cycles" not in report["limit"]
