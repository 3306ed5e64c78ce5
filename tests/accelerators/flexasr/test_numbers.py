"""Whole arrays beside the text, a command at a time: every byte, with the registers' ends met."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from axiloom.accelerators.flexasr import host
from axiloom.accelerators.flexasr import numbers as flexasr
from axiloom.application.units.counts import Places
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.simulator.simulate import Simulator

Array = np.ndarray[Any, Any]
VERSIONS = [flexasr.NOW, flexasr.Version(340, 0)]


def device(version: flexasr.Version) -> Simulator:
    constants = {"AC_MATH": version.ac_math, "SATURATED_SIGN": version.saturated_sign}
    return Simulator(read(targets()["flexasr"], constants))


def made(rng: np.random.Generator, gates: int, outputs: int, inputs: int, biases: Array) -> host.Product:
    """Bytes of every exponent, and biases of every size."""
    return host.Product(
        rng.integers(0, 256, (gates, outputs, inputs), np.uint8),
        rng.integers(0, 256, (gates, outputs), np.uint8),
        *(int(one) for one in biases),
    )


def weights(of: host.Product) -> flexasr.Weights:
    return flexasr.Weights.of(of.weights, of.added, of.weight_bias, of.added_bias)


@pytest.mark.every(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_linear(version: flexasr.Version) -> None:
    rng, unit, places = np.random.default_rng(0), device(version), Places()
    for biases in ((0, 0, 0), (1, 2, 3), (7, 7, 7), (2, 7, 1), (4, 0, 2), (7, 3, 6)):
        one, bias = made(rng, 1, 64, 48, np.array(biases)), int(rng.integers(8))
        x = rng.integers(0, 256, (3, 48), np.uint8)
        wanted = host.layer(x, [one], host.LINEAR, bias).run(unit)
        found = flexasr.linear(x, weights(one), one.input_bias, bias, places, version)
        assert np.array_equal(found, wanted)
    assert places["sums"].saturated
    assert places["output"].saturated
    assert places["output"].flushed


def test_sums_wrap() -> None:
    rng, places = np.random.default_rng(0), Places()
    x = rng.integers(120, 128, (2, 480), np.uint8)
    one = replace(
        made(rng, 1, 64, 480, np.array((7, 0, 7))), weights=rng.integers(112, 128, (1, 64, 480), np.uint8)
    )
    wanted = host.layer(x, [one], host.LINEAR, 7).run(device(flexasr.NOW))
    assert np.array_equal(flexasr.linear(x, weights(one), 7, 7, places, flexasr.NOW), wanted)
    assert places["sums"].wrapped


@pytest.mark.every(12)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("program", "gates"), [(host.LSTM, 4), (host.enlarged(3), 4), (host.RNN, 1)])
def test_recurrent(version: flexasr.Version, program: bytes, gates: int) -> None:
    rng, unit, places = np.random.default_rng(1), device(version), Places()
    for biases in ((0, 1, 2, 0, 2), (2, 2, 2, 2, 3), (4, 3, 2, 1, 6), (7, 7, 7, 7, 7)):
        both = [made(rng, gates, 64, 64, np.array((*biases[:2], biases[2 + k]))) for k in range(2)]
        bias = biases[4]
        x = rng.integers(0, 256, (5, 64), np.uint8)
        wanted = host.layer(x, both, program, bias).run(unit)
        input_biases = both[0].input_bias, both[1].input_bias, bias
        pair = weights(both[0]), weights(both[1])
        found = flexasr.recurrent(x[:, None], pair, input_biases, program, places, version)
        assert np.array_equal(found[:, 0], wanted)
    assert places["registers"].wrapped


def test_a_batch_is_its_sequences() -> None:
    rng = np.random.default_rng(2)
    both = [made(rng, 4, 64, 64, np.array((1, 1, 2))) for _ in range(2)]
    pair, biases = (weights(both[0]), weights(both[1])), (2, 4, 4)
    x = rng.integers(0, 256, (6, 3, 64), np.uint8)
    together = flexasr.recurrent(x, pair, biases, host.LSTM, Places(), flexasr.NOW)
    for k in range(3):
        alone = flexasr.recurrent(x[:, k : k + 1], pair, biases, host.LSTM, Places(), flexasr.NOW)
        assert np.array_equal(together[:, k], alone[:, 0])


def test_functions_in_all_their_values() -> None:
    """Beside floats with the published decimals, which share no code with either."""
    from tests.accelerators.flexasr.flexasr_numbers import packed, sigmoid, tanh

    everything = np.arange(-(1 << 19), 1 << 19)
    for ac_math in (321, 340):
        assert np.array_equal(flexasr._sigmoids(ac_math), sigmoid(everything, newer=ac_math > 321))
    assert np.array_equal(flexasr._tanhs(), tanh(everything))
    for bias in range(8):
        for sign in (0, 1):
            found = flexasr.packed(everything, bias, Places()["x"], flexasr.Version(321, sign))
            assert np.array_equal(found, packed(everything, bias + 4, sign_kept=bool(sign)))


def test_what_is_lost_is_counted() -> None:
    """Beside the definition: it saturates past 31.5 units of the last place, is 0 below half the least."""
    numbers = np.array([0, 1, -1, 15, 17, (63 << 6) - 1, 63 << 6, -(63 << 6), -(63 << 6) - 1])
    counts = Places()["x"]
    flexasr.packed(numbers, 0, counts)
    assert (counts.elements, counts.saturated, counts.flushed) == (9, 2, 3)
