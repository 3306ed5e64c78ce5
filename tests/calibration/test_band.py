"""Every report says how far the profile is from a board, or that nobody knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiloom import boards, cli
from axiloom.calibration import measurements

RUN = ["run", "matmul:16x16x16", "--accel", "v1", "--size", "8"]
BAND = """
[fidelity]
source = "bench.csv, 3 configurations"
task_clock_mean = 0.021
task_clock_worst = 0.104
l1d_mean = 0.03
"""
SAID = (
    "task-clock within 2.1% on average, 10.4% at worst; L1D accesses within 3.0% on average "
    "(bench.csv, 3 configurations)"
)


@pytest.mark.slow
@pytest.mark.parametrize("calibrated", [True, False])
def test_band(tmp_path: Path, calibrated: bool, capsys: pytest.CaptureFixture[str]) -> None:
    board = tmp_path / "mine.toml"
    text = (Path(boards.__file__).parent / "pynq-z2" / "profile.toml").read_text()
    board.write_text(text + BAND if calibrated else text)
    out, page = tmp_path / "report.json", tmp_path / "page"
    assert cli.main([*RUN, "--board", str(board), "--json", str(out), "--report", str(page)]) == 0
    wanted = SAID if calibrated else "not calibrated"
    assert f"Error band of {board}: {wanted}" in capsys.readouterr().out
    band = json.loads(out.read_text())["fidelity"]
    assert (band and band["text"], band and band["task_clock_worst"]) == (
        (SAID, 0.104) if calibrated else (None, None)
    )
    assert f"Error band of {board}: {wanted}" in (page / "index.html").read_text()


def test_profiles() -> None:
    assert boards.load("pynq-z2").fidelity is None  # nobody has measured it on bare metal
    band = boards.load("pynq-z2-linux").fidelity
    assert band is not None
    assert band.source.startswith(measurements.FILE)
    assert band.task_clock_mean <= 0.05
    assert band.task_clock_worst <= 0.15
    assert band.l1d_mean <= 0.10


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    out = capsys.readouterr().out
    assert "error band: not calibrated" in out
    assert f"error band: {boards.load('pynq-z2-linux').fidelity}" in out
