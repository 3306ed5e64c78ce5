"""Kinds of networks, small: quantised, run on the SoC with conv_v4 and v4_16, and held against float32.

A line for each: its ops, whether every result on the SoC equals the integer graph's in every bit, how far it
is from the float network (SQNR in dB, over random samples; no network is trained), and the share of the time
that accelerators take. A kind that is refused says why. A result that differs ends it with 1.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import axiloom
from axiloom.errors import AxiloomError
from axiloom.quantise import emit, execute, report
from axiloom.quantise.torch_model import quantise

OPTIONS = {"accel": "conv_v4,v4_16", "post": True, "dma": "sg", "stream_width": 64}
SAMPLES = "8-random"
Made = tuple[nn.Module, tuple[int, ...]]


class Parts(nn.Module):
    """`function` of named parts and the input."""

    def __init__(self, function: Callable[..., Any], **parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


def cnn() -> Made:
    """Depthwise and pointwise convolutions with a residual."""

    def forward(net: Any, x: Any) -> Any:
        x = functional.relu(net.first(x))
        y = net.point(functional.relu6(net.depth(x)))
        return net.head(functional.adaptive_avg_pool2d(functional.relu(x + y), 1).flatten(1))

    parts = {
        "first": nn.Conv2d(3, 16, 3, padding=1),
        "depth": nn.Conv2d(16, 16, 3, padding=1, groups=16),
        "point": nn.Conv2d(16, 16, 1),
        "head": nn.Linear(16, 10),
    }
    return Parts(forward, **parts), (1, 3, 16, 16)


def attention(causal: bool) -> Made:
    """A block of a transformer with two heads of 16."""

    def forward(net: Any, x: Any) -> Any:
        y = net.before(x)
        q, k, v = (part(y).view(1, 16, 2, 16).transpose(1, 2) for part in (net.query, net.key, net.value))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        x = x + net.output(seen.transpose(1, 2).reshape(1, 16, 32))
        return net.down(functional.gelu(net.up(net.behind(x)))) + x

    parts: dict[str, nn.Module] = {name: nn.Linear(32, 32) for name in ("query", "key", "value", "output")}
    parts |= {"before": nn.LayerNorm(32), "behind": nn.LayerNorm(32)}
    parts |= {"up": nn.Linear(32, 64), "down": nn.Linear(64, 32)}
    return Parts(forward, **parts), (1, 16, 32)


def recurrent(kind: type[nn.Module]) -> Made:
    """A layer over a sequence of 4, and a classifier of its last state."""
    parts = {"layer": kind(16, 32, batch_first=True), "head": nn.Linear(32, 8)}
    return Parts(lambda net, x: net.head(net.layer(x)[0][:, -1]), **parts), (1, 4, 16)


def decoder() -> Made:
    """Transposed convolutions."""
    up = (nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 3, 3, 2, 1, output_padding=1))
    return nn.Sequential(*up, nn.Sigmoid()), (1, 16, 4, 4)


def grouped() -> Made:
    """Convolutions in groups, with Hardswish."""
    layers = (nn.Conv2d(8, 32, 3, padding=1, groups=2), nn.Hardswish(), nn.Conv2d(32, 16, 3, groups=4))
    return nn.Sequential(*layers), (1, 8, 12, 12)


def one_dimensional() -> Made:
    """Convolutions over a signal."""
    layers = (nn.Conv1d(4, 16, 5, padding=2, stride=2), nn.ReLU(), nn.Conv1d(16, 8, 3))
    return nn.Sequential(*layers), (1, 4, 64)


KINDS: dict[str, Callable[[], Made]] = {
    "CNN, depthwise and residual": cnn,
    "transformer encoder": lambda: attention(False),
    "causal decoder block": lambda: attention(True),
    "LSTM": lambda: recurrent(nn.LSTM),
    "GRU": lambda: recurrent(nn.GRU),
    "ConvTranspose decoder": decoder,
    "CNN in groups, Hardswish": grouped,
    "Conv1d": one_dimensional,
}


def measured(made: Made, folder: Path) -> tuple[str, bool]:
    """What the line says behind the name, and whether all is equal."""
    network, shape = made
    found = quantise(network.eval(), (torch.randn(shape),), SAMPLES, name="network")
    inputs = found.inputs(found.samples[0])
    want = execute(found.graph, inputs)
    file = folder / "network.mlir"
    emit(found.graph).write(file)
    loaded = axiloom.load(file, **OPTIONS)
    got = loaded(**{f"input{number}": array for number, array in enumerate(inputs.values())})
    assert loaded.report is not None
    results = got if isinstance(got, tuple) else (got,)
    equal = all(
        np.array_equal(one, (array * (found.graph[name].scale or 1)).astype(np.float32))
        for one, (name, array) in zip(results, want.items(), strict=True)
    )
    part = loaded.report["network"]["offload"]
    text = (
        f"{len(found.graph.nodes):>5}  {'equal' if equal else 'WRONG':<6}"
        f"{report.rows(found)[-1].sqnr:>6.1f} dB  {part['layers']:>3} layers, {part['share']:.0%} of the time"
    )
    return text, equal


def main() -> None:
    warnings.filterwarnings("ignore", category=UserWarning)
    right = True
    print(f"{'network':<30}{'ops':>5}  SoC    float32  on accelerators")
    for name, make in KINDS.items():
        torch.manual_seed(1)
        with tempfile.TemporaryDirectory() as folder:
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # torch warns of its own ways
                    text, equal = measured(make(), Path(folder))
            except AxiloomError as error:
                text, equal = f"refused: {'; '.join(str(error).splitlines())}", True
        print(f"{name:<30}{text}", flush=True)
        right &= equal
    if not right:
        sys.exit("not equal")
