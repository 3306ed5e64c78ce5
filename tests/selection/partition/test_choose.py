"""Choices over a whole network: padding and rounding count, and each is paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.drivergen.network import compile_network
from axiloom.drivergen.network.offers import Network, Offer, Plan, Step
from axiloom.isa import AcceleratorSpec
from axiloom.read.mlir.model import read
from axiloom.selection.partition import Chooser, Selection
from axiloom.selection.partition.forms import Form

pytest.importorskip("egglog")
pytest.importorskip("ortools")
FIXTURES = Path("tests/fixtures/quantised")
FORMS: dict[str, Mapping[str, Form]] = {}
"""What was saturated in one test is not in the next one."""


def specs() -> list[AcceleratorSpec]:
    found = [isa.builtin(name, None, "int8", "bitmask", True) for name in ("conv_v4", "v4_16")]
    return isa.place(
        [one.replace(dma=replace(one.link.dma, scatter_gather=True), stream_width=64) for one in found]
    )


class Watched:
    """A chooser with costs of its own, that keeps what it chose."""

    def __init__(self, accelerated: dict[str, int], cpu: dict[str, int]) -> None:
        self.specs = specs()
        self.accelerated, self.cpu = accelerated, cpu
        self.chooser = Chooser([one.kernel for one in self.specs], self.offered, self.on_cpu, forms=FORMS)
        self.selection: Selection | None = None

    def offered(self, offer: Offer) -> int:
        return self.accelerated[self.specs[offer.device].name]

    def on_cpu(self, step: Step) -> int:
        return next((cost for begin, cost in self.cpu.items() if step.title.startswith(begin)), 0)

    def __call__(self, network: Network) -> Plan:
        self.selection = self.chooser(network)
        return self.selection.plan


def places(watched: Watched) -> list[str]:
    model = read(FIXTURES / "digits_cnn.mlir")
    driver = compile_network(model.mlir, watched.specs, model.weights, choose=watched)
    names = [one.name for one in watched.specs]
    return [
        "cpu" if layer.device is None else names[layer.device]
        for layer in driver.layers
        if layer.multiply_adds
    ]


@pytest.mark.slow
def test_the_cheapest_for_each() -> None:
    cpu = {"conv": 100, "matmul": 100}
    assert places(Watched({"conv_v4": 10, "v4_16": 20}, cpu)) == ["conv_v4"] * 4
    assert places(Watched({"conv_v4": 30, "v4_16": 20}, cpu)) == ["v4_16"] * 4
    dear = Watched({"conv_v4": 300, "v4_16": 200}, cpu)
    assert places(dear) == ["cpu"] * 4
    assert dear.selection is not None
    reasons = {one.chosen.reason for one in dear.selection.choices}
    assert "200 cycles on the fastest accelerator, 100 on the CPU" in reasons


@pytest.mark.slow
def test_what_goes_along_is_weighed() -> None:
    """The product alone is faster on the CPU; with the rounding that an accelerator takes along it is not."""
    alone = Watched({"conv_v4": 130, "v4_16": 1000}, {"conv": 100})
    assert places(alone) == ["cpu"] * 4
    along = Watched({"conv_v4": 130, "v4_16": 1000}, {"conv": 100, "requantise": 50})
    assert places(along) == ["conv_v4"] * 3 + ["cpu"]
    assert along.selection is not None
    assert along.selection.bound == along.selection.cycles
    assert [len(one.chosen.ops) for one in along.selection.choices][:3] >= [2, 2, 2]


@pytest.mark.slow
def test_matching_is_one_of_the_ways() -> None:
    """Convolutions are conv_v4's there, the product v4's; another way has to save more than the margin."""
    cpu = {"conv": 1000, "matmul": 1000}
    close = Watched({"conv_v4": 100, "v4_16": 98}, cpu)
    assert places(close) == ["v4_16"] * 4
    close = Watched({"conv_v4": 100, "v4_16": 98}, cpu)
    close.chooser.margin = 0.05
    assert places(close) == ["conv_v4"] * 3 + ["v4_16"]
    assert close.selection is not None
    assert close.selection.cycles == close.selection.matching == 3 * 100 + 98
    assert close.selection.alone == {0: 400, 1: 392}


@pytest.mark.slow
def test_a_small_layer_stays_where_matching_has_it() -> None:
    """The CPU would save 40 cycles of each product."""
    small = Watched({"conv_v4": 100, "v4_16": 100}, {"conv": 60, "matmul": 60})
    assert places(small) == ["cpu"] * 4
    small = Watched({"conv_v4": 100, "v4_16": 100}, {"conv": 60, "matmul": 60})
    small.chooser.doubt = 50
    assert "cpu" not in places(small)
    small = Watched({"conv_v4": 100, "v4_16": 100}, {"conv": 60, "matmul": 60})
    small.chooser.doubt = 30
    assert places(small) == ["cpu"] * 4


@pytest.mark.slow
def test_a_small_layer_stays_on_its_accelerator() -> None:
    """v4 would save 40 cycles of each convolution."""
    cpu = {"conv": 1000, "matmul": 1000}
    for moved, found in ((30, ["v4_16"] * 4), (50, ["conv_v4"] * 3 + ["v4_16"])):
        small = Watched({"conv_v4": 100, "v4_16": 60}, cpu)
        small.chooser.moved = moved
        assert places(small) == found


@pytest.mark.slow
def test_whoever_uses_an_accelerator_first_pays_for_its_start() -> None:
    dear = Watched({"conv_v4": 90, "v4_16": 300}, {"conv": 100, "matmul": 100})
    dear.chooser.start = 50
    assert places(dear) == ["cpu"] * 4
    worth = Watched({"conv_v4": 80, "v4_16": 300}, {"conv": 100, "matmul": 100})
    worth.chooser.start = 50
    assert places(worth) == ["conv_v4"] * 4
    assert worth.selection is not None
    assert worth.selection.cycles == 4 * 80 + 50
    assert worth.selection.matching == 3 * 80 + 300 + 2 * 50


@pytest.mark.slow
def test_all_to_accelerators() -> None:
    dear = Watched({"conv_v4": 300, "v4_16": 200}, {"conv": 1, "matmul": 1})
    dear.chooser.left = False
    assert places(dear) == ["v4_16"] * 4


@pytest.mark.slow
def test_the_same_choice_again() -> None:
    """Equal costs everywhere: the choice does not depend on when it is made."""
    every = [places(Watched({"conv_v4": 10, "v4_16": 10}, {"conv": 10, "matmul": 10})) for _ in range(2)]
    assert every[0] == every[1]
