"""``axiloom run NETWORK --select egraph``: options that it refuses, and a whole run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiloom.cli import main

DIGITS = "tests/fixtures/quantised/digits_cnn.mlir"


@pytest.mark.slow
def test_options_that_choose_otherwise_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", DIGITS, "--select", "egraph", "--accel", "conv_v4", "--offload-from", "100"])
    assert code == 2
    assert "--offload-from: --select egraph weighs every product: leave it out" in capsys.readouterr().err


def test_one_op_has_no_choice(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "matmul:16x16x16:int8", "--select", "egraph", "--accel", "v4_16"])
    assert code == 2
    assert "--select: of one op there is no choice: leave it out" in capsys.readouterr().err


@pytest.mark.slow
def test_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("egglog")
    pytest.importorskip("ortools")
    found = {}
    for how in ("matching", "egraph"):
        file = tmp_path / f"{how}.json"
        options = ["--accel", "conv_v4,v4_16", "--post", "--dma", "sg", "--stream-width", "64"]
        assert main(["run", DIGITS, "--select", how, *options, "--json", str(file)]) == 0
        found[how] = json.loads(file.read_text())
    said = capsys.readouterr().out
    assert "Selected: 4 products, 3 on conv_v4, 1 on cpu" in said
    chosen = found["egraph"]["network"]["selection"]
    assert [one["place"] for one in chosen] == ["conv_v4"] * 3 + ["cpu"]
    assert found["egraph"]["result"]["matches"]
    assert found["egraph"]["config"]["select"] == "egraph"
    ms = {how: sum(row["ms"] for row in one["network"]["layers"]) for how, one in found.items()}
    assert ms["egraph"] < ms["matching"]
