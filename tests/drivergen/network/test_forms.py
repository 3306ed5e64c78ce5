"""Products and convolutions as nobody would write them: offloaded or not, they are what NumPy has."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from tests.drivergen import network_host

from axiloom import isa

# By its path: another package of this name may be installed.
FILE = Path(__file__).parents[3] / "benchmarks" / "networks" / "import_graphs.py"
FOUND = importlib.util.spec_from_file_location("axiloom_import_graphs", FILE)
graphs = sys.modules[FOUND.name] = importlib.util.module_from_spec(FOUND)
FOUND.loader.exec_module(graphs)
FORMS = graphs.FORMS

FAST = (
    "a batch in the last place",
    "bias of 1 x n by a map with 0",
    "convolution, dilation before the place",
)


def cases() -> list[object]:
    return [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in FORMS]


@pytest.mark.parametrize("name", cases())
def test_forms(name: str) -> None:
    spec = isa.builtin("conv_v4" if name.startswith("conv") else "v4_16", data_type="int8")
    graph = graphs.Graph()
    driver = network_host.check(graph.model("form.mlir", FORMS[name](graph)), spec)
    products = [layer for layer in driver.layers if layer.place == "accelerator" or layer.reason]
    assert products or name.startswith("nearly")
