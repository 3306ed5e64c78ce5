"""How a user tests RTL of their own for a pooling kernel: `pytest examples/pooling`."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
SPEC, MLIR, RTL = (HERE / f"maxpool.{ending}" for ending in ("json", "mlir", "v"))
TRAFFIC = ("words_in", "words_out", "transfers_in", "transfers_out")


@pytest.mark.slow
def test_rtl_and_model_do_the_same(soc) -> None:
    model, rtl = (soc(SPEC, rtl=device).mlir(MLIR) for device in ("model", [RTL]))

    assert model["result"]["matches"]
    assert rtl["result"] == model["result"]
    assert [rtl["fabric"][what] for what in TRAFFIC] == [model["fabric"][what] for what in TRAFFIC]


@pytest.mark.slow
@pytest.mark.icarus
def test_wrong_rtl_is_found(soc, tmp_path: Path) -> None:
    """The smallest pixel in its place: most elements are wrong, and the run says so."""
    right, wrong = "value > best", "value < best"
    text = RTL.read_text()
    assert text.count(right) == 1
    mutant = tmp_path / RTL.name
    mutant.write_text(text.replace(right, wrong))

    result = soc(SPEC, rtl=[mutant], sim="icarus").mlir(MLIR)["result"]

    assert not result["matches"]
    assert result["mismatches"] > result["elements"] // 2
    assert "NumPy says" in result["first"]
