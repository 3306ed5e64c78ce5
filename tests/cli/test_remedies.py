"""Remedies have an estimated gain, --try measures it, and what an accelerator refuses is not one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import main
from axiloom.report import losses

HARDWARE = Path(__file__).parents[2] / "examples" / "hardware"
RUN = ("run", "matmul:16x16x16", "--accel", "v3_4", "--pipeline", "published", "--dma", "simple")


@pytest.mark.slow
def test_try_measures_what_was_estimated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    assert main([*RUN, "--stream-width", "32", "--try", "--json", str(file)]) == 0
    report = json.loads(file.read_text())
    tried = {one["options"]: one for one in report["tried"]}
    copying = tried["--pipeline copying"]
    assert copying["said"] == "right"
    assert copying["times"] == round(report["fabric"]["cycles"] / copying["cycles"], 2) > 1
    gains = {name: gain for one in report["losses"] for name, gain in one.get("gains", {}).items()}
    assert gains["--pipeline copying"]["times"] == pytest.approx(copying["times"], rel=0.5)
    best = "--dma sg --pipeline all"
    assert gains[best]["times"] == pytest.approx(tried[best]["times"], rel=0.5)
    out = capsys.readouterr().out
    assert "Tried (fabric cycles of the whole run)" in out
    assert f"{best} (about {gains[best]['times']:.2f} times as fast)" in out


def test_of_a_network_nothing_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--try", "--against", "cpu"]) == 2
    assert "--try: runs the problem several times" in capsys.readouterr().err


def test_no_pass_is_a_remedy_where_registers_are_accessed() -> None:
    spec = isa.load(HARDWARE / "start_matmul" / "matmul_start.json")
    found = [text for one in losses.CLASSES for text in losses.remedies(one, spec, "published")]
    assert not any("--pipeline" in text for text in found)
    plain = [text for one in losses.CLASSES for text in losses.remedies(one, isa.builtin("v3", 4), None)]
    assert any("--pipeline" in text for text in plain)
