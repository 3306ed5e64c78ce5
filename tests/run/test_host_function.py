"""A function of a file that its accelerator cannot execute runs by the CPU, and is checked as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.published.inputs import TRANSPOSES

from axiloom import boards, drivergen
from axiloom.cli import main
from axiloom.run.host_function import HostFunction
from axiloom.run.problem import Workload


def test_two_results_are_compared(tmp_path: Path) -> None:
    function = HostFunction(Workload("a.mlir", TRANSPOSES, 3), boards.load(boards.DEFAULT))
    result = function.run(tmp_path)["result"]
    assert (result["matches"], result["elements"]) == (True, 256)


def test_a_wrong_result_is_said(tmp_path: Path) -> None:
    function = HostFunction(Workload("a.mlir", TRANSPOSES, 3), boards.load(boards.DEFAULT))
    wrong = TRANSPOSES.replace("linalg.yield %a, %b", "linalg.yield %b, %a")
    function.__dict__["driver"] = drivergen.compile_cpu(wrong)
    result = function.run(tmp_path)["result"]
    assert result["matches"] is False
    assert result["mismatches"] > 200


def test_a_file_of_which_nothing_fits_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.mlir"
    file.write_text(
        TRANSPOSES + TRANSPOSES.replace("@transposes", "@again").replace("#transposes = ", "#no = ")
    )
    assert main(["run", str(file), "--accel", "v3_4", "--rtl", "model"]) == 4
    assert "v3_4 cannot execute it: it has 4 operands" in capsys.readouterr().err
