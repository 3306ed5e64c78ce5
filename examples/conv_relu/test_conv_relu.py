"""How a user tests an accelerator with several kernels before there is RTL: `pytest examples/conv_relu`."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
SPEC = HERE / "conv_relu.json"
RESULTS = 16 * 10 * 12


def test_in_place_results_come_back_once(soc) -> None:
    report = soc(SPEC, rtl="model").mlir(HERE / "conv_relu.mlir")

    assert report["result"]["matches"]
    assert report["config"]["flow"] == "Or"
    assert report["fabric"]["words_out"] == RESULTS


@pytest.mark.slow
def test_on_tensors(soc) -> None:
    report = soc(SPEC, rtl="model").mlir(HERE / "network.mlir")

    assert report["result"]["matches"]
    assert report["fabric"]["words_out"] == RESULTS


def test_two_kernels_in_one_driver(soc) -> None:
    report = soc(SPEC, rtl="model").mlir(HERE / "conv_then_relu.mlir")

    assert report["result"]["matches"]
    assert report["fabric"]["words_out"] == 2 * RESULTS
