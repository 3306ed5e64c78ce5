"""Icarus and Verilator agree on result, fabric cycles and every counter."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.drivergen import matmul_mlir
from axiloom.workflow import Run


@pytest.mark.icarus
@pytest.mark.parametrize("name", ["v1_4", "v2_4", "v3_4", "v4_16"])
def test_simulators_agree(name: str) -> None:
    spec = isa.builtin(name)
    one, other = (
        Run("matmul:10x9x7", matmul_mlir(10, 9, 7, "int32"), spec, sim=sim).report()
        for sim in ("verilator", "icarus")
    )
    assert one["result"]["matches"]
    assert other["result"] == one["result"]
    assert other["fabric"] == one["fabric"]
    assert other["counters"] == one["counters"]


def test_two_runs_give_the_same_bytes() -> None:
    run = [
        Run("matmul:20x20x20", matmul_mlir(20, 20, 20, "int32"), isa.builtin("v3_4")).report()
        for _ in range(2)
    ]
    for report in run:
        del report["simulation"]
    assert run[0] == run[1]
