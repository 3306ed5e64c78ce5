"""Layers on FlexASR's units, by the text of the units, against the text of FlexASR itself: `flexasr.py`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from axiloom.accelerators.flexasr import host as flexasr
from axiloom.accelerators.flexasr.layers import Biases, linear, lstm, max_pool, tiles
from axiloom.isa.instructions.library import target
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.selection.drive.execute import execute
from axiloom.selection.program.program import Program


@dataclass(frozen=True, eq=False)
class Layer:
    """`steps` steps of `inputs`; `whole` is what FlexASR itself has for it."""

    name: str
    program: Program
    values: dict[str, Any]
    whole: flexasr.Program

    @cached_property
    def expected(self) -> Any:
        found = self.whole.run(Simulator(target("flexasr")))
        if self.name == "pool":  # steps of a vector follow each other
            return found.reshape(len(found), -1, 16).transpose(1, 0, 2)
        return found


def _bytes(dice: np.random.Generator, *shape: int, most: int = 128) -> Any:
    """Any sign; sizes below `most`, so that few results are the largest number."""
    return (dice.integers(0, 2, shape) * 128 + dice.integers(0, most, shape)).astype(np.uint8)


def pool(seed: int = 0) -> Layer:
    x = _bytes(np.random.default_rng(seed), 6, 32)
    lying = x.reshape(6, 2, 16).transpose(1, 0, 2).copy()
    return Layer("pool", max_pool(6, 32), {"x": lying}, flexasr.reduced(x, 0))


def layer(biases: Biases, seed: int = 0) -> Layer:
    dice = np.random.default_rng(seed)
    x, w, added = _bytes(dice, 2, 32), _bytes(dice, 64, 32), _bytes(dice, 64)
    product = flexasr.Product(w[None], added[None], biases.weights, biases.added, biases.inputs)
    whole = flexasr.layer(x, [product], flexasr.LINEAR, biases.results)
    return Layer("linear", linear(2, 64, 32, biases), {"x": x, "w": tiles(w), "added": added}, whole)


def recurrent(biases: Biases, seed: int = 0, hidden: int = 64) -> Layer:
    dice = np.random.default_rng(seed)
    x = _bytes(dice, 2, 16, most=96)
    wx, wh = (_bytes(dice, 4, hidden, size, most=96) for size in (16, hidden))
    ax, ah = (_bytes(dice, 4, hidden, most=96) for _ in range(2))
    of_x = flexasr.Product(wx, ax, biases.weights, biases.added, biases.inputs)
    of_h = flexasr.Product(wh, ah, biases.weights, biases.added, biases.results)

    def by_vector(gates: Any) -> Any:
        return np.stack([np.stack([one[v] for one in gates]) for v in range(hidden // 16)])

    values = {
        "x": x,
        "wx": by_vector([tiles(one) for one in wx]),
        "wh": by_vector([tiles(one) for one in wh]),
        "ax": by_vector(ax.reshape(4, -1, 16)),
        "ah": by_vector(ah.reshape(4, -1, 16)),
        "zero": np.zeros((hidden // 16, 16), np.uint8),
    }
    whole = flexasr.layer(x, [of_x, of_h], flexasr.LSTM, biases.results)
    return Layer("lstm", lstm(2, hidden, 16, biases), values, whole)


LAYERS = [pool(), layer(Biases(3, 2, 4, 5)), recurrent(Biases(1, 0, 1, 2))]


@pytest.mark.parametrize("made", LAYERS, ids=lambda one: one.name)
def test_layers_are_flexasr_s(made: Layer) -> None:
    found = execute(made.program, target("flexasr_units"), made.values)["y"]
    assert np.array_equal(found, made.expected)
    assert len(np.unique(found)) > 40


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(6))
def test_all_biases(seed: int) -> None:
    biases = Biases(*np.random.default_rng(seed).integers(0, 8, 4).tolist())
    made = layer(biases, seed)
    assert np.array_equal(execute(made.program, target("flexasr_units"), made.values)["y"], made.expected)


def test_weights_that_do_not_fit_together_come_for_16_cells_at_a_time() -> None:
    made = recurrent(Biases(1, 0, 1, 2), 5, hidden=128)
    loads = [one for one in made.program.commands if one.instruction == "load_weights"]
    assert len(loads) == 2 * 8 * 2  # both products, of eight tiles, in two steps
    assert np.array_equal(execute(made.program, target("flexasr_units"), made.values)["y"], made.expected)


def test_a_wrong_gate_is_found() -> None:
    made = recurrent(Biases(1, 0, 1, 2), 3)
    gates = made.values["wx"][:, [1, 0, 2, 3]]
    found = execute(made.program, target("flexasr_units"), {**made.values, "wx": gates})["y"]
    assert not np.array_equal(found, made.expected)


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="elements must be a multiple of 16, not 24"):
        max_pool(4, 24)
    with pytest.raises(ValueError, match="steps must be even, not 3"):
        max_pool(3, 32)
    with pytest.raises(ValueError, match="512 x 256 weights; the device has room for 65536"):
        linear(1, 512, 256)
    with pytest.raises(ValueError, match="an LSTM of 1024 inputs and 16 cells"):
        lstm(1, 16, 1024)
    with pytest.raises(ValueError, match="linear_2000_16_16: 4001 vectors; the device has room for 1024"):
        linear(2000, 16, 16)
