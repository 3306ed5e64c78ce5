"""Convolutions through the whole system: driver, DMA, RTL of conv_v3 and conv_v4; the result is NumPy's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.some import slow

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of

LAYERS = (
    "conv:37x224,3,7x7,16,stride=2,pad=3",
    "conv:18x56,64,3x3,16,pad=1",
    "conv:8x56,64,1x1,16,stride=2",
    "conv:9x28,128,3x3,16,stride=2,pad=1",
    "conv:7x7,512,3x3,8,pad=1",
)
"""Of ResNet18, each kind once: all columns and input channels, some rows and output channels."""


def specification(
    name: str, data_type: str, width: int = 32, *, scatter_gather: bool = False
) -> AcceleratorSpec:
    spec = isa.builtin(name, data_type=data_type)
    return isa.revise(spec, stream_width=width, dma=replace(spec.link.dma, scatter_gather=scatter_gather))


def run(problem: str, spec: AcceleratorSpec, sim: str = "verilator") -> Report:
    workload = f"{problem}:{spec.data_type.value}"
    report = report_of(ProblemRun(Workload.of(workload), System(spec, sim=sim)))
    assert report["result"]["matches"]
    return report


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data_type", "width", "problem"),
    [
        ("conv_v4", "int8", 32, "conv:9x11,5,3x3,9,stride=2,pad=1"),
        pytest.param(
            *("conv_v4", "int16", 64, "conv:9x13,6,3x2,17,stride=3,dilation=2,pad=2"), marks=pytest.mark.slow
        ),
        pytest.param(*("conv_v4", "int32", 128, "conv:6x6,4,3x3,8,pad=1"), marks=pytest.mark.slow),
        slow("conv_v3", "int32", 32, "conv:7x9,3,3x3,5,stride=2"),
    ],
)
def test_small_ones(name: str, data_type: str, width: int, problem: str) -> None:
    run(problem, specification(name, data_type, width, scatter_gather=width == 64))


@pytest.mark.slow
@pytest.mark.icarus
@pytest.mark.parametrize(("name", "data_type"), [("conv_v4", "int8"), ("conv_v3", "int32")])
def test_simulators_agree(name: str, data_type: str) -> None:
    one, other = (
        run("conv:5x6,3,3x3,4", specification(name, data_type), sim=sim) for sim in ("verilator", "icarus")
    )
    for part in ("result", "fabric", "counters"):
        assert other[part] == one[part]


@pytest.mark.slow
@pytest.mark.parametrize("problem", LAYERS)
def test_pieces_of_each_layer(problem: str) -> None:
    run(problem, specification("conv_v4", "int8"))
