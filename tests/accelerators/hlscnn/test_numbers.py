"""Whole arrays beside the text, and beside the plain model of its tests."""

from __future__ import annotations

import numpy as np
import pytest
from tests.accelerators.hlscnn.hlscnn_plain import Conv, plain
from tests.accelerators.hlscnn.test_hlscnn import convolved, data, random_conv

from axiloom.accelerators.hlscnn import numbers as hlscnn
from axiloom.application.units.counts import Counts
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.simulator.simulate import Simulator


def made(conv: Conv, x: np.ndarray, w: np.ndarray, counts: Counts, version: hlscnn.Version) -> np.ndarray:
    return hlscnn.convolved(x[None], w, conv.strides, counts, version)[0]


def alone(rng: np.random.Generator) -> Conv:
    """Without what the host does here: bias, ReLU, accumulation."""
    one = random_conv(rng, 400)
    return Conv(one.channels, one.rows, one.cols, one.filters, one.kernel, one.strides)


@pytest.mark.parametrize("version", [hlscnn.NOW, hlscnn.Version(0, 0), hlscnn.Version(1, 0)])
def test_the_text(version: hlscnn.Version) -> None:
    rng, counts = np.random.default_rng(3), Counts()
    isa = read(targets()["hlscnn"], {"ROUND": version.round, "SATURATE": version.saturate})
    for turn in range(4):
        conv = alone(rng)
        x, w, _ = data(rng, conv, large=turn % 2 == 0)
        assert np.array_equal(made(conv, x, w, counts, version), convolved(Simulator(isa), conv, x, w))
    assert counts.lost


def test_many_beside_the_plain_model() -> None:
    rng = np.random.default_rng(4)
    for turn in range(60):
        conv = alone(rng)
        x, w, _ = data(rng, conv, large=turn % 3 == 0)
        assert np.array_equal(made(conv, x, w, Counts(), hlscnn.NOW), plain(conv, x, w))


def test_a_batch_is_its_images() -> None:
    rng = np.random.default_rng(5)
    x, w = rng.integers(-900, 900, (4, 11, 9, 7)), rng.integers(-9000, 9000, (5, 11, 3, 2))
    together = hlscnn.convolved(x, w, (2, 1), Counts())
    for k in range(4):
        assert np.array_equal(together[k : k + 1], hlscnn.convolved(x[k : k + 1], w, (2, 1), Counts()))


def test_saturations_are_counted() -> None:
    """One tap whose partial sum is too large, then one whose sum with it is."""
    x, w = np.full((1, 8, 1, 2), 32767), np.full((1, 8, 1, 2), 32767)
    counts = Counts()
    assert hlscnn.convolved(x, w, (1, 1), counts).item() == 32767
    assert (counts.elements, counts.saturated) == (4, 3)
