"""From torch modules to graphs of integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from axiloom.base.errors import CompileError, UsageError  # noqa: E402
from axiloom.quantise import report  # noqa: E402
from axiloom.quantise.network import Quantised, quantise  # noqa: E402
from axiloom.read.models import network as load  # noqa: E402


class Function(nn.Module):
    def __init__(self, function: object) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: object) -> object:
        return self.function(*inputs)  # type: ignore[operator]


def quantised(network: nn.Module, *shapes: tuple[int, ...]) -> Quantised:
    torch.manual_seed(0)
    return quantise(network.eval(), tuple(torch.randn(shape) for shape in shapes), "8-random", name="net")


def kinds(made: Quantised) -> list[str]:
    return [node.op for node in made.values]


def error(made: Quantised) -> float:
    """SQNR of the result in dB."""
    return report.rows(made)[-1].sqnr


@pytest.mark.slow
def test_batch_norm_and_relu_go_into_the_convolution() -> None:
    torch.manual_seed(3)
    norm = nn.BatchNorm2d(6)
    norm.running_mean, norm.running_var = torch.randn(6), torch.rand(6) + 0.5
    norm.weight.data, norm.bias.data = torch.rand(6) + 0.5, torch.randn(6)
    made = quantised(nn.Sequential(nn.Conv2d(3, 6, 3), norm, nn.ReLU(), nn.MaxPool2d(2)), (1, 3, 8, 8))
    assert kinds(made) == ["parameter", "convolution", "requantise", "reduce_window"]
    assert made.values[2].attributes["low"] == 0
    assert error(made) > 30


def test_a_value_that_is_read_twice_is_not_fused_away() -> None:
    linear = nn.Linear(8, 8)

    def both(x: object) -> object:
        y = linear(x)
        return functional.relu(y) + y

    made = quantised(Function(both), (4, 8))
    assert kinds(made) == ["parameter", "dot_general", "requantise", "lookup"]  # of what relu(y) + y is of y
    assert error(made) > 30


def test_results_are_sums_of_one_scale() -> None:
    made = quantised(nn.Linear(32, 10), (4, 32))
    (node,) = made.graph.results
    assert (node.op, node.type.number) == ("bias_add", "int32")
    (output,) = made.real(made.samples[0])
    with torch.no_grad():
        want = made.module(*made.samples[0]).numpy()
    np.testing.assert_allclose(output, want, atol=0.05)


def test_sums_that_are_shifted_alone() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(32, 24), nn.ReLU(), nn.Linear(24, 16), nn.Tanh())
    made = quantise(network.eval(), (torch.randn(4, 32),), "8-random", name="net", shifts=True)
    assert kinds(made) == ["parameter", *["dot_general", "requantise_shift"] * 2, "lookup"]
    first = made.values[2].attributes
    assert (first["low"], first["high"]) == (0, 127)
    assert first["shift"] in range(1, 16)
    assert error(made) > 25


def test_known_factors_are_in_the_scale() -> None:
    made = quantised(Function(lambda x: x * 3 / 4), (4, 8))
    assert kinds(made) == ["parameter", "reshape", "reshape"]
    scales = [made.scale(node) or 0 for node in made.values]
    assert scales[2] == pytest.approx(scales[0] * 0.75)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.silu(x),
        lambda x: functional.gelu(x, approximate="tanh"),
        lambda x: torch.clamp(x, -0.5, 1.0),
        lambda x: functional.hardtanh(x),
        lambda x: torch.cat([x[:, 1:4], torch.tanh(x)], -1)[..., ::2],
        lambda x: x.permute(1, 0).contiguous()[2],
        lambda x: functional.scaled_dot_product_attention(x[None], x[None] * 2, torch.sigmoid(x)[None]),
        lambda x: x + 1.5,
        lambda x: torch.sin(x) / -2,
        lambda x: x * x / 2 - torch.where(x > 0, x, 0.1 * x),  # one table, for all of it is of x
        lambda x: torch.softmax(x, 0),
        lambda x: functional.pad(x, (1, 2, 0, 1), value=0.5),
        lambda x: functional.pad(x[None], (3, 1), mode="reflect"),
        lambda x: x.flip(1).mean(0) + x.amax(0),
        lambda x: x - torch.amin(x, (0, 1), keepdim=True) + x.amin(1, keepdim=True),
        lambda x: x.sum(1, keepdim=True).expand(5, 16) - x,
        lambda x: functional.interpolate(x[None], scale_factor=2) * 3,
        lambda x: functional.max_pool1d(x[None], 3, 2, 1, ceil_mode=True),
        lambda x: functional.avg_pool1d(x[None], 4) + functional.adaptive_avg_pool1d(x[None], 4),
        lambda x: functional.prelu(x[None], torch.linspace(-1, 1, 5)),
        lambda x: torch.cat([torch.ones(1, 1, 16), x[None]], 1),  # a class token
        lambda x: functional.layer_norm(x, (5, 16)),
        lambda x: functional.batch_norm(torch.relu(x), torch.zeros(16), torch.ones(16), -torch.ones(16)),
    ],
)
def test_functions(function: object) -> None:
    assert error(quantised(Function(function), (5, 16))) > 25


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: torch.cumsum(x, 0), r"cumsum\.default: cannot be quantised"),
        (lambda x: x / torch.exp(x[:1]), r"only quotients by numbers that are known"),
        (lambda x: torch.log(x - 9), r"not finite real numbers"),
    ],
)
def test_what_has_no_integer_form_is_named_with_its_line(function: object, why: str) -> None:
    with pytest.raises(CompileError, match=rf"^test_lower\.py:\d+: aten\..*{why}"):
        quantised(Function(function), (5, 16))


def test_calibration_that_does_not_fit(tmp_path: Path) -> None:
    def fails(calibration: str, why: str) -> None:
        with pytest.raises(UsageError, match=why):
            quantise(nn.Linear(4, 2).eval(), (torch.zeros(1, 4),), calibration, name="net")

    np.savez(tmp_path / "wide.npz", x=np.zeros((8, 1, 5), np.float32))
    np.savez(tmp_path / "two.npz", x=np.zeros((8, 1, 4), np.float32), y=np.zeros(8))
    (tmp_path / "data.py").write_text("def samples():\n    return [1]\n")
    fails("16", "expected is FILE.npz that exists")
    fails(str(tmp_path / "no.npz"), "expected is FILE.npz that exists")
    fails(str(tmp_path / "wide.npz"), r"is \[8, 1, 5\]; expected is \[samples, 1, 4\]")
    fails(str(tmp_path / "two.npz"), "2 arrays for 1 inputs")
    fails(f"{tmp_path / 'data.py'}:samples", "must return a list of tuples")
    fails(f"{tmp_path / 'data.py'}:nothing", "no such function; there are samples")


def test_calibration_from_a_file_is_used(tmp_path: Path) -> None:
    data = np.random.default_rng(0).normal(0, 5, (8, 1, 4)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=data)
    made = quantise(nn.Linear(4, 2).eval(), (torch.zeros(1, 4),), str(tmp_path / "data.npz"), name="net")
    assert made.scale(made.values[0]) == pytest.approx(np.abs(data).max() / 127)


@pytest.mark.slow
def test_pytorch_and_onnx_give_the_same_graph(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    from tests.quantise.nets import transformer

    network, examples = transformer()
    torch.onnx.export(network, examples, tmp_path / "net.onnx", external_data=False, verbose=False)
    samples = [(torch.randint(0, 40, (2, 6)),) for _ in range(8)]
    one, other = (
        quantise(*made, samples, name="net")
        for made in ((network, examples), load(str(tmp_path / "net.onnx")))
    )
    for sample in samples:
        outputs = [next(iter(made.run(made.inputs(sample)).values())) for made in (one, other)]
        np.testing.assert_array_equal(*outputs)
