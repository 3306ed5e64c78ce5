"""``--rtl model``: what runs on the functional model, and what has nothing to say of it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from axiloom.base.errors import UsageError
from axiloom.cli import main
from axiloom.cosim.model_device import MODEL_RTL
from axiloom.library.sessions import Chip
from axiloom.report import build as report

DRIVERS = Path(__file__).parents[1] / "system" / "drivers"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    "command",
    [
        "verilog --accel v1_4",
        "estimate --accel v1_4",
        "compile matmul:8x8x8",
        "sweep matmul:8x8x8",
        "explore matmul:8x8x8",
        "explore matmul:8x8x8 --confirm 1",
        "explore matmul:8x8x8 --device xc7z020",
        "board new pynq-z2 -o never",
        "run matmul:8x8x8 --board ulx3s",
    ],
)
def test_what_is_about_rtl_refuses_it(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "rtl" in refused(capsys, *command.split(), "--rtl", "model")
    assert not [*tmp_path.iterdir()]


def test_nothing_goes_with_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    own = tmp_path / "own.v"
    own.write_text("module own; endmodule\n")
    run = ("run", "matmul:8x8x8", "--rtl", "model")
    assert "--rtl model has no top module: leave --top own out" in refused(capsys, *run, "--top", "own")
    assert f"without Verilog: leave {own} out" in refused(capsys, *run, str(own), "--top", "own")


def test_a_run_says_that_its_cycles_are_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "report.json", tmp_path / "page"
    words = ("run", "matmul:8x8x8", "--accel", "v1_4", "--rtl", "model", "--macs", "16")
    assert main((*words, "--json", str(file), "--report", str(page))) == 0
    said = capsys.readouterr().out
    assert f"RTL: {MODEL_RTL}" in said
    assert "Limit" not in said
    assert "\nProved of v1_4: " in said
    built = json.loads(file.read_text())
    jsonschema.validate(built, report.schema())
    assert built["config"]["rtl"] == MODEL_RTL
    assert built["limit"]["ratio"] is None
    html = (page / "index.html").read_text()
    assert f"RTL: {MODEL_RTL}" in html
    assert built["proved"][0] in html
    assert "times the limit" not in html


def test_drivers_by_hand_run_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("simulate", str(DRIVERS / "right.c"), "--accel", "v3_4", "--rtl", "model")
    assert main(words) == 0
    assert f"RTL: {MODEL_RTL}" in capsys.readouterr().out


@pytest.mark.slow  # builds a C library
def test_the_ladder_is_climbed_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bring-up", "--accel", "v3_4", "--rtl", "model"]) == 0
    assert "all steps are passed" in capsys.readouterr().out


def test_the_fixture_takes_it(soc) -> None:
    chip: Chip = soc("v1_4", rtl="model")
    assert chip.matmul(8, 8, 8)["config"]["rtl"] == MODEL_RTL
    with pytest.raises(UsageError, match="--rtl model has no top module: leave --top own out"):
        soc("v1_4", rtl="model", top="own")


@pytest.mark.slow
def test_a_kernel_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Its plain device is the accelerator, unless another one is named."""
    assert main(["run", "relu:n=100:int8", "--rtl", "model"]) == 0
    assert "equal to NumPy in all 100 elements" in capsys.readouterr().out

    assert main(["run", "relu:n=100"]) != 0
    assert "no engine of ours executes relu" in capsys.readouterr().err

    assert main(["run", "relu:n=100", "--rtl", "model", "--size", "4"]) == UsageError.exit_code
    said = capsys.readouterr().err
    assert "--size is for a built-in accelerator, and relu:n=100 runs on a plain device for relu" in said

    assert main(["run", "linalg.matmul:m=20,n=9,k=7", "--accel", "v3", "--rtl", "model"]) == 0
    assert "equal to NumPy in all 180 elements" in capsys.readouterr().out
