"""Operations beside PyTorch's, which share no code with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.cases import array_of

from axiloom.graph import Type
from axiloom.graph.ops import OPS

torch = pytest.importorskip("torch")
F = torch.nn.functional


def run(name: str, *arrays: Any, **attributes: Any) -> Any:
    """An operation on arrays whose host type is their number."""
    types = [Type(one.shape, str(one.dtype)) for one in arrays]
    return OPS[name].evaluate(arrays, types, attributes)


def floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape).astype(np.float32)


def near(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted.numpy(), rtol=2e-5, atol=2e-6)


UNARY: dict[str, Callable[[Any], Any]] = {
    "exponential": torch.exp, "tanh": torch.tanh, "logistic": torch.sigmoid, "erf": torch.erf, "relu": F.relu,
    "gelu": F.gelu, "floor": torch.floor, "ceil": torch.ceil, "negate": torch.neg, "abs": torch.abs,
    "sign": torch.sign,
}  # fmt: skip
POSITIVE: dict[str, Callable[[Any], Any]] = {"log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt}


@pytest.mark.parametrize("name", sorted(UNARY))
def test_unary(name: str) -> None:
    x = floats(np.random.default_rng(0), 1000)
    near(run(name, x), UNARY[name](torch.tensor(x)))


@pytest.mark.parametrize("name", sorted(POSITIVE))
def test_positive(name: str) -> None:
    x = np.abs(floats(np.random.default_rng(0), 1000))
    near(run(name, x), POSITIVE[name](torch.tensor(x)))


@settings(max_examples=40)
@given(data=st.data())
def test_convolution(data: st.DataObject) -> None:
    def draw(low: int, high: int) -> int:
        return int(data.draw(st.integers(low, high)))

    groups, taken, made = draw(1, 3), draw(1, 3), draw(1, 3)
    stride, dilation, padding = ((draw(1, 2), draw(1, 3)) for _ in range(3))
    rng = np.random.default_rng(draw(0, 1000))
    x, w = floats(rng, 2, taken * groups, 9, 8), floats(rng, made * groups, taken, draw(1, 3), draw(1, 2))
    wanted = F.conv2d(
        torch.tensor(x), torch.tensor(w), stride=stride, padding=padding, dilation=dilation, groups=groups
    )
    given_ = {
        "strides": stride, "padding": (padding[0], padding[0], padding[1], padding[1]),
        "lhs_dilation": (1, 1), "rhs_dilation": dilation, "feature_group_count": groups, "number": "float32",
    }  # fmt: skip
    near(run("convolution", x, w, dims="bf01_oi01->bf01", **given_), wanted)
    image, kernel = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)
    near(run("convolution", image, kernel, dims="b01f_01io->b01f", **given_), wanted.permute(0, 2, 3, 1))


def test_transposed_convolution() -> None:
    """A dilated image with a kernel turned round is torch's transposed convolution."""
    rng = np.random.default_rng(0)
    x, w = floats(rng, 1, 2, 4, 4), floats(rng, 2, 3, 3, 3)
    wanted = F.conv_transpose2d(torch.tensor(x), torch.tensor(w), stride=2)
    kernel = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    found = run(
        "convolution", x, kernel, dims="bf01_oi01->bf01", strides=(1, 1), padding=(2, 2, 2, 2),
        lhs_dilation=(2, 2), rhs_dilation=(1, 1), feature_group_count=1, number="float32",
    )  # fmt: skip
    near(found, wanted)


def test_products_of_integers_wrap() -> None:
    rng = np.random.default_rng(0)
    a, b = (array_of(Type(shape, "int32"), rng) for shape in ((5, 300), (300, 7)))
    lists = {"lhs_batch": (), "rhs_batch": (), "lhs_contracting": (1,), "rhs_contracting": (0,)}
    wanted = torch.tensor(a) @ torch.tensor(b)
    np.testing.assert_array_equal(run("dot_general", a, b, **lists, number="int32"), wanted.numpy())
    small, other = a.astype(np.int8), b.astype(np.int8)
    wanted = torch.tensor(small).int() @ torch.tensor(other).int()
    np.testing.assert_array_equal(run("dot_general", small, other, **lists, number="int32"), wanted.numpy())


def test_batches() -> None:
    rng = np.random.default_rng(0)
    a, b = floats(rng, 4, 2, 5), floats(rng, 5, 3, 4)
    found = run(
        "dot_general", a, b, lhs_batch=(0,), rhs_batch=(2,), lhs_contracting=(2,), rhs_contracting=(0,),
        number="float32",
    )  # fmt: skip
    near(found, torch.einsum("bmk,knb->bmn", torch.tensor(a), torch.tensor(b)))


@pytest.mark.parametrize(("kind", "pool"), [("max", F.max_pool2d), ("add", F.avg_pool2d)])
def test_pooling(kind: str, pool: Callable[..., Any]) -> None:
    x = floats(np.random.default_rng(0), 2, 3, 9, 8)
    found = run(
        "reduce_window", x, kind=kind, window=(1, 1, 3, 2), strides=(1, 1, 2, 1),
        padding=(0, 0, 0, 0, 1, 1, 1, 1), dilation=(1,) * 4,
    )  # fmt: skip
    wanted = pool(torch.tensor(x), (3, 2), stride=(2, 1), padding=(1, 1))
    near(found, wanted * 6 if kind == "add" else wanted)


def test_normalisations() -> None:
    rng = np.random.default_rng(0)
    x, scale, shift = floats(rng, 3, 4, 8), floats(rng, 8), floats(rng, 8)
    for dimension in range(3):
        near(run("softmax", x, dimension=dimension), torch.softmax(torch.tensor(x), dimension))
    wanted = F.layer_norm(torch.tensor(x), (8,), torch.tensor(scale), torch.tensor(shift), 1e-5)
    near(run("layer_norm", x, scale, shift, epsilon="1e-05"), wanted)


def test_dense() -> None:
    rng = np.random.default_rng(0)
    x, w, b = floats(rng, 3, 4, 8), floats(rng, 5, 8), floats(rng, 5)
    wanted = F.linear(torch.tensor(x), torch.tensor(w), torch.tensor(b))
    near(run("bias_add", run("dense", x, w, number="float32"), b, dimension=2), wanted)


def test_lstm() -> None:
    torch.manual_seed(0)
    layer = torch.nn.LSTM(3, 4)
    xs, h, c = torch.randn(5, 2, 3), torch.randn(1, 2, 4), torch.randn(1, 2, 4)
    with torch.no_grad():
        wanted, (_, last) = layer(xs, (h, c))
        bias = layer.bias_ih_l0 + layer.bias_hh_l0
        weights = [one.numpy() for one in (layer.weight_ih_l0, layer.weight_hh_l0, bias)]
    operands = (xs.numpy(), h[0].numpy(), c[0].numpy(), *weights)
    near(run("lstm", *operands), wanted)
    near(run("lstm_cells", *operands)[-1], last[0])


def test_take() -> None:
    table, rows = floats(np.random.default_rng(0), 7, 3), np.array([[0, 6], [3, 3]])
    near(run("take", table, rows), F.embedding(torch.tensor(rows), torch.tensor(table)))
    np.testing.assert_array_equal(run("take", table, np.array([-5, 99])), table[[0, 6]])
