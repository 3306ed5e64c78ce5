"""Each usual fault of a kernel that is no product is told from the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from axiloom.run import wrong_result
from axiloom.run.wrong_result import Computed, diagnosis

TILE = 16
RNG = np.random.default_rng(3)
INPUTS = {name: RNG.integers(-(1 << 20), 1 << 20, 4 * TILE).astype(np.int32) for name in ("a", "b")}


def difference(inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    return inputs["a"] - 3 * inputs["b"]


RUN = Computed(INPUTS, {"a": "A", "b": "B"}, "C", TILE, difference)
WANT = difference(INPUTS)


def test_what_is_right_is_not_diagnosed() -> None:
    assert diagnosis(RUN, WANT, WANT) == []


@pytest.mark.parametrize("text", [text for text, _ in wrong_result._guesses(RUN, WANT)])
def test_each_fault_is_told(text: str) -> None:
    got = dict(wrong_result._guesses(RUN, WANT))[text]
    _, said = diagnosis(RUN, got, WANT)
    assert text in said
    assert "all wrong elements come out" in said


def test_a_ratio_holds_in_the_bits_of_the_result() -> None:
    samples = RNG.integers(-(1 << 15), 1 << 15, 64).astype(np.int16)
    run = Computed({"x": samples}, {"x": "X"}, "Y", 16, lambda inputs: inputs["x"] * np.int16(3))
    lines = diagnosis(run, samples * np.int16(4), samples * np.int16(3))
    assert "each element is 4/3 of what it should be" in lines[1]


def test_where_and_that_nothing_explains_it() -> None:
    got = WANT.copy()
    got[[TILE + 5, 3 * TILE + 5]] += 1
    first, second = diagnosis(RUN, got, WANT)
    assert first == (
        "2 of 4 tiles of C (16 elements) are wrong, the first from element 16, only in element 5 of a tile"
    )
    assert second.startswith("none of")


def test_floats_are_left_alone() -> None:
    assert diagnosis(RUN, WANT.astype(np.float32), WANT.astype(np.float32) + 1) == []
