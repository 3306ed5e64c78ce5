"""What every format must keep, and each one's own arithmetic against plain Python."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.some import some

from axiloom.isa import numerics
from axiloom.isa.numerics import Numerics, NumericsError
from axiloom.isa.numerics.adaptivfloat import bias_of, from_fixed, quantise, to_fixed

NAMES = (
    "int8",
    "int16",
    "int32",
    "uint8",
    "float32",
    "fixed<8,3>",
    "fixed<16,8>",
    "fixed<32,16>",
    "ufixed<8,4>",
    "adaptivfloat<8,3>",
)
EVERY = pytest.mark.parametrize("kind", [numerics.of(name) for name in NAMES], ids=NAMES)


def raws(kind: Numerics) -> np.ndarray:
    """All of them where they are few, else many and the ends."""
    if kind.bits <= 16:
        return np.arange(1 << kind.bits).astype(kind.raw)
    random = np.random.default_rng(0).integers(0, 1 << 32, 20_000, np.uint32)
    return np.concatenate([random, np.array([0, 1, 1 << 31, (1 << 31) - 1, (1 << 32) - 1], np.uint32)])


@EVERY
def test_bits_come_back(kind: Numerics) -> None:
    """Every element is its own value, but for a zero with a sign."""
    raw = raws(kind)
    back = kind.encode(kind.decode(raw))
    assert back.dtype == kind.raw
    if kind.name == "adaptivfloat<8,3>":
        raw = np.where(raw == 0x80, 0, raw)
    assert np.array_equal(back, raw)


@EVERY
def test_parts_fit_each_other(kind: Numerics) -> None:
    assert numerics.of(kind.name) == kind
    assert kind.numpy.itemsize * 8 == kind.bits == 32 // kind.per_word
    total = kind.accumulator
    assert (total.bits, total.accumulator) == (32, total)
    assert kind.zero == 0
    values = kind.decode(raws(kind))
    values = values[np.isfinite(kind.real(values))]
    assert kind.lowest <= values.min()
    assert kind.highest >= values.max()
    assert np.array_equal(kind.nearest(kind.real(values)), values)
    assert np.array_equal(kind.maximum(values, kind.lowest), values)
    assert np.array_equal(kind.minimum(values, kind.highest), values)
    assert np.array_equal(kind.add(values, kind.zero), values)


@EVERY
def test_dot_is_its_products_and_sums_one_after_the_other(kind: Numerics) -> None:
    rng = np.random.default_rng(1)
    a, b = (kind.decode(kind.random(rng, shape).view(kind.raw)) for shape in ((3, 7), (7, 5)))
    total = kind.accumulator
    sums = kind.widen(kind.decode(kind.random(rng, (3, 5)).view(kind.raw)))
    found, expected = kind.dot(sums, a, b), sums.copy()
    for m, n, k in np.ndindex(3, 5, 7):
        expected[m : m + 1, n] = total.add(
            expected[m : m + 1, n], kind.multiply(a[m : m + 1, k], b[k, n : n + 1])
        )
    assert np.array_equal(found, expected)
    if kind.associative:
        assert np.array_equal(kind.dot(sums, a[:, ::-1], b[::-1]), found)


@EVERY
def test_widened_and_narrowed_is_the_same(kind: Numerics) -> None:
    values = kind.decode(raws(kind))
    assert np.array_equal(kind.narrow(kind.widen(values)), values, equal_nan=kind.name == "float32")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "int7",
            "unknown type `int7`; did you mean `int8`?; there are int8, int16, int32, uint8, float32, "
            "fixed<BITS,FRACTION>, ufixed<8,FRACTION>, adaptivfloat<8,3>",
        ),
        ("fixed<12,4>", "an element of `fixed<12,4>` has 12 bits; on the stream it may have 8, 16 or 32"),
        ("ufixed<16,4>", "an element of `ufixed<16,4>` has 16 bits; without sign it may have 8"),
        ("ufixed<8,9>", "`ufixed<8,9>` has 9 bits of fraction; of 8 bits they may be 0 to 8"),
        ("fixed<8,8>", "`fixed<8,8>` has 8 bits of fraction; of 8 bits they may be 0 to 7"),
        ("adaptivfloat<8,4>", "`adaptivfloat<8,4>`: of AdaptivFloat there is adaptivfloat<8,3> only"),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(NumericsError) as caught:
        numerics.of(name)
    assert str(caught.value) == message


def test_uint8_has_no_sign() -> None:
    kind = numerics.UINT8
    assert kind.multiply(*(kind.decode(np.array([x], np.uint8)) for x in (255, 255))) == 65025
    assert list(kind.add(np.array([250]), np.array([10]))) == [4]


def rounded(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def test_float32_rounds_products_and_sums() -> None:
    """Python's floats have more than twice the digits: rounded once more, they are as if rounded once."""
    kind, rng = numerics.FLOAT32, np.random.default_rng(2)
    a, b = kind.random(rng, (1, 200)), kind.random(rng, (200, 1))
    total = 0.0
    for x, y in zip(a[0], b[:, 0], strict=True):
        total = rounded(total + rounded(float(x) * float(y)))
    found = kind.dot(kind.zeros((1, 1)), a, b)
    assert (found.dtype, float(found[0, 0])) == (np.float32, total)


