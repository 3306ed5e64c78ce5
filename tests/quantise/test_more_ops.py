"""Recurrent, grouped, one-dimensional and transposed layers, gates: graph, MLIR and float network agree."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from axiloom.base.errors import CompileError  # noqa: E402
from axiloom.drivergen.dialects.mlir import only_function, parse  # noqa: E402
from axiloom.drivergen.evaluate.reference import evaluate  # noqa: E402
from axiloom.quantise import report  # noqa: E402
from axiloom.quantise.network import Quantised, quantise  # noqa: E402


class Function(nn.Module):
    """`function` of the parts and the input."""

    def __init__(self, function: object, *parts: nn.Module) -> None:
        super().__init__()
        self.parts, self.function = nn.ModuleList(parts), function

    def forward(self, x: object) -> object:
        return self.function(self.parts, x)  # type: ignore[operator]


def last_state(parts: object, x: object) -> object:
    states, _ = parts[0](x)  # type: ignore[index]
    return parts[1](states[:, -1])  # type: ignore[index]


def quantised(network: nn.Module, shape: tuple[int, ...]) -> Quantised:
    torch.manual_seed(0)
    return quantise(network.eval(), (torch.randn(shape),), "4-random", name="net")


def networks() -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    torch.manual_seed(1)
    one = nn.Sequential(nn.Conv1d(4, 8, 3, padding=1, stride=2), nn.ReLU(), nn.Conv1d(8, 4, 3))
    groups = nn.Sequential(
        nn.Conv2d(8, 16, 3, padding=1, groups=2), nn.Hardswish(), nn.Conv2d(16, 8, 3, groups=4)
    )
    decoder = nn.Sequential(
        nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1),
        nn.Hardsigmoid(),
        nn.ConvTranspose2d(4, 2, 4, 2, 1),
    )
    gate = Function(lambda f, x: torch.sigmoid(f[0](x)) * torch.tanh(f[1](x)) - x, *(nn.Linear(8, 8),) * 2)
    causal = Function(
        lambda f, x: functional.scaled_dot_product_attention(f[0](x), f[1](x), f[2](x), is_causal=True),
        *(nn.Linear(16, 16) for _ in range(3)),
    )
    return {
        "causal": (causal, (2, 6, 16)),
        "conv1d": (one, (1, 4, 16)),
        "groups": (groups, (1, 8, 6, 6)),
        "transposed": (decoder, (1, 8, 3, 3)),
        "gate": (gate, (4, 8)),
        "lstm": (Function(last_state, nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 5)), (1, 3, 8)),
        "gru": (Function(last_state, nn.GRU(8, 8, batch_first=True), nn.Linear(8, 5)), (1, 3, 8)),
    }


@pytest.mark.parametrize("name", ["causal", "conv1d", "groups", "transposed", "gate", "lstm", "gru"])
def test_graph_mlir_and_float_agree(name: str) -> None:
    made = quantised(*networks()[name])
    inputs = made.inputs(made.samples[0])
    (want,) = made.run(inputs).values()
    model = made.model()
    function = only_function(parse(model.mlir, model.name), model.name)
    (got,) = evaluate(function, [*inputs.values(), *model.weights.values()])
    np.testing.assert_array_equal(got, want)
    assert report.rows(made)[-1].sqnr > 25


def test_every_layer_that_cannot_be_is_named_with_its_line() -> None:
    network = Function(
        lambda f, x: torch.sort(torch.cumsum(f[0](x), 1) * 2)[0] + torch.cumprod(x, 1), nn.Linear(8, 8)
    )
    with pytest.raises(CompileError) as caught:
        quantised(network, (2, 8))
    lines = str(caught.value).splitlines()  # those behind one too, and nothing of the sum that reads both
    assert all("test_more_ops.py" in line for line in lines)
    ops = ("cumsum.default", "sort.default", "cumprod.default")
    assert [f"aten.{op}: cannot be quantised" in line for op, line in zip(ops, lines, strict=True)] == [
        True
    ] * 3


def test_what_a_transposed_convolution_cannot() -> None:
    with pytest.raises(CompileError, match="in groups or with dilation"):
        quantised(nn.ConvTranspose2d(4, 4, 3, groups=2), (1, 4, 4, 4))
    with pytest.raises(CompileError, match="more than its window"):
        quantised(nn.ConvTranspose2d(2, 2, 3, padding=3), (1, 2, 8, 8))


def test_a_bias_of_weights_that_are_nearly_zero() -> None:
    """Such channels are in networks that were pruned: the bias is all that is left of them."""
    layer = nn.Conv2d(2, 3, 3)
    with torch.no_grad():
        layer.weight[1] *= 1e-12
        assert layer.bias is not None
        layer.bias[1] = 3.0
    made = quantised(layer, (1, 2, 5, 5))
    (y,) = made.real(made.samples[0])
    np.testing.assert_allclose(y[:, 1], 3.0, rtol=0.02)


def test_what_is_masked_is_not_seen() -> None:
    made = quantised(*networks()["causal"])
    inputs = made.inputs(made.samples[0])
    (name,) = inputs
    later = {name: inputs[name].copy()}
    later[name][:, 4:] = 127 - later[name][:, 4:]
    (before,), (after,) = (made.run(values).values() for values in (inputs, later))
    np.testing.assert_array_equal(before[:, :4], after[:, :4])
    assert (before[:, 4:] != after[:, 4:]).any()
