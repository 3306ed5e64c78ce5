"""The accelerator that the tutorial invents: hardware, driver and run from its file alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.some import slow

from axiloom import drivergen, isa
from axiloom.hw.verilog import emit as verilog

FILE = Path(__file__).parents[2] / "examples" / "tutorial" / "toucan.json"


@pytest.mark.slow
def test_it_runs(soc) -> None:
    chip = soc(FILE)
    for flow in chip.spec.flows:
        report = chip.matmul(21, 40, 19, flow=flow)
        assert report["result"]["matches"], report["result"]["first"]


@pytest.mark.parametrize(
    ("old", "new"),
    [slow("0x57", "0x77"), ('"accel_size": [8, 16, 8]', '"accel_size": [4, 8, 8]')],
)
def test_one_changed_line_changes_hardware_and_driver_and_still_runs(
    soc, tmp_path: Path, old: str, new: str
) -> None:
    text = FILE.read_text()
    changed = tmp_path / "changed.json"
    changed.write_text(text.replace(old, new))
    assert json.loads(changed.read_text()) != json.loads(text)
    before, after = isa.load(FILE), isa.load(changed)
    mlir = drivergen.matmul_mlir(9, 17, 10, "int16")
    assert verilog.emit(before) != verilog.emit(after)
    assert drivergen.compile_mlir(mlir, before).c != drivergen.compile_mlir(mlir, after).c
    assert soc(changed).matmul(9, 17, 10)["result"]["matches"]
