"""The design after synthesis: the netlist of a whole board does what its Verilog does, to the cycle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom import drivergen, isa
from axiloom.base.cache import cached_build
from axiloom.boards.ecp5 import synthesis as ecp5
from axiloom.boards.ulx3s_design import TOP, Design
from axiloom.remote.serial_run import run_problem


@pytest.mark.slow
@pytest.mark.synth
def test_one_tile_is_the_same_after_synthesis(tmp_path: Path) -> None:
    spec, problem = isa.builtin("v1", 4), "matmul:4x4x4:int32"
    netlist = ecp5.synthesise(Design(spec).sources, TOP, cached_build)
    mlir = drivergen.parse_workload(problem).mlir
    text = (netlist.folder / ecp5.VERILOG).read_text(encoding="utf-8")
    rtl, expected = run_problem(mlir, spec, tmp_path, name=problem)
    after, _ = run_problem(mlir, spec, tmp_path, name=problem, netlist=text)
    for symbol, want in expected.items():
        np.testing.assert_array_equal(rtl.outputs[symbol], want)
        np.testing.assert_array_equal(after.outputs[symbol], want)
    assert rtl.cycles == after.cycles
