"""Accelerators that are not ours: Verilog written by hand, under a specification."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "verilog_accelerator"


def test_verilog_by_hand_gets_its_driver_and_runs(soc) -> None:
    chip = soc(EXAMPLE / "rowmul.json", rtl=[EXAMPLE / "rowmul.v"], top="rowmul")
    for flow in chip.spec.flows:
        report = chip.matmul(5, 20, 13, flow=flow)
        assert report["result"]["matches"], report["result"]["first"]


@pytest.mark.slow
def test_ours_and_theirs_agree(soc) -> None:
    """The same specification, once with our generated RTL: same driver, same words, same result."""
    theirs = soc(EXAMPLE / "rowmul.json", rtl=[EXAMPLE / "rowmul.v"], top="rowmul").matmul(4, 8, 16)
    ours = soc(EXAMPLE / "rowmul.json").matmul(4, 8, 16)
    assert ours["result"] == theirs["result"]
    assert ours["config"]["driver_hash"] == theirs["config"]["driver_hash"]
    assert ours["fabric"]["words_in"] == theirs["fabric"]["words_in"]
