"""Kinds of networks, trained and small: quantised, run on the SoC with conv_v4 and v4_16.

Each is trained on data that ships with a library (``learned.py``). A line for each: its ops, whether every
result on the SoC equals the integer graph's in every bit, its distance from the float network (SQNR in dB),
how many decisions of samples that training never saw are right in float32 and in the integer graph, the
share of the time that accelerators take, and the seconds of training. A kind that is refused says why. A
result that differs ends it with 1.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import axiloom as ax
from axiloom.base.errors import AxiloomError
from axiloom.quantise import report
from axiloom.quantise.network import Quantised, quantise
from benchmarks.networks import learned
from benchmarks.networks.learned import SYMBOLS, WINDOW, Task

OPTIONS = {"post": True, "dma": "sg", "stream_width": 64}
DEVICES = [ax.device(name, **OPTIONS) for name in ("conv_v4", "v4_16")]
CALIBRATION = 16
"""Batches that scales are chosen by."""


class Parts(nn.Module):
    """`function` of named parts and the input."""

    def __init__(self, function: Callable[..., Any], **parts: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x: Any) -> Any:
        return self.function(self, x)


def cnn() -> nn.Module:
    """Depthwise and pointwise convolutions with a residual."""

    def forward(net: Any, x: Any) -> Any:
        x = functional.relu(net.first(x))
        y = net.point(functional.relu6(net.depth(x)))
        return net.head(functional.adaptive_avg_pool2d(functional.relu(x + y), 4).flatten(1))

    parts = {
        "first": nn.Conv2d(1, 16, 3, padding=1),
        "depth": nn.Conv2d(16, 16, 3, padding=1, groups=16),
        "point": nn.Conv2d(16, 16, 1),
        "head": nn.Linear(256, 10),
    }
    return Parts(forward, **parts)


def block(net: Any, x: Any, causal: bool) -> Any:
    """Of a transformer, with two heads of 16."""
    count, length, _ = x.shape
    y = net.before(x)
    q, k, v = (part(y).view(count, length, 2, 16).transpose(1, 2) for part in (net.query, net.key, net.value))
    seen = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    x = x + net.output(seen.transpose(1, 2).reshape(count, length, 32))
    return net.down(functional.gelu(net.up(net.behind(x)))) + x


def attention(features: int, length: int, answers: int, causal: bool) -> nn.Module:
    """Tokens with a place each, a block, and scores: of each token (causal), or of all together."""

    def forward(net: Any, x: Any) -> Any:
        x = block(net, net.tokens(x) + net.places.weight, causal)
        return net.head(x if causal else x.flatten(1))

    parts: dict[str, nn.Module] = {name: nn.Linear(32, 32) for name in ("query", "key", "value", "output")}
    parts |= {"before": nn.LayerNorm(32), "behind": nn.LayerNorm(32)}
    parts |= {"up": nn.Linear(32, 64), "down": nn.Linear(64, 32)}
    parts |= {"tokens": nn.Linear(features, 32), "places": nn.Embedding(length, 32)}
    return Parts(forward, **parts, head=nn.Linear(32 if causal else 32 * length, answers))


def recurrent(kind: type[nn.Module], features: int, answers: int) -> nn.Module:
    """A layer over a sequence, and a classifier of its last state."""
    parts = {"layer": kind(features, 64, batch_first=True), "head": nn.Linear(64, answers)}
    return Parts(lambda net, x: net.head(net.layer(x)[0][:, -1]), **parts)


def decoder() -> nn.Module:
    """Transposed convolutions from (16, 1, 1) to (1, 8, 8)."""
    first = (nn.ConvTranspose2d(16, 32, 4), nn.ReLU(), nn.ConvTranspose2d(32, 16, 3, 2, 1, output_padding=1))
    return nn.Sequential(*first, nn.ReLU(), nn.ConvTranspose2d(16, 1, 3, padding=1), nn.Sigmoid())


def grouped() -> nn.Module:
    """Convolutions in groups, with Hardswish."""
    first = (nn.Conv2d(1, 32, 3, 2, padding=1), nn.Hardswish(), nn.Conv2d(32, 32, 3, padding=1, groups=4))
    return nn.Sequential(*first, nn.Hardswish(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(512, 10))


def one_dimensional() -> nn.Module:
    """Convolutions over 8 signals."""
    layers = (nn.Conv1d(8, 32, 3, padding=1), nn.ReLU(), nn.Conv1d(32, 32, 3, padding=1, stride=2), nn.ReLU())
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 10))


@dataclass(frozen=True)
class Kind:
    """A network, what it learns and for how long, and how many samples a call of it takes."""

    make: Callable[[], nn.Module]
    task: Callable[[], Task]
    epochs: int
    batch: int = 1


KINDS = {
    "CNN, depthwise and residual": Kind(cnn, learned.images, 20),
    "transformer encoder": Kind(lambda: attention(8, 8, 10, False), learned.rows, 40),
    "causal decoder block": Kind(
        lambda: attention(len(SYMBOLS), WINDOW, len(SYMBOLS), True), lambda: learned.text(False), 20
    ),
    "LSTM": Kind(
        lambda: recurrent(nn.LSTM, len(SYMBOLS), len(SYMBOLS)), lambda: learned.text(True), 20, batch=16
    ),
    "GRU": Kind(lambda: recurrent(nn.GRU, 8, 10), learned.rows, 25, batch=16),
    "ConvTranspose decoder": Kind(decoder, learned.codes, 20),
    "CNN in groups, Hardswish": Kind(grouped, learned.images, 12),
    "Conv1d": Kind(one_dimensional, learned.rows, 25),
}


def decided(network: nn.Module, quantised: Quantised, task: Task, batch: int) -> tuple[float, float]:
    """The share of right decisions on what was held back: of the float network, and of the integer graph."""
    inputs, targets = task.held_back
    real, whole = [], []
    for some in inputs.split(batch):
        with torch.no_grad():
            real.append(network(some).numpy())
        whole += quantised.real((some,))
    wanted = targets.numpy()
    float_right, integer_right = (
        task.right(np.concatenate(outputs), wanted).mean() for outputs in (real, whole)
    )
    return float(float_right), float(integer_right)


def on_the_soc(quantised: Quantised, folder: Path) -> tuple[bool, str]:
    """Whether a run of the first sample equals the integer graph in every bit, and what accelerators took."""
    inputs = quantised.inputs(quantised.samples[0])
    want = quantised.real(quantised.samples[0])
    file = folder / "network.mlir"
    quantised.model().write(file)
    loaded = ax.plan(file, DEVICES)
    got = loaded(**{f"input{number}": array for number, array in enumerate(inputs.values())})
    assert loaded.last is not None
    results = got if isinstance(got, tuple) else (got,)
    equal = all(
        np.array_equal(result, array.astype(np.float32)) for result, array in zip(results, want, strict=True)
    )
    part = loaded.last.report["network"]["offload"]
    return equal, f"{part['layers']:>3} layers, {part['share']:.0%} of the time"


def measured(kind: Kind, folder: Path) -> tuple[str, bool]:
    """What the line says behind the name, and whether all is equal."""
    network, task, begin = kind.make(), kind.task(), time.process_time()
    learned.train(network, task, kind.epochs)
    seconds = time.process_time() - begin
    batches = task.inputs[: CALIBRATION * kind.batch].split(kind.batch)
    quantised = quantise(network, (batches[0],), [(batch,) for batch in batches], name="network")
    right, right_whole = decided(network, quantised, task, kind.batch)
    equal, offload = on_the_soc(quantised, folder)
    sqnr = report.rows(quantised)[-1].sqnr
    text = (
        f"{len(quantised.values):>5}  {'equal' if equal else 'WRONG':<6}{sqnr:>6.1f} dB"
        f"  {right:>6.1%}  {right_whole:>6.1%}  {offload:<28}{seconds:>5.1f} s"
    )
    return text, equal


def main() -> None:
    warnings.filterwarnings("ignore", category=UserWarning)
    right = True
    torch.set_num_threads(1)
    head = f"{'network':<30}{'ops':>5}  SoC    float32  right: float32, int8  on accelerators"
    print(f"{head:<94}trained in")
    for name, kind in KINDS.items():
        torch.manual_seed(1)
        with tempfile.TemporaryDirectory() as folder:
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # torch warns of its own ways
                    text, equal = measured(kind, Path(folder))
            except AxiloomError as error:
                text, equal = f"refused: {'; '.join(str(error).splitlines())}", True
        print(f"{name:<30}{text}", flush=True)
        right &= equal
    if not right:
        sys.exit("not equal")
