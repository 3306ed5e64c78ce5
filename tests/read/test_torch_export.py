"""Exported programs compute what the modules compute; what is not read is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from axiloom.graph import Graph
from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import number
from axiloom.read import ReadError, read

torch = pytest.importorskip("torch")
from axiloom.read.pytorch.exported import raw_of, read_program  # noqa: E402

nn, F = torch.nn, torch.nn.functional


class Call(nn.Module):  # type: ignore[misc]
    """A module of a function, and of layers that it uses."""

    def __init__(self, function: Callable[..., Any], *layers: Any) -> None:
        super().__init__()
        self.function, self.layers = function, nn.ModuleList(layers)

    def forward(self, *given: Any) -> Any:
        return self.function(*self.layers, *given)


def exported(function: Callable[..., Any], layers: list[Any], *given: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    module = Call(function, *layers).eval()
    for buffer in module.buffers():
        if buffer.dtype == torch.float32:
            buffer.copy_(torch.rand_like(buffer) + 0.5)  # statistics of norms
    with torch.no_grad():
        return module, torch.export.export(module, given)


def near(graph: Graph, given: tuple[Any, ...], wanted: Any) -> None:
    inputs = {str(one.attributes["name"]): raw_of(x) for one, x in zip(graph.parameters, given, strict=True)}
    results = wanted if isinstance(wanted, tuple) else (wanted,)
    for found, right, node in zip(evaluate(graph, inputs), results, graph.results, strict=True):
        of = number(node.type.number)
        values, error = of.decode(found), 0.02 if of.name == "bfloat16" else 2e-5
        np.testing.assert_allclose(
            values, right.to(torch.float32) if of.bits == 16 else right, rtol=error, atol=error
        )


def x(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def rows(*shape: int) -> Any:
    return torch.randint(0, 10, shape, generator=torch.Generator().manual_seed(1))


def _lstm(layer: Any, xs: Any) -> Any:
    out, (h, c) = layer(xs)
    return out, h, c


def _attention(layer: Any, a: Any) -> Any:
    return layer(a, a, a, need_weights=False)[0]


CASES: dict[str, tuple[Callable[..., Any], list[Callable[[], Any]], tuple[Any, ...]]] = {
    "conv2d": (lambda of, a: of(a), [lambda: nn.Conv2d(4, 8, 3, 2, 1, groups=2)], (x(2, 4, 9, 8),)),
    "conv1d": (lambda of, a: of(a), [lambda: nn.Conv1d(4, 4, 1)], (x(2, 4, 7),)),
    "conv_same": (lambda of, a: of(a), [lambda: nn.Conv2d(3, 5, (2, 3), padding="same")], (x(1, 3, 6, 5),)),
    "batch_norm": (lambda of, a: of(a), [lambda: nn.BatchNorm2d(4)], (x(2, 4, 3, 3),)),
    "linear": (lambda of, a: of(a), [lambda: nn.Linear(8, 3)], (x(2, 5, 8),)),
    "linear_without_bias": (lambda of, a: of(a), [lambda: nn.Linear(8, 3, bias=False)], (x(2, 8),)),
    "layer_norm": (lambda of, a: of(a), [lambda: nn.LayerNorm((3, 8))], (x(2, 3, 8),)),
    "norm_without_weights": (lambda a: F.layer_norm(a, (8,)), [], (x(2, 8),)),
    "lstm": (_lstm, [lambda: nn.LSTM(4, 6, num_layers=2)], (x(5, 2, 4),)),
    "lstm_batch_first": (_lstm, [lambda: nn.LSTM(4, 6, bias=False, batch_first=True)], (x(2, 5, 4),)),
    "attention": (_attention, [lambda: nn.MultiheadAttention(8, 2)], (x(5, 2, 8),)),
    "causal": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), [], (x(2, 2, 5, 4),)),
    "masked": (
        lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m),
        [],
        (x(2, 5, 4), x(5, 5) > -1),
    ),
    "encoder": (lambda of, a: of(a), [lambda: nn.TransformerEncoderLayer(8, 2, 16)], (x(5, 2, 8),)),
    "embedding": (lambda of, t: of(t), [lambda: nn.Embedding(10, 4)], (rows(2, 3),)),
    "pools": (
        lambda a: (F.max_pool2d(a, 3, 2, 1), F.avg_pool2d(a, 2), F.adaptive_avg_pool2d(a, 1)),
        [],
        (x(1, 2, 8, 8),),
    ),
    "adaptive": (lambda a: F.adaptive_avg_pool2d(a, (2, 4)), [], (x(1, 2, 8, 8),)),
    "activations": (
        lambda a: (
            F.relu6(a),
            F.silu(a),
            F.gelu(a),
            F.gelu(a, approximate="tanh"),
            F.hardswish(a),
            F.hardsigmoid(a),
            torch.sigmoid(a),
            torch.tanh(a),
            a.clamp(min=0.5),
            a.clamp(-1, 1),
        ),
        [],
        (3 * x(4, 5),),
    ),
    "softmax": (lambda a: (a.softmax(0), F.log_softmax(a, -1)), [], (x(3, 4),)),
    "products": (
        lambda a, b: (
            a @ b,
            torch.matmul(a[0], b),
            torch.matmul(a, b[0, :, 0]),
            torch.addmm(a[0, :, :1], a[0], b[0]),
        ),
        [],
        (x(3, 4, 5), x(3, 5, 4)),
    ),
    "folds": (
        lambda a: (a.mean(1), a.mean((0, 2), keepdim=True), a.sum(), a.amax(1), a.amin((0, 1)), a.mean()),
        [],
        (x(2, 3, 4),),
    ),
    "moves": (
        lambda a: (
            a.transpose(0, -1),
            a.permute(2, 0, 1).reshape(4, -1),
            a[:, 1:, ::2],
            a[..., -1],
            a.unsqueeze(1),
            torch.cat([a, a], -1),
            torch.stack([a, a], 1),
            *a.chunk(2, -1),
            *a.unbind(1),
            a.flip(0),
            F.pad(a, (1, 2, 0, 1), value=3.0),
            a.expand(2, 3, 4),
            a.flatten(1),
            a[:, :, None].squeeze(2),
        ),
        [],
        (x(2, 3, 4),),
    ),
    "arithmetic": (
        lambda a, b: (
            a + 2 * b,
            a - 1,
            2 - a,
            a / b,
            a * 0.5,
            a**2,
            -a,
            (b.abs() + 1).sqrt(),
            (b.abs() + 1).rsqrt(),
            torch.maximum(a, b),
            torch.where(a > b, a, 0.0),
            a.exp(),
            torch.add(a, b, alpha=3),
            1 / (b.abs() + 1),
        ),
        [],
        (x(2, 3), x(3)),
    ),
    "numbers": (
        lambda a, t: (
            t + 1,
            t * 0.5,
            t / 2,
            t.float() * a,
            a > 0,
            (a > 0) & (t > 3),
            t == 4,
            a.to(torch.int32),
        ),
        [],
        (3 * x(2, 3), rows(2, 3)),
    ),
    "constants": (
        lambda a: (
            a + torch.ones(3),
            torch.zeros_like(a),
            torch.full((2,), 7.0),
            torch.arange(4) * 2,
            torch.arange(1, 9, 3),
        ),
        [],
        (x(2, 3),),
    ),
    "bfloat16": (lambda a, b: (a @ b + 1).softmax(-1), [], (x(4, 8).bfloat16(), x(8, 4).bfloat16())),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("lowered", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["aten", "core"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name: str, lowered: bool) -> None:
    function, layers, given = CASES[name]
    torch.manual_seed(0)
    module, program = exported(function, [make() for make in layers], *given)
    program = program.run_decompositions() if lowered else program
    with torch.no_grad():
        wanted = module(*given)
    near(read_program(program, name), given, wanted)


def test_layers_are_operations() -> None:
    """What torch has as one operation stays one: matching need not find it again."""
    layers = [nn.Linear(4, 8), nn.LayerNorm(8), nn.LSTM(8, 8)]

    def function(linear: Any, norm: Any, lstm: Any, a: Any) -> Any:
        return F.gelu(lstm(norm(linear(a)))[0]).softmax(-1)

    _, program = exported(function, layers, x(3, 2, 4))
    ops = [one.op for one in read_program(program, "layers").nodes() if one.operands]
    assert ops == ["dense", "bias_add", "layer_norm", "lstm", "gelu", "softmax"]


def test_operations_in_place() -> None:
    """What is changed in place is changed for all who read it later, views too."""

    def function(a: Any) -> Any:
        b = a * 2
        first = b[0]
        b.relu_()
        b += 1
        return b, first

    module, program = exported(function, [], x(3, 4))
    near(read_program(program, "t"), (x(3, 4),), module(x(3, 4)))


def test_file(tmp_path: Path) -> None:
    module, program = exported(lambda linear, a: linear(a), [nn.Linear(4, 3)], x(2, 4))
    torch.export.save(program, tmp_path / "net.pt2")
    graph = read(tmp_path / "net.pt2")
    assert graph.name == "net"
    near(graph, (x(2, 4),), module(x(2, 4)).detach())


def test_refused(tmp_path: Path) -> None:
    _, program = exported(lambda a: torch.fft.fft(a).real, [], x(4))
    with pytest.raises(ReadError, match=r"t: fft.*aten::fft_fft is not read; known are"):
        read_program(program, "t")
    _, program = exported(lambda a: F.max_pool2d(a, 2, ceil_mode=True), [], x(1, 1, 5, 5))
    with pytest.raises(ReadError, match="ceil_mode=True is not supported; only False is"):
        read_program(program, "t")
    layer = nn.LSTM(4, 4, bidirectional=True)
    _, program = exported(_lstm, [layer], x(3, 2, 4))
    with pytest.raises(ReadError, match="bidirectional=True is not supported"):
        read_program(program, "t")
    size = torch.export.Dim("n", min=2, max=9)
    program = torch.export.export(Call(lambda a: a + 1), (x(4, 2),), dynamic_shapes={"given": ({0: size},)})
    with pytest.raises(ReadError, match="export without dynamic shapes"):
        read_program(program, "t")
    (tmp_path / "bad.pt2").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(ReadError, match=r"bad.pt2: torch.export cannot load it"):
        read(tmp_path / "bad.pt2")
