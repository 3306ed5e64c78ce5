"""Raw elements of all widths, and a run with formats narrower than their containers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axiloom.isa.numerics.formats import format_of
from axiloom.nest.resident import from_raw, resident, to_raw
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule


@given(st.integers(1, 64), st.booleans(), st.data())
def test_there_and_back(bits: int, signed: bool, data: st.DataObject) -> None:
    format = format_of(f"{'' if signed else 'u'}int{bits}")
    values = np.array([data.draw(st.integers(format.lowest, format.highest))], format.numpy)
    raw = to_raw(values, format)
    assert raw[0] < 2**bits
    assert from_raw(raw, format) == values


def test_floats_keep_their_bits() -> None:
    values, format = np.array([-0.0, 1.5, np.nan, -np.inf], np.float32), format_of("float32")
    assert from_raw(to_raw(values, format), format).tobytes() == values.tobytes()


@pytest.mark.slow
def test_resident_with_narrow_numbers() -> None:
    p = Builder("narrow")
    x, y, z = p.input("x", (5,), "int12"), p.inout("y", (5,), "int12"), p.inout("z", (2,), "uint5")
    with p.loop("i", 0, 5) as i:
        y[i] = x[i] * y[i] - 3
    given = {
        "x": np.array([2047, -2048, 5, -1, 0], np.int16),
        "y": np.array([-7, 3, -9, 1, 1], np.int16),
        "z": np.array([31, 0], np.uint8),
    }
    ran = resident(Schedule.of(p.program()), given)
    expected = interpret(p.program(), given)
    assert {k: v.tolist() for k, v in ran.results.items()} == {k: v.tolist() for k, v in expected.items()}
    assert z.array.number == "uint5"
    assert ran.simulated == ran.predicted
