"""Operations in int8 beside formulas written another way, and ``requantise`` beside accelerators' model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.cases import CASES, arrays_of

from axiloom.graph import Attribute, Graph, Type
from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import number
from axiloom.graph.ops import OPS, Builder
from axiloom.isa.kernels.requantise import requantise

Array = np.ndarray[Any, Any]


def run(name: str, *arrays: Array, **attributes: Attribute) -> Array:
    types = [Type(array.shape, str(array.dtype)) for array in arrays]
    return OPS[name].evaluate(arrays, types, attributes)


@given(
    seed=st.integers(0, 2**32 - 1), zero=st.integers(-128, 127), ends=st.tuples(*[st.integers(-128, 127)] * 2)
)
def test_requantise(seed: int, zero: int, ends: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    sums = rng.integers(-(2**31), 2**31, (3, 5)).astype(np.int32)
    bias = rng.integers(-(2**31), 2**31, 5).astype(np.int32)
    multiplier, shift = rng.integers(0, 1 << 16, 5), rng.integers(0, 64, 5)
    low, high = sorted(ends)
    channels = np.stack([bias.view(np.uint32), (multiplier | shift << 16).astype(np.uint32)], 1)
    wanted = requantise(sums.view(np.uint32), channels, {"zp": zero, "lo": low, "hi": high}, axis=1)
    operands = (sums, bias, multiplier.astype(np.int32), shift.astype(np.int32))
    result = run("requantise", *operands, dimension=1, zero=zero, low=low, high=high)
    np.testing.assert_array_equal(result, wanted)


def test_requantise_is_its_definition_at_every_edge() -> None:
    """Every edge of int32 against every other, and shifts next to those of all bits."""
    edges = number("int32").edges
    shifts = np.unique(np.array([*edges, 2, 31, 32, 33, 62, 63, 64], np.int32))
    bias, multiplier, shift = (grid.ravel() for grid in np.meshgrid(edges, edges, shifts))
    arrays = [np.repeat(edges[:, None], len(shift), 1), bias, multiplier, shift]
    for zero, low, high in ((0, -128, 127), (127, -128, 127), (-128, -3, 90)):
        attributes = {"dimension": 1, "zero": zero, "low": low, "high": high}
        builder = Builder()
        leaves = [
            builder.leaf("parameter", str(i), Type(array.shape, "int32")) for i, array in enumerate(arrays)
        ]
        definition = OPS["requantise"].definition
        assert definition is not None
        graph = Graph("definition", tuple(leaves), (definition(builder.op, leaves, attributes),))
        (wanted,) = evaluate(graph, {str(i): array for i, array in enumerate(arrays)})
        np.testing.assert_array_equal(run("requantise", *arrays, **attributes), wanted)


def _half(shift: int) -> np.int32:
    return np.int32((1 << shift) >> 1)


def _requantise_shift(sums: Array, bias: Array, dimension: int, shift: int, low: int, high: int) -> Array:
    along = bias.reshape([-1 if d == dimension else 1 for d in range(sums.ndim)])
    return np.clip((sums + along) >> np.int32(shift), low, high)


def _add_scaled(a: Array, b: Array, first: int, second: int, shift: int, low: int, high: int) -> Array:
    wide = a.astype(np.int32) * np.int32(first) + b.astype(np.int32) * np.int32(second)
    return np.clip((wide + _half(shift)) >> shift, low, high)


def _multiply_scaled(a: Array, b: Array, factor: int, shift: int) -> Array:
    wide = a.astype(np.int32) * b.astype(np.int32) * np.int32(factor)
    return np.clip((wide + _half(shift)) >> shift, -128, 127)


def _softmax(x: Array, table: Array, numerator: int, shift: int) -> Array:
    wide = x.astype(np.int32)
    powers = table[wide.max(-1, keepdims=True) - wide]
    total = powers.sum(-1, keepdims=True, dtype=np.int32)
    return np.minimum((powers * (np.int32(numerator) // total) + _half(shift)) >> shift, 127)


def _layer_norm(x: Array, gain: Array, offset: Array, epsilon: str, shift: int) -> Array:
    n, wide = np.int32(x.shape[-1]), x.astype(np.int32)
    total = wide.sum(-1, keepdims=True, dtype=np.int32)
    squares = (wide * wide).sum(-1, keepdims=True, dtype=np.int32)
    spread = squares.astype(np.int64) * np.int64(n) - total.astype(np.int64) ** 2
    root = np.sqrt(spread.astype(np.float32) + np.float32(epsilon))
    inverse = (np.float32(1 << 24) / root).astype(np.int32)
    normal = ((n * wide - total) * inverse + np.int32(1 << 13)) >> 14
    return np.clip((normal * gain + offset) >> shift, -128, 127)


FORMULAS = {
    "requantise_shift": _requantise_shift,
    "add_scaled": _add_scaled,
    "multiply_scaled": _multiply_scaled,
    "lookup": lambda x, table: table[x.astype(np.int32) + 128],
    "softmax_int8": _softmax,
    "layer_norm_int8": _layer_norm,
}


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=30)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_each_is_its_formula_in_every_bit(name: str, data: st.DataObject, seed: int) -> None:
    types, attributes = data.draw(CASES[name])
    arrays = arrays_of(types, np.random.default_rng(seed))
    if name == "softmax_int8":  # powers are positive, their sum fits 32 bits
        arrays[1] = arrays[1] & 0x3FFF | 1
    with np.errstate(over="ignore"):
        wanted = FORMULAS[name](*arrays, **attributes)  # type: ignore[operator]
    np.testing.assert_array_equal(run(name, *arrays, **attributes), wanted)


def int8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape, np.int8)


@pytest.mark.parametrize("k", [3, 1032, 1033, 5000])
def test_products_are_exact_at_the_largest_magnitudes(k: int) -> None:
    a, b = np.full((2, k), -128, np.int8), np.full((k, 3), -127, np.int8)
    a[0, 0] = -127  # an odd sum, which a float32 beyond 2**24 would round
    sums = run(
        "dot_general", a, b, lhs_batch=(), rhs_batch=(), lhs_contracting=(1,), rhs_contracting=(0,),
        number="int32",
    )  # fmt: skip
    assert sums.tolist() == [[(128 * k - 1) * 127] * 3, [128 * k * 127] * 3]


def test_add_rounds_half_up_and_broadcasts() -> None:
    a, b = np.array([[1, -1], [127, -128]], np.int8), np.array([0, 1], np.int8)
    # (1 + 0 + 1) >> 1, (-1 + 2 + 1) >> 1, (127 + 0 + 1) >> 1, (-128 + 2 + 1) >> 1 limited to -5
    total = run("add_scaled", a, b, first=1, second=2, shift=1, low=-5, high=100)
    assert total.tolist() == [[1, 1], [64, -5]]


def test_sums_of_windows() -> None:
    x = np.arange(-8, 8, dtype=np.int8).reshape(1, 1, 4, 4)
    sums = run("sum_pool", x, window=(2, 2), strides=(2, 2), padding=(0, 0))
    assert sums.tolist() == [[[[-22, -14], [10, 18]]]]


def test_softmax_is_one_within_a_step() -> None:
    rng = np.random.default_rng(1)
    x, scale = int8(rng, 40, 64), 0.05
    powers = np.rint(2.0**14 * np.exp(-scale * np.arange(256))).astype(np.int32)
    real = np.exp(x * scale) / np.exp(x * scale).sum(-1, keepdims=True)
    assert np.abs(run("softmax_int8", x, powers, numerator=127 << 23, shift=23) - real * 127).max() < 0.6


@pytest.mark.parametrize("spread", [0, 1, 5, 127])
def test_layer_norm_within_a_step(spread: int) -> None:
    rng = np.random.default_rng(spread)
    x = rng.integers(-spread, spread + 1, (50, 128)).astype(np.int8)
    shift, step = 20, 0.03
    gain, offset = rng.uniform(0.5, 2, 128), rng.uniform(-1, 1, 128)
    vectors = (gain / step * 2 ** (shift - 10), offset / step * 2**shift + (1 << (shift - 1)))
    given_ = [np.rint(vector).astype(np.int32) for vector in vectors]
    deviation = x.std(-1, keepdims=True)
    normal = np.where(deviation > 0, (x - x.mean(-1, keepdims=True)) / np.maximum(deviation, 1e-9), 0)
    want = np.clip((normal * gain + offset) / step, -128, 127)
    result = run("layer_norm_int8", x, *given_, epsilon=repr(2.0**-13), shift=shift)
    assert np.abs(result - want).max() < 0.6