def test_float32_adds_in_order() -> None:
    kind = numerics.FLOAT32
    a, ones = np.array([[1e8, 1, -1e8]], np.float32), np.ones((3, 1), np.float32)
    assert kind.dot(kind.zeros((1, 1)), a, ones) == 0
    assert kind.dot(kind.zeros((1, 1)), a[:, [0, 2, 1]], ones) == 1


def test_float32_margin_holds_in_any_order_and_is_not_idle() -> None:
    kind, rng = numerics.FLOAT32, np.random.default_rng(3)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((20, 300), (300, 20)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    margin = kind.margin(301, np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
    for order in (np.arange(300), np.arange(300)[::-1], rng.permutation(300)):
        off = np.abs(kind.dot(kind.zeros((20, 20)), a[:, order], b[order]) - exact)
        assert np.all(off <= margin)
        assert np.any(off > 0)
    assert np.all(margin < 1e-2)  # one product too many or too few is off by more, in most elements


@given(st.integers(-(1 << 15), (1 << 15) - 1), st.integers(-(1 << 15), (1 << 15) - 1))
def test_fixed_products_are_exact_and_narrow_rounds_halves_up(a: int, b: int) -> None:
    kind = numerics.of("fixed<16,8>")
    product = kind.multiply(np.array([a], np.int32), np.array([b], np.int32))
    exact = Fraction(a, 256) * Fraction(b, 256)
    assert Fraction(float(kind.accumulator.real(product)[0])) == exact
    nearest = (exact * 256 + Fraction(1, 2)).__floor__()
    assert kind.narrow(product)[0] == min(max(nearest, -(1 << 15)), (1 << 15) - 1)


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-(1 << 31), (1 << 31) - 1))
def test_fixed_of_32_bits_rounds_its_products(a: int, b: int) -> None:
    kind = numerics.of("fixed<32,16>")
    product = kind.multiply(np.array([a], np.int32), np.array([b], np.int32))
    exact = (Fraction(a * b, 1 << 16) + Fraction(1, 2)).__floor__()
    assert product[0] == (exact + (1 << 31)) % (1 << 32) - (1 << 31)


def adaptiv(byte: int, bias: int) -> Fraction:
    """The published formula."""
    sign, exponent, mantissa = byte >> 7, byte >> 4 & 7, byte & 15
    if exponent == mantissa == 0:
        return Fraction(0)
    return (-1) ** sign * Fraction(2) ** (exponent + bias - 10) * (1 + Fraction(mantissa, 16))


@pytest.mark.parametrize("bias", some(range(8), 3))
def test_adaptivfloat_decodes_as_published(bias: int) -> None:
    units = to_fixed(np.arange(256).astype(np.uint8), bias)
    assert [Fraction(int(u), 1 << 14) for u in units] == [adaptiv(byte, bias) for byte in range(256)]


@pytest.mark.every(3)
@pytest.mark.parametrize("bias", some(range(8), 3))
def test_adaptivfloat_rounds_halves_up(bias: int) -> None:
    """Against all elements: the nearest one; of two that are as near, the larger number."""
    known = sorted({adaptiv(byte, bias): byte for byte in range(255, -1, -1)}.items())
    largest, smallest = known[-1][0], min(value for value, _ in known if value > 0)
    for unit in np.random.default_rng(bias).integers(-(1 << 19), 1 << 19, 3000):
        number = Fraction(int(unit), 1 << 14)
        byte = int(from_fixed(unit, bias))
        if abs(number) > largest:
            assert byte == (0x7F if number > 0 else 0xFF)
        elif abs(number) >= smallest:
            best = min(abs(value - number) for value, _ in known)
            assert adaptiv(byte, bias) == max(value for value, _ in known if abs(value - number) == best)
    assert list(from_fixed([33 << 7, -(33 << 7)], 0, 14)) == [0x7F, 0xFF]
    assert list(from_fixed([33 << 5, -(33 << 5)], 0, 14)) == [0x61, 0xE0]


def test_adaptivfloat_of_a_tensor() -> None:
    reals = np.array([3.9, -0.001, 0.0, 1.0, 0.05, -4.1])
    bias = bias_of(reals)
    assert bias == 5  # 4.1 is between 2^2 and 2^3
    raw = quantise(reals, bias)
    assert [float(adaptiv(int(byte), bias)) for byte in raw] == [3.875, 0.0, 0.0, 1.0, 0.05078125, -4.0]
    assert bias_of(np.zeros(3)) == 0


@EVERY
def test_sums_of_many_terms(kind: Numerics) -> None:
    """All at once and one after the other are the same in every bit."""
    random, total = np.random.default_rng(3), kind.accumulator
    sums, terms = (total.decode(total.random(random, shape).view(total.raw)) for shape in ((3, 4), (9, 3, 4)))
    expected = sums
    for term in terms:
        expected = total.add(expected, term)
    assert np.array_equal(total.encode(total.accumulate(sums, terms)), total.encode(expected))
