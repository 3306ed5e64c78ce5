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
    (name, ("int8", "int16", "int32")[number % 3], (64, 128)[number % 2])
    for number, name in enumerate(isa.builtins())
]
"""Each data type at each width; `tests/hw/matmul/test_engine_wide.py` has the engines."""


def runs(name: str, dtype: str, width: int, sim: str = "verilator") -> list[ProblemRun]:
    spec = isa.revise(isa.builtin(name, data_type=dtype), stream_width=width)
    return [
        ProblemRun(Workload.of(f"matmul:{m}x{n}x{k}:{dtype}", seed), System(spec, sim=sim), Schedule(flow))
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
@pytest.mark.icarus
@pytest.mark.parametrize(("name", "dtype", "width"), [("v3_16", "int8", 128), ("v2_4", "int32", 128)])
def test_bit_exact_on_icarus(name: str, dtype: str, width: int) -> None:
    check(reports_of(runs(name, dtype, width, "icarus")[-1:]), width)


@pytest.mark.slow
@pytest.mark.icarus
def test_simulators_agree() -> None:
    one, other = (report_of(runs("v4_16", "int32", 64, sim)[-1]) for sim in ("verilator", "icarus"))
    for part in ("result", "fabric", "counters"):
        assert other[part] == one[part]


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
