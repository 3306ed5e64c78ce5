"""Numbers on the host: rounding, texts, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiloom.graph import GraphError
from axiloom.graph.numbers import NUMBERS, number

torch = pytest.importorskip("torch")


@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_bfloat16_rounds_as_torch(values: list[float]) -> None:
    of, array = number("bfloat16"), np.array(values, np.float32)
    wanted = torch.tensor(array).to(torch.bfloat16)
    np.testing.assert_array_equal(of.decode(of.encode(array)), wanted.to(torch.float32).numpy())


@pytest.mark.every(4)
@pytest.mark.parametrize("name", sorted(NUMBERS))
@given(data=st.data())
def test_text_reads_back(name: str, data: st.DataObject) -> None:
    of = number(name)
    if of.kind == "float":
        raw = of.encode(np.array(data.draw(st.floats(width=32, allow_nan=False)), np.float64))
    elif of.kind == "bool":
        raw = np.array(data.draw(st.booleans()))
    else:
        ends = np.iinfo(of.host)
        raw = np.array(data.draw(st.integers(int(ends.min), int(ends.max))), of.host)
    found = of.parse(of.text(of.decode(raw)))
    assert found.dtype == of.host
    np.testing.assert_array_equal(found, raw)


def test_texts_are_short() -> None:
    assert number("float32").text(0.1) == "0.1"
    assert number("bfloat16").text(np.float32(1 / 3)) == "0.334"
    assert number("float32").text(-np.inf) == "-inf"
    assert number("int8").text(-3) == "-3"


@pytest.mark.parametrize(
    ("name", "text"),
    [("int8", "128"), ("int8", "1.5"), ("bool", "2"), ("float32", "one"), ("fixed<8,4>", "1")],
)
def test_refused_texts(name: str, text: str) -> None:
    with pytest.raises(GraphError, match="is no"):
        number(name).parse(text)


def test_unknown_number() -> None:
    with pytest.raises(GraphError, match="unknown type `int9`"):
        number("int9")
