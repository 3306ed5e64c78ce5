"""Scalar functions and conversions beside what XLA gives: the expected lists are JAX 0.10.2's on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiloom.graph.numbers import number
from axiloom.graph.ops.scalars import compute, convert

A = [5, -5, -(2**31), 7, 0, -7, 2**31 - 1, -128]
B = [0, 0, -1, 3, 0, 2, -1, 33]
INT32 = {
    "div": [-1, -1, -2147483648, 2, -1, -3, -2147483647, -3],
    "rem": [5, -5, 0, 1, 0, -1, 0, -29],
    "shl": [5, -5, 0, 56, 0, -28, 0, 0],
    "sra": [5, -5, -1, 0, 0, -2, 0, -1],
    "srl": [5, -5, 0, 0, 0, 1073741822, 0, 0],
    "pow": [1, 1, 0, 343, 1, 49, 0, 0],  # StableHLO's text: x^-1 is 1/x rounded to 0; JAX has no such power
}
A8, B8 = [5, -5, 0, 7, 0, -7, -1, -128], [0, 0, -1, 3, 0, 2, -1, 9]
INT8 = {
    "div": [-1, -1, 0, 2, -1, -3, 1, -14],
    "rem": [5, -5, 0, 1, 0, -1, 0, -2],
    "shl": [5, -5, 0, 56, 0, -28, 0, 0],
    "sra": [5, -5, 0, 0, 0, -2, -1, -1],
    "srl": [5, -5, 0, 0, 0, 62, 0, 0],
}


@pytest.mark.parametrize("function", sorted(INT32))
def test_int32(function: str) -> None:
    found = compute(function, number("int32"), np.array(A, np.int32), np.array(B, np.int32))
    assert found.dtype == np.int32
    assert found.tolist() == INT32[function]


@pytest.mark.parametrize("function", sorted(INT8))
def test_int8(function: str) -> None:
    found = compute(function, number("int8"), np.array(A8, np.int8), np.array(B8, np.int8))
    assert found.tolist() == INT8[function]


def test_unsigned_division() -> None:
    a, b = np.array([5, 0, 200], np.uint8), np.array([0, 0, 3], np.uint8)
    assert compute("div", number("uint8"), a, b).tolist() == [255, 255, 66]
    assert compute("rem", number("uint8"), a, b).tolist() == [5, 0, 2]


_FLOATS = [1e10, -1e10, np.nan, np.inf, -np.inf, 2.5, -2.5, -0.9, 255.7, 127.5, -129]
_CONVERTED: dict[str, list[Any]] = {
    "int8": [127, -128, 0, 127, -128, 2, -2, 0, 127, 127, -128],
    "uint8": [255, 0, 0, 255, 0, 2, 0, 0, 255, 127, 0],
    "int32": [2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31), 2, -2, 0, 255, 127, -129],
    "int64": [10**10, -(10**10), 0, 2**63 - 1, -(2**63), 2, -2, 0, 255, 127, -129],
    "bool": [True] * 11,
}


@pytest.mark.parametrize("target", sorted(_CONVERTED))
def test_floats_saturate(target: str) -> None:
    found = convert(np.array(_FLOATS, np.float32), number("float32"), number(target))
    assert found.tolist() == _CONVERTED[target]


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("float32", [16777216.0, 2147483648.0, -2147483648.0, 50331652.0]),
        ("bfloat16", [16777216.0, 2147483648.0, -2147483648.0, 50331648.0]),
        ("float16", [np.inf, np.inf, -np.inf, np.inf]),
    ],
)
def test_integers_are_rounded(target: str, wanted: list[float]) -> None:
    given = np.array([2**24 + 1, 2**31 - 1, -(2**31), 16777217 * 3], np.int64)
    of = number(target)
    assert of.decode(convert(given, number("int64"), of)).tolist() == wanted


def test_integers_wrap() -> None:
    given = np.array([300, -300, 256], np.int32)
    assert convert(given, number("int32"), number("int8")).tolist() == [44, -44, 0]
    assert convert(given, number("int32"), number("bool")).tolist() == [True, True, True]
    least = np.array([-128], np.int8)
    assert compute("abs", number("int8"), least).tolist() == [-128]
    assert compute("neg", number("int8"), least).tolist() == [-128]


def test_nan() -> None:
    a, b = np.array([np.nan, 1], np.float32), np.array([1, np.nan], np.float32)
    for function in ("max", "min"):
        assert np.isnan(compute(function, number("float32"), a, b)).all()
    assert not compute("eq", number("float32"), a, a)[0]
    assert compute("ne", number("float32"), a, a)[0]
