"""Every operation on arrays is what it says of its elements; a composite is what its definition says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.cases import CASES, arrays_of
from tests.graph.elements import by_elements

from axiloom.graph import Graph, Type
from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import Array, number
from axiloom.graph.ops import OPS, Builder

_EXACT_SHARE = {"float32": 2**-19, "bfloat16": 2**-5, "float16": 2**-8, "float64": 2**-45}
"""Sums of floats are compared up to the rounding of some terms that cancel."""


def assert_near(found: Array, wanted: Array, of: str) -> None:
    a, b = (number(of).decode(one) for one in (found, wanted))
    if number(of).kind != "float":
        np.testing.assert_array_equal(a, b)
        return
    share = _EXACT_SHARE[of]
    np.testing.assert_allclose(a, b, rtol=share, atol=share, equal_nan=True)


def test_every_operation_has_cases() -> None:
    assert set(CASES) == set(OPS)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", sorted(CASES))
@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_element(name: str, data: st.DataObject, seed: int) -> None:
    types, attributes = data.draw(CASES[name])
    arrays, op = arrays_of(types, np.random.default_rng(seed)), OPS[name]
    result = op.result(types, attributes)
    found = op.evaluate(arrays, types, attributes)
    assert found.shape == result.shape
    assert found.dtype == number(result.number).host
    with np.errstate(all="ignore"):
        assert_near(found, by_elements(op, arrays, types, attributes), result.number)


@pytest.mark.parametrize("name", sorted(name for name, op in OPS.items() if op.definition))
@settings(max_examples=15)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_definition(name: str, data: st.DataObject, seed: int) -> None:
    types, attributes = data.draw(CASES[name])
    arrays, op, builder = arrays_of(types, np.random.default_rng(seed)), OPS[name], Builder()
    leaves = [builder.leaf("parameter", str(i), type_) for i, type_ in enumerate(types)]
    assert op.definition is not None
    made = op.definition(builder.op, leaves, attributes)
    assert made.type == builder.op(name, *leaves, **attributes).type
    graph = Graph("definition", tuple(leaves), (made,))
    (wanted,) = evaluate(graph, {str(i): array for i, array in enumerate(arrays)})
    assert_near(op.evaluate(arrays, types, attributes), wanted, made.type.number)


def test_a_wrong_operation_is_found() -> None:
    """The comparison above has teeth: a mutant of ``slice`` differs."""
    op, types = OPS["slice"], [Type((4,), "int8")]
    arrays = [np.arange(4, dtype=np.int8)]
    right = {"start": (1,), "limit": (3,), "strides": (1,)}
    wrong = {"start": (0,), "limit": (2,), "strides": (1,)}
    assert (op.evaluate(arrays, types, right) != by_elements(op, arrays, types, wrong)).any()
