"""Every version, size and flow, bit-exact against NumPy, driver and RTL together on Verilator.

Each accelerator is one simulation that runs all its flows and shapes one after another.
"""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import reports_of

SHAPES = [(20, 36, 24), (7, 13, 5), (1, 1, 1)]
LARGE = [(60, 72, 80)]
OTHER_SIZES = ("v1_8", "v1_16", "v2_8", "v2_16", "v3_4", "v3_8", "v4_16")
"""Of versions that are there in another size by default."""
NARROW = [("v1_8", "int8"), ("v2_16", "int16"), ("v3_4", "int8"), ("v4_16", "int16")]
"""Each version; `test_wide_streams.py` has others, and `tests/hw/matmul` all of them on the engine."""


def check_all(spec: AcceleratorSpec, shapes: list[tuple[int, int, int]]) -> None:
    dtype = spec.data_type.value
    runs = [
        ProblemRun(Workload.of(f"matmul:{m}x{n}x{k}:{dtype}", seed), System(spec), Schedule(flow))
        for seed, (m, n, k) in enumerate(shapes)
        for flow in spec.flows
    ]
    for report in reports_of(runs):
        config, fabric = report["config"], report["fabric"]
        assert report["result"]["matches"], (config["problem"], config["flow"], report["result"]["first"])
        assert report["stale"] == []
        parts = ("compute", "load", "store", "dma_wait", "idle")
        assert sum(fabric[part] for part in parts) == fabric["cycles"]
        assert fabric["cycles"] >= report["limit"]["cycles"]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (one in OTHER_SIZES)) for one in isa.builtins()]
)
def test_int32_is_bit_exact(name: str) -> None:
    check_all(isa.builtin(name), SHAPES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v1_8", "v2_16", "v3_16", "v4_16"])
def test_larger_shapes_are_bit_exact(name: str) -> None:
    check_all(isa.builtin(name), LARGE)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dtype"), NARROW)
def test_narrow_types_are_bit_exact(name: str, dtype: str) -> None:
    check_all(isa.builtin(name, data_type=dtype), SHAPES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v2_4", "v4_16"])
def test_the_other_encoding_works_from_its_file_alone(name: str) -> None:
    check_all(isa.builtin(name, encoding="literals"), [(9, 10, 11)])
