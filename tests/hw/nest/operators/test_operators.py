"""Every operator, of every latency, against its reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Const
from tests.hw.nest.operators.vectors import check

from axiloom.hw.nest.operators import convert, latencies, operator, product, whole
from axiloom.hw.nest.operators.float import add, encoding, order
from axiloom.hw.nest.operators.float import convert as float_convert
from axiloom.hw.nest.operators.formats import BOOL, FLOAT32

NUMBERS = (
    *("int8", "uint8", "int13", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *(
        "ufixed<8,8>",
        "fixed<8,4>",
        "fixed<8,0>",
        "fixed<11,3>",
        "fixed<16,8>",
        "fixed<32,16>",
        "fixed<32,31>",
    ),
)
INTEGERS = ("int3", "uint5", *(each for each in NUMBERS if "int" in each))
COMPARISONS = tuple(whole.COMPARISONS)
ALGEBRA = ("add", "sub", "neg", "abs", "max", "min", "mul")


def _check_all(name: str, number: str, result: str, count: int = 300) -> None:
    rng = np.random.default_rng(sum(f"{name} {number} {result}".encode()))
    for latency in latencies(name, number, result):
        assert check(operator(name, number, result, latency), rng, count)


@pytest.mark.every(4)
@pytest.mark.parametrize("number", NUMBERS)
def test_whole_numbers(number: str) -> None:
    for name in ALGEBRA:
        _check_all(name, number, number)
    for name in COMPARISONS:
        _check_all(name, number, BOOL)


@pytest.mark.slow
def test_products_in_a_wider_format() -> None:
    for number, result in (("int8", "int16"), ("int16", "int32"), ("uint8", "uint32"), ("int32", "int64")):
        _check_all("mul", number, result)
    _check_all("mul", "fixed<8,4>", "fixed<32,8>")
    _check_all("mul", "fixed<11,3>", "fixed<32,6>")
    _check_all("mul", "fixed<16,15>", "fixed<32,30>")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "number", [pytest.param(each, marks=[pytest.mark.slow] * ("64" in each)) for each in INTEGERS]
)
def test_words(number: str) -> None:
    for name in ("and", "or", "xor", "not", "shl", "shr", "div", "rem"):
        _check_all(name, number, number, 30 if number.endswith("64") else 150)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "sqrt", "exp", "max", "min", "neg", "abs"])
def test_float32(name: str) -> None:
    _check_all(name, FLOAT32, FLOAT32, 1_500)


def test_the_exponential_is_off_by_less_than_a_unit_in_the_last_place() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-87.3, 88.7, 200_000), rng.normal(0, 1e-3, 20_000)]).astype(np.float32)
    found = operator("exp", FLOAT32, FLOAT32).reference(x.view(np.uint32)).view(np.float32)
    right = np.exp(x.astype(np.float64))
    units = abs(found - right) / 2.0 ** (np.floor(np.log2(right)) - 23)
    assert 0.5 < units.max() < 0.8


def test_comparisons_of_float32() -> None:
    for name in COMPARISONS:
        _check_all(name, FLOAT32, BOOL, 1_000)


@pytest.mark.every(4)
@pytest.mark.parametrize("number", [*NUMBERS, BOOL])
def test_conversions_of_float32(number: str) -> None:
    _check_all("convert", FLOAT32, number, 1_000)
    _check_all("convert", number, FLOAT32, 3_000)


@pytest.mark.every(4)
@pytest.mark.parametrize("number", [*NUMBERS, BOOL])
def test_conversions(number: str) -> None:
    for result in (*NUMBERS, BOOL):
        if result != number:
            _check_all("convert", number, result, 100)


def test_lanes() -> None:
    for narrow, wide in (("uint8", "uint16"), ("uint8", "uint32"), ("uint16", "uint32")):
        _check_all("join", narrow, wide, 300)
        for place in range(int(wide[4:]) // int(narrow[4:])):
            _check_all(f"lane{place}", wide, narrow, 300)


def test_choices() -> None:
    for number in (*NUMBERS, FLOAT32, BOOL):
        _check_all("select", number, number, 100)
    for name in ("and", "or", "xor", "not"):
        _check_all(name, BOOL, BOOL)


def _no_sticky(moved: Any, distance: Any) -> Any:
    return add_aligned(moved, distance)[0], Const(0, 1)


add_aligned = add._aligned
FAULTS: dict[str, tuple[Any, str, Callable[..., Any], tuple[str, str, str]]] = {
    "a sign is not seen": (whole, "signed_as", lambda value, _: value, ("max", "int16", "int16")),
    "a product without sign": (
        product,
        "signed_as",
        lambda value, _: value,
        ("mul", "fixed<8,4>", "fixed<32,8>"),
    ),
    "no end of the range": (
        *(convert, "saturated", lambda value, number: convert.resized(value, number.bits)),
        ("convert", "fixed<16,8>", "fixed<8,4>"),
    ),
    "bits that fall off are forgotten": (add, "_aligned", _no_sticky, ("add", FLOAT32, FLOAT32)),
    "no NaN in products": (encoding, "is_nan", lambda _: Const(0, 1), ("mul", FLOAT32, FLOAT32)),
    "no NaN in quotients": (encoding, "is_nan", lambda _: Const(0, 1), ("div", FLOAT32, FLOAT32)),
    "no NaN in roots": (encoding, "is_nan", lambda _: Const(0, 1), ("sqrt", FLOAT32, FLOAT32)),
    "subnormals in order": (order, "flushed", lambda value: value, ("max", FLOAT32, FLOAT32)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, faulty, of = FAULTS[fault]
    monkeypatch.setattr(module, name, faulty)
    with pytest.raises(AssertionError, match="differ"):
        _check_all(*of, count=1_000)


def test_a_register_too_few_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    later = add.Stages.later

    def skip(self: Any, value: Any, label: str, cycles: int = 1) -> Any:
        return value if label == "sticky" else later(self, value, label, cycles)

    monkeypatch.setattr(add.Stages, "later", skip)
    with pytest.raises(AssertionError, match="meet in one cell"):
        _check_all("add", FLOAT32, FLOAT32)


@pytest.mark.parametrize("number", ["float32", "fixed<16,8>", "int32"])
def test_a_result_of_a_bit_more_is_found(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends with a sign beside raw bits: the choice has 9 bits, and a product takes the highest for the
    sign."""
    rng = np.random.default_rng(1)
    lowest_signed = lambda number: (Const(number.lowest, number.bits), Const(number.highest, number.bits))  # noqa: E731
    monkeypatch.setattr(convert, "ends", lowest_signed)
    monkeypatch.setattr(float_convert, "ends", lowest_signed)
    with pytest.raises(AssertionError, match="9 bits, not 8"):
        check(operator("convert", number, "fixed<8,4>"), rng)
