"""SoCs with streams and memory ports of 64 and 128 bits: driver, DMA and engine together against NumPy."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of, reports_of

SHAPES = [(20, 36, 24), (7, 13, 5)]
"""With edges behind whole tiles in all dims, and smaller than most tiles."""
EACH = [
    *(("v1_4", "int8", 64), ("v2_8", "int16", 128), ("v3_16", "int32", 64)),
    *(("v4_16", "int8", 128), ("v1_16", "int32", 128), ("v3_8", "int16", 64)),
]
"""Each data type at each width; `tests/hw/matmul/test_engine_wide.py` has the engines, and
`test_both_simulators.py` Icarus."""


def runs(name: str, dtype: str, width: int) -> list[ProblemRun]:
    spec = isa.revise(isa.builtin(name, data_type=dtype), stream_width=width)
    return [
        ProblemRun(Workload.of(f"matmul:{m}x{n}x{k}:{dtype}", seed), System(spec), Schedule(flow))
        for seed, (m, n, k) in enumerate(SHAPES)
        for flow in spec.flows
    ]


def check(reports: list[Report], width: int) -> None:
    for report in reports:
        config, fabric = report["config"], report["fabric"]
        assert report["result"]["matches"], (config["problem"], config["flow"], report["result"]["first"])
        assert report["stale"] == []
        assert fabric["words_in"] % (width // 32) == fabric["words_out"] % (width // 32) == 0
        assert fabric["cycles"] >= report["limit"]["cycles"] >= fabric["words_in"] * 32 // width


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtype", "width"), EACH)
def test_bit_exact(name: str, dtype: str, width: int) -> None:
    check(reports_of(runs(name, dtype, width)), width)


@pytest.mark.slow
def test_a_beat_is_a_cycle() -> None:
    """The same words at twice the width: half the cycles in which words come in."""
    loads = {}
    for width in (32, 64):
        spec = isa.revise(isa.builtin("v4_16"), stream_width=width)
        report = report_of(ProblemRun(Workload.of("matmul:48x40x72"), System(spec)))
        loads[width] = report["fabric"]["words_in"], report["limit"]["cycles"]
    (words, cycles), (wide_words, wide_cycles) = loads[32], loads[64]
    assert 0 <= wide_words - words <= 4 * 16, "only heads are filled up"
    assert wide_cycles < 0.55 * cycles
