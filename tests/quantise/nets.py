"""Small networks that are quantised, and the files made of them: ``python tests/quantise/nets.py``.

The files lie in tests/fixtures/quantised, so that the compiler is tested without torch: ``NAME.mlir`` and
``NAME.npz`` as `axiloom quantize` writes them, with an input of each argument (``input0``, ...) and what the
integer graph gives for them (``output0``), to be met in every bit.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from axiloom.base.files import write_arrays
from axiloom.quantise.network import Quantised, quantise

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "fixtures" / "quantised"
Tensor = torch.Tensor
Made = tuple[nn.Module, tuple[Tensor, ...]]


class Transformer(nn.Module):
    """One layer as in examples/networks/tinybert.py, with 2 heads of 8."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(40, 16), nn.LayerNorm(16)
        self.query, self.key, self.value, self.output = (nn.Linear(16, 16) for _ in range(4))
        self.up, self.down, self.last = nn.Linear(16, 32), nn.Linear(32, 16), nn.LayerNorm(16)
        self.head = nn.Linear(16, 40)

    def forward(self, words: Tensor) -> Tensor:
        x = self.norm(self.words(words))
        q, k, v = (f(x).view(2, 6, 2, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        seen = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(2, 6, 16)
        x = self.output(seen) + x
        return self.head(self.last(self.down(functional.gelu(self.up(x))) + x))


class Shapes(nn.Module):
    """What the others do not have: strides, a depthwise filter, pools, slices, a concatenation."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1, stride=2)
        self.depth = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.wide = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.last = nn.Linear(12, 6)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.max_pool2d(functional.relu6(self.first(x)), 3, 2, 1)
        x = torch.cat([torch.tanh(self.depth(x)), functional.avg_pool2d(self.wide(x), 3, 1, 1)[:, 2:6]], 1)
        return torch.sigmoid(self.last(functional.adaptive_avg_pool2d(x, 1).flatten(1)) * 2)


def transformer() -> Made:
    torch.manual_seed(11)
    return Transformer().eval(), (torch.randint(0, 40, (2, 6)),)


def shapes() -> Made:
    torch.manual_seed(12)
    return Shapes().eval(), (torch.randn(1, 3, 16, 16),)


def example(name: str) -> Any:
    """A module of examples/networks."""
    folder = str(ROOT / "examples" / "networks")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def made(name: str) -> Quantised:
    """One of `NAMES`, quantised."""
    if name in ("transformer", "shapes"):
        network, examples = {"transformer": transformer, "shapes": shapes}[name]()
        return quantise(network, examples, "16-random", name=name)
    module = example(name)
    network, examples = module.build()
    return quantise(network, examples, module.calibration(), name=name)


NAMES = ("digits_cnn", "digits_mlp", "shapes", "transformer")


def write(name: str) -> None:
    quantised = made(name)
    model = quantised.model()
    inputs = quantised.inputs(quantised.samples[0])
    (output,) = quantised.run(inputs).values()
    arrays = {f"input{number}": value for number, value in enumerate(inputs.values())}
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.mlir").write_text(model.mlir, encoding="utf-8")
    write_arrays(FOLDER / f"{name}.npz", {**model.weights, **arrays, "output0": output})


if __name__ == "__main__":
    for wanted in sys.argv[1:] or NAMES:
        write(wanted)
