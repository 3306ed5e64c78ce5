"""Nodes of the integer graph against formulas written another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axiloom.base.errors import UsageError
from axiloom.isa.kernels.requantise import requantise as device
from axiloom.quantise import Graph, execute
from axiloom.quantise.graph.execute import exact_matmul, run
from axiloom.quantise.graph.graph import (
    Add,
    Conv,
    Input,
    LayerNorm,
    MaxPool,
    Requantise,
    Softmax,
    SumPool,
)

Array = np.ndarray[Any, Any]


def int8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape, np.int8)


@pytest.mark.parametrize("k", [3, 1032, 1033, 5000])
def test_products_are_exact_at_the_largest_magnitudes(k: int) -> None:
    a, b = np.full((2, k), -128, np.int8), np.full((k, 3), -127, np.int8)
    a[0, 0] = -127  # an odd sum, which a float32 beyond 2**24 would round
    assert exact_matmul(a, b).tolist() == [[(128 * k - 1) * 127] * 3, [128 * k * 127] * 3]


@settings(max_examples=30)
@given(st.data())
def test_convolution(data: st.DataObject) -> None:
    draw = data.draw
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    b, ic, oc, fh, fw = (draw(st.integers(1, 3)) for _ in range(5))
    stride, dilation = ((draw(st.integers(1, 3)), draw(st.integers(1, 3))) for _ in range(2))
    padding = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    depthwise = draw(st.booleans())
    h, w = (draw(st.integers(7, 9)) for _ in range(2))
    x = int8(rng, b, ic, h, w)
    weight = int8(rng, ic, 1, fh, fw) if depthwise else int8(rng, oc, ic, fh, fw)
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    node = Conv(name="y", shape=(), dtype="int32", weight=weight, groups=ic if depthwise else 1, **options)  # type: ignore[arg-type]
    got = run(node, [x])
    wide = np.pad(x.astype(int), ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    want = np.zeros_like(got)
    for i in range(fh):
        for j in range(fw):
            rows = slice(i * dilation[0], i * dilation[0] + (got.shape[2] - 1) * stride[0] + 1, stride[0])
            columns = slice(j * dilation[1], j * dilation[1] + (got.shape[3] - 1) * stride[1] + 1, stride[1])
            seen = wide[:, :, rows, columns]
            if depthwise:
                want += seen * weight[:, 0, i, j].reshape(1, -1, 1, 1).astype(int)
            else:
                want += np.einsum("bcyx,oc->boyx", seen, weight[:, :, i, j].astype(int))
    np.testing.assert_array_equal(got, want)


@given(st.integers(0, 200), st.integers(-128, 0), st.integers(1, 127))
def test_requantise_is_the_accelerators(seed: int, lo: int, hi: int) -> None:
    rng = np.random.default_rng(seed)
    sums = rng.integers(-(1 << 31), 1 << 31, (4, 5), np.int64).astype(np.int32)
    bias = rng.integers(-(1 << 31), 1 << 31, 5, np.int64).astype(np.int32)
    factor, shift = rng.integers(0, 1 << 16, 5).astype(np.int32), rng.integers(0, 48, 5).astype(np.int32)
    node = Requantise(name="y", shape=(4, 5), axis=1, bias=bias, multiplier=factor, shift=shift, lo=lo, hi=hi)
    words = np.stack([bias.view(np.uint32), (factor | shift << 16).view(np.uint32)], 1)
    want = device(sums.view(np.uint32), words, {"zp": 0, "lo": lo, "hi": hi}, 1)
    np.testing.assert_array_equal(run(node, [sums]), np.asarray(want).astype(np.int8))


def test_add_rounds_half_up_and_broadcasts() -> None:
    node = Add(name="y", shape=(2, 2), first=1, second=2, shift=1, lo=-5, hi=100)
    a, b = np.array([[1, -1], [127, -128]], np.int8), np.array([0, 1], np.int8)
    # (1 + 0 + 1) >> 1, (-1 + 2 + 1) >> 1, (127 + 0 + 1) >> 1, (-128 + 2 + 1) >> 1 limited to -5
    assert run(node, [a, b]).tolist() == [[1, 1], [64, -5]]


def test_pools() -> None:
    x = np.arange(-8, 8, dtype=np.int8).reshape(1, 1, 4, 4)
    largest = MaxPool(name="y", shape=(1, 1, 2, 2), kernel=(3, 3), stride=(2, 2), padding=(1, 1))
    assert run(largest, [x]).tolist() == [[[[-3, -1], [5, 7]]]]
    sums = SumPool(name="y", shape=(1, 1, 2, 2), kernel=(2, 2), stride=(2, 2))
    assert run(sums, [x]).tolist() == [[[[-22, -14], [10, 18]]]]


def test_softmax_is_one_within_a_step() -> None:
    rng = np.random.default_rng(1)
    x, scale = int8(rng, 40, 64), 0.05
    powers = np.rint(2.0**14 * np.exp(-scale * np.arange(256))).astype(np.int32)
    node = Softmax(name="y", shape=x.shape, table=powers, numerator=127 << 23, shift=23)
    real = np.exp(x * scale) / np.exp(x * scale).sum(-1, keepdims=True)
    assert np.abs(run(node, [x]) - real * 127).max() < 0.6


@pytest.mark.parametrize("spread", [0, 1, 5, 127])
def test_layer_norm_within_a_step(spread: int) -> None:
    rng = np.random.default_rng(spread)
    x = rng.integers(-spread, spread + 1, (50, 128)).astype(np.int8)
    shift, step = 20, 0.03
    gain, offset = rng.uniform(0.5, 2, 128), rng.uniform(-1, 1, 128)
    node = LayerNorm(
        name="y",
        shape=x.shape,
        epsilon=2.0**-13,
        gain=np.rint(gain / step * 2 ** (shift - 10)).astype(np.int32),
        offset=(np.rint(offset / step * 2**shift) + (1 << (shift - 1))).astype(np.int32),
        shift=shift,
    )
    deviation = x.std(-1, keepdims=True)
    normal = np.where(deviation > 0, (x - x.mean(-1, keepdims=True)) / np.maximum(deviation, 1e-9), 0)
    want = np.clip((normal * gain + offset) / step, -128, 127)
    assert np.abs(run(node, [x]) - want).max() < 0.6


def test_inputs_are_checked() -> None:
    graph = Graph("net", [Input(name="x", shape=(2,), scale=1.0)], ["x"])
    with pytest.raises(UsageError, match=r"no input `x`; there are y"):
        execute(graph, {"y": np.zeros(2, np.int8)})
    with pytest.raises(UsageError, match=r"input `x` is int64\[3\], not int8\[2\]"):
        execute(graph, {"x": np.zeros(3, np.int64)})
