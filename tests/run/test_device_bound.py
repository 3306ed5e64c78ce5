"""The bound stands in the report, and no call passes it."""

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.report.build import floor, table
from axiloom.report.types import Limit
from axiloom.run import device_bound
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate

SPEC = isa.builtin("v3_4")
CONV = isa.builtin("conv_v4", data_type="int8")
SG = isa.revise(SPEC, dma=replace(SPEC.link.dma, scatter_gather=True))


def test_no_call_passes_it() -> None:
    run = ProblemRun(Workload.of("matmul:8x8x8"), System(SG), Schedule(pipeline="all"), calls=3)
    report = run.checked(simulate(run))
    report["config"]["pipeline"] = "all"
    device_bound.add(report, run)
    limit = report["limit"]
    assert limit["call_limit"] < limit["alone_cycles"] < min(limit["calls"])
    assert limit["call_limit"] < limit["at_once_cycles"] < limit["alone_cycles"]
    assert f"Floor: {limit['alone_cycles']:,} cycles a call with this tile" in table(report)


@pytest.mark.slow
def test_no_call_of_a_convolution_passes_it() -> None:
    dma = replace(CONV.link.dma, scatter_gather=True, coherent=True)
    system = System(isa.revise(CONV, dma=dma, stream_width=64, macs=256))
    run = ProblemRun(Workload.of("conv:8_16_3_32_1:int8"), system, Schedule("best"), calls=2)
    report = run.checked(simulate(run))
    device_bound.add(report, run)
    limit = report["limit"]
    assert limit["call_limit"] < limit["at_once_cycles"] < limit["alone_cycles"] < min(limit["calls"])
    assert limit["calls"][1] < 1.2 * limit["alone_cycles"]


def test_a_call_near_its_limit_has_no_floor() -> None:
    """Where next to nothing is lost, a line would say nothing."""
    bound: Limit = {
        "cycles": 1000,
        "ratio": 1.1,
        "by": "stream",
        "stream_cycles": 1000,
        "array_cycles": 900,
        "words_per_cycle": 2,
        "macs_per_cycle": 64,
        "multiply_adds": 64_000,
        "call_cycles": 1060,
        "at_once_cycles": 1010,
        "alone_cycles": 1049,
    }
    assert floor(bound) == []
    (line,) = floor(bound | {"alone_cycles": 1125})
    assert ", 1.12 times the limit: 1,010 (1.01 times) as " in line
    assert ", 115 of latency of DMA and memory" in line
    assert floor({**bound, "cycles": 0}) == []


def test_not_without_a_queue() -> None:
    run = ProblemRun(Workload.of("matmul:4x4x4"), System(SPEC), calls=2)
    report = run.checked(simulate(run))
    device_bound.add(report, run)
    assert "alone_cycles" not in report["limit"]
