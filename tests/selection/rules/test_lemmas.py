"""What the prover reckons with, lemma by lemma, on numbers: integers that wrap, and some floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

SIZES = st.integers(1, 5)
WRAPPING = ("int8", "uint8", "int16")
FREE = (np.maximum, np.minimum)
"""Re-associated in all numbers."""


@st.composite
def matrices(draw: st.DrawFn, numbers: tuple[str, ...] = (*WRAPPING, "float32")) -> Any:
    number = draw(st.sampled_from(numbers))
    shape = (draw(SIZES), draw(SIZES))
    elements = {"min_value": -8, "max_value": 8} if number == "float32" else {}
    return draw(arrays(number, shape, elements=st.floats(width=32, **elements) if elements else None))


def _fold(function: Any, values: Any) -> Any:
    """One after the other, in the number of the values."""
    found = values.flat[0]
    for one in values.flat[1:]:
        with np.errstate(over="ignore"):
            found = values.dtype.type(function(found, one))
    return found


def _functions(values: Any) -> Any:
    return FREE if values.dtype == np.float32 else (*FREE, np.add, np.multiply)


@given(matrices())
def test_indices_change_places(x: Any) -> None:
    for function in _functions(x):
        assert _fold(function, x) == _fold(function, np.ascontiguousarray(x.T))


@given(matrices())
def test_one_over_a_product_is_two(x: Any) -> None:
    for function in _functions(x):
        inner = np.array([_fold(function, row) for row in x], x.dtype)
        assert _fold(function, x.reshape(-1)) == _fold(function, inner)


@given(matrices(), st.data())
def test_a_fold_is_cut(x: Any, data: st.DataObject) -> None:
    flat = x.reshape(-1)
    if len(flat) < 2:
        return
    at = data.draw(st.integers(1, len(flat) - 1))
    for function in _functions(x):
        halves = np.array([_fold(function, flat[:at]), _fold(function, flat[at:])], x.dtype)
        assert _fold(function, flat) == _fold(function, halves)


@given(matrices(WRAPPING), st.data())
def test_a_factor_goes_into_a_sum(x: Any, data: st.DataObject) -> None:
    info = np.iinfo(x.dtype)
    factor = x.dtype.type(data.draw(st.integers(int(info.min), int(info.max))))
    with np.errstate(over="ignore"):
        assert x.dtype.type(_fold(np.add, x) * factor) == _fold(np.add, (x * factor).astype(x.dtype))


@given(matrices())
def test_of_equal_ones_the_largest_is_any(x: Any) -> None:
    for function in FREE:
        assert _fold(function, np.full(x.shape, x.flat[0], x.dtype)) == x.flat[0]


@given(matrices(WRAPPING), st.data())
def test_a_fold_of_nothing_but_one_is_it(x: Any, data: st.DataObject) -> None:
    flat = x.reshape(-1)
    at = data.draw(st.integers(0, len(flat) - 1))
    info = np.iinfo(x.dtype)
    for function, nothing in ((np.add, 0), (np.multiply, 1), (np.maximum, info.min), (np.minimum, info.max)):
        alone = np.full(flat.shape, nothing, x.dtype)
        alone[at] = flat[at]
        assert _fold(function, alone) == flat[at]


@pytest.mark.parametrize("number", ["float32"])
def test_sums_of_floats_have_an_order(number: str) -> None:
    """So they are not among the functions that are re-associated: the tests above would see it."""
    x = np.array([1e8, 1, -1e8], number)
    assert _fold(np.add, x) != _fold(np.add, x[[0, 2, 1]])
