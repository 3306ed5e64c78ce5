"""Real factors as a multiplier and a shift."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiloom.quantise.lower.fixed import best_scale, common_multipliers, multiplier, scale_of, table, to_int8


@given(st.floats(2.0**-31, 2.0**15))
def test_multiplier_is_as_exact_as_sixteen_bits_are(factor: float) -> None:
    whole, shift = multiplier(factor)
    assert 1 << 15 <= whole < 1 << 16
    assert 0 <= shift <= 47
    assert whole / 2**shift == pytest.approx(factor, rel=2.0**-16)


def test_multiplier_at_the_ends() -> None:
    assert multiplier(0.0) == (0, 0)
    assert multiplier(2.0**-40) == (1 << 7, 47)  # fewer bits, where the shift is at its end
    assert multiplier(np.nextafter(1.0, 0.0)) == (1 << 15, 15)  # rounds up to the next power
    for factor in (-1.0, math.inf, 2.0**16):
        with pytest.raises(ValueError, match=r"factor"):
            multiplier(factor)


@given(st.floats(2.0**-12, 2.0**8), st.floats(0.0, 1.0))
def test_common_multipliers_leave_room_for_the_sum(larger: float, part: float) -> None:
    first, second, shift = common_multipliers(larger, larger * part)
    assert 128 * (first + second) + (1 << shift) < 1 << 31
    assert first / 2**shift == pytest.approx(larger, rel=2.0**-10)
    assert second / 2**shift == pytest.approx(larger * part, abs=larger * 2.0**-10)


def test_scale_weighs_ends_against_steps() -> None:
    rng = np.random.default_rng(0)
    even, normal = rng.uniform(-1, 1, 10000), rng.normal(size=100000)
    assert best_scale(even) == scale_of(float(np.abs(even).max()))
    assert best_scale(even / 2, largest=3.0) == scale_of(1.5)  # half of the largest, no less

    def loss(scale: float) -> float:
        return float(((to_int8(normal, scale) * scale - normal) ** 2).sum())

    assert loss(best_scale(normal)) < loss(scale_of(float(np.abs(normal).max())))


def test_int8_is_symmetric() -> None:
    scale = scale_of(2.0)
    assert to_int8(np.array([-3.0, -2.0, 0.0, scale / 2 + 1e-9, 2.0]), scale).tolist() == [
        -127,
        -127,
        0,
        1,
        127,
    ]


def test_table_is_the_function_of_each_of_256() -> None:
    squares = table(np.square, 0.1, 2.0)
    assert squares[128 + 20] == squares[128 - 20] == round((20 * 0.1) ** 2 / 2.0)
    assert squares.shape == (256,)
    assert squares.dtype == np.int8
