"""A hang's part of the report: what each remedy is told for, and that a run that hangs writes its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiloom.cli import main
from axiloom.cosim.diagnosis import Channel, Device, Outcome, Stopped
from axiloom.report.hang import Setting, of

DRIVERS = Path(__file__).parents[1] / "system" / "drivers"
AT_REST = Channel(status=0x1002, bytes_asked=512, words_moved=128, valid=False, ready=True, busy=False)
SILENT = Channel(status=0, bytes_asked=64, words_moved=0, valid=False, ready=True, busy=True)
OURS, THEIRS = Setting("copying", False), Setting("copying", True)


def stopped(mm2s: Channel, s2mm: Channel, polled: str = "", outcome: Outcome = Outcome.STALL) -> Stopped:
    device = Device("", 0, mm2s, s2mm, "input: last opcode all is complete", instructions={"all": 4})
    return Stopped(outcome, "", 8_328, (device,), "CPU at main", polled)


def test_the_packets_at_hand_and_the_instructions() -> None:
    offered = Channel(status=0, bytes_asked=144, words_moved=4, valid=True, ready=False, busy=True, last=True)
    facts = dict(of("it hangs", stopped(offered, SILENT), OURS)["facts"])
    assert facts["instructions begun"] == "all 4"
    assert facts["packet to the device (MM2S)"] == (
        "4 of 36 words sent; a word is offered with TLAST and not taken (TVALID 1, TREADY 0)"
    )
    assert facts["packet from the device (S2MM)"] == (
        "0 of 16 words received; no word is offered (TVALID 0, TREADY 1)"
    )
    assert facts["stopped after"] == "8,328 fabric cycles"


@pytest.mark.parametrize(
    ("case", "setting", "told"),
    [
        (
            stopped(AT_REST, SILENT),
            THEIRS,
            "If your device starts on TLAST or counts it: --pipeline published",
        ),
        (stopped(AT_REST, SILENT), OURS, "No word of the result came"),
        (stopped(AT_REST, SILENT), Setting("published", True), "No word of the result came"),
        (stopped(AT_REST, AT_REST, polled="wait(control, 2)"), THEIRS, "See where your RTL sets the bits"),
        (
            stopped(Channel(0, 144, 4, valid=True, ready=False, busy=True), SILENT),
            THEIRS,
            "Your RTL stopped taking words 32 before the packet's end",
        ),
        (stopped(AT_REST, Channel(0, 64, 3, False, True, True)), OURS, "3 of 16 words came"),
        (stopped(AT_REST, Channel(0, 0, 0, True, False, False)), OURS, "no receive was started for"),
        (stopped(AT_REST, AT_REST, outcome=Outcome.DEVICE_ERROR), OURS, "The device refused a word"),
    ],
)
def test_the_remedy_that_comes_first(case: Stopped, setting: Setting, told: str) -> None:
    remedies = of("it hangs", case, setting)["remedies"]
    assert told in remedies[0]
    assert remedies[-1] == "Waveforms of the end: --trace run.fst --trace-window 6328:8328"


@pytest.mark.slow
def test_of_a_network_the_page_names_the_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mlp = DRIVERS.parents[1] / "fixtures" / "quantised" / "digits_mlp.mlir"
    page, out = tmp_path / "page", tmp_path / "report.json"
    words = ["run", str(mlp), "--accel", "v4_16", "--dma", "simple", "--stream-width", "32"]
    words += ["--offload", "all", "--watchdog", "60"]  # a product takes longer
    assert main([*words, "--report", str(page), "--json", str(out)]) == 6
    assert f"the page is {page / 'index.html'}" in capsys.readouterr().err
    found = json.loads(out.read_text())
    layer = dict(found["result"]["hang"]["facts"])["layer"]
    assert layer.startswith("0:matmul_1x64x64 of 6, on the accelerator")
    assert found["network"]["layers"] == []  # none had ended
    assert "Where it hung" in (page / "index.html").read_text()


def test_a_run_that_hangs_writes_page_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, out = tmp_path / "page", tmp_path / "report.json"
    words = ["simulate", str(DRIVERS / "missing_payload.c"), "--accel", "v3", "--size", "4"]
    assert main([*words, "--watchdog", "20000", "--report", str(page), "--json", str(out)]) == 6
    assert f"the page is {page / 'index.html'}" in capsys.readouterr().err
    text = (page / "index.html").read_text()
    assert "Where it hung" in text
    assert "What to try" in text
    assert 'id="timeline"' in text
    found = json.loads(out.read_text())["result"]
    assert found["matches"] is None
    assert ["instructions begun", "sA 1, sB 0, cC 0, rC 0"] in [
        one for one in found["hang"]["facts"] if one[0] == "instructions begun"
    ]
