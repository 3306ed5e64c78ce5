"""Small torch modules, and the files that they are imported to: ``python tests/read/modules.py``.

The files lie in tests/fixtures/imported, so that the compiler is tested without torch: ``NAME.mlir`` as
`axiloom.read` writes it, and ``NAME.npz`` with its weights, its inputs (``input0``, ...) and what
PyTorch gives for them (``output0``). Integers wrap and compare exactly; floats compare within 1e-4.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

FOLDER = Path(__file__).parents[1] / "fixtures" / "imported"
Tensor = torch.Tensor


@dataclass(frozen=True)
class Case:
    """A module, and the shapes and types of its inputs."""

    make: Callable[[], nn.Module]
    shapes: tuple[tuple[int, ...], ...]
    kinds: tuple[torch.dtype, ...]

    def inputs(self) -> tuple[Tensor, ...]:
        made = []
        for shape, kind in zip(self.shapes, self.kinds, strict=True):
            if kind.is_floating_point:
                made.append(torch.randn(shape, dtype=kind))
            elif kind is torch.int64:  # words of a vocabulary
                made.append(torch.randint(0, 32, shape))
            else:
                made.append(torch.randint(-128, 128, shape).to(kind))
        return tuple(made)


class Calls(nn.Module):
    """A function as a module, with integer weights of the shapes given."""

    def __init__(self, function: Callable[..., Tensor], *shapes: tuple[int, ...]) -> None:
        super().__init__()
        self.function = function
        self.names = [f"weight{number}" for number in range(len(shapes))]
        for name, shape in zip(self.names, shapes, strict=True):
            self.register_buffer(name, torch.randint(-128, 128, shape).to(torch.int8))

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs, *(getattr(self, name) for name in self.names))


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(4, 8, 3, padding=1, stride=2, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.down = nn.Conv2d(4, 8, 1, stride=2)
        self.norm.running_mean = torch.randn(8) * 0.1
        self.norm.running_var = torch.rand(8) + 0.5

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.norm(self.first(x)))
        return torch.relu(self.second(y) + self.down(x))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (f(x).reshape(2, 6, 2, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, -1)
        return self.out((weights @ v).transpose(1, 2).reshape(2, 6, 16))


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(32, 16), nn.LayerNorm(16)

    def forward(self, i: Tensor) -> Tensor:
        return self.norm(self.words(i))


class Pools(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = functional.max_pool2d(x, 3, 2, 1)
        return functional.avg_pool2d(y, 2) + functional.adaptive_avg_pool2d(x, 1)


def wide(*tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(t.to(torch.int32) for t in tensors)


def product(a: Tensor, b: Tensor) -> Tensor:
    return torch.matmul(*wide(a, b)).to(torch.int32)


def integer_conv(x: Tensor, f: Tensor, **options: Any) -> Tensor:
    if (
        not torch.compiler.is_exporting()
    ):  # PyTorch's own kernel for integers knows no dilation; this is exact
        return functional.conv2d(x.double(), f.double(), **options).to(torch.int32)
    return functional.conv2d(*wide(x, f), **options).to(torch.int32)


def chain(x: Tensor, v: Tensor, w: Tensor) -> Tensor:
    """Two products with a requantisation and reshapes in between."""
    y = product(x.reshape(6, 16), v)
    z = torch.clamp((y + 64) >> 7, -128, 127).to(torch.int8)
    return product(z.reshape(2, 3, 24).transpose(0, 1).reshape(6, 24), w).reshape(3, 2, 8)


f32, i8, i32, i64 = torch.float32, torch.int8, torch.int32, torch.int64
CASES: dict[str, Case] = {
    "conv_residual": Case(Residual, ((1, 4, 10, 10),), (f32,)),
    "mlp": Case(lambda: nn.Sequential(nn.Linear(12, 20), nn.ReLU(), nn.Linear(20, 5)), ((3, 12),), (f32,)),
    "attention": Case(Attention, ((2, 6, 16),), (f32,)),
    "layer_norm": Case(lambda: nn.LayerNorm(16), ((2, 5, 16),), (f32,)),
    "embedding": Case(Words, ((2, 7),), (i64,)),
    "pools": Case(Pools, ((1, 3, 8, 8),), (f32,)),
    "gelu_tanh": Case(lambda: nn.Sequential(nn.GELU(), nn.Tanh(), nn.Sigmoid()), ((4, 9),), (f32,)),
    "depthwise": Case(lambda: nn.Conv2d(6, 6, 3, padding=1, groups=6), ((1, 6, 7, 7),), (f32,)),
    "linear_of_three": Case(lambda: nn.Linear(8, 12, bias=False), ((2, 3, 8),), (f32,)),
    "matmul": Case(lambda: Calls(product, (16, 24)), ((12, 16),), (i8,)),
    "matmul_transposed_b": Case(lambda: Calls(lambda x, w: product(x, w.t()), (24, 16)), ((12, 16),), (i8,)),
    "matmul_transposed_a": Case(lambda: Calls(lambda x, w: product(x.t(), w), (16, 24)), ((16, 12),), (i8,)),
    "broadcast_bias": Case(
        lambda: Calls(lambda x, w, b: product(x, w) + b.to(i32), (16, 24), (24,)), ((12, 16),), (i8,)
    ),
    "bias_by_row": Case(
        lambda: Calls(lambda x, w, b: b.to(i32) - product(x, w), (16, 24), (12, 1)), ((12, 16),), (i8,)
    ),
    "reshapes_between": Case(lambda: Calls(chain, (16, 24), (24, 8)), ((2, 3, 16),), (i8,)),
    "einsum_scores": Case(
        lambda: Calls(lambda q, k: torch.einsum("bqhd,bkhd->bhqk", *wide(q, k)).to(i32)),
        ((2, 5, 2, 8), (2, 6, 2, 8)),
        (i8, i8),
    ),
    "batch_matmul": Case(lambda: Calls(product), ((3, 5, 8), (3, 8, 7)), (i8, i8)),
    "matvec": Case(lambda: Calls(lambda x, w: product(w, x), (24, 16)), ((16,),), (i8,)),
    "integer_conv": Case(
        lambda: Calls(lambda x, f: integer_conv(x, f, padding=1, stride=2), (8, 4, 3, 3)),
        ((1, 4, 9, 9),),
        (i8,),
    ),
    "dilated_conv": Case(
        lambda: Calls(lambda x, f: integer_conv(x, f, dilation=2), (5, 3, 3, 2)), ((2, 3, 9, 8),), (i8,)
    ),
    "conv_1x1_clamped": Case(
        lambda: Calls(
            lambda x, f, b: torch.clamp((integer_conv(x, f) + b.to(i32)[:, None, None]) >> 6, 0, 127).to(i8),
            (16, 8, 1, 1),
            (16,),
        ),
        ((1, 8, 6, 6),),
        (i8,),
    ),
    "concat_slice": Case(
        lambda: Calls(lambda x, y, w: product(torch.cat([x[:, 2:10], y], 1)[1:], w), (12, 6)),
        ((5, 12), (5, 4)),
        (i8, i8),
    ),
    "integer_max_pool": Case(lambda: Calls(lambda x: functional.max_pool2d(x, 2, 2)), ((1, 4, 8, 8),), (i8,)),
    "table": Case(lambda: Calls(lambda x, t: t[x.to(i64) + 128], (256,)), ((3, 50),), (i8,)),
}


def expected(module: nn.Module, inputs: tuple[Tensor, ...]) -> np.ndarray[Any, Any]:
    with torch.no_grad():
        return module(*inputs).numpy()


THROUGH_ONNX = {"attention_onnx": "attention"}
"""Files made of the ONNX file of a case: constants of rank 0, and a layer in other ops."""


def imported(name: str, module: nn.Module, inputs: tuple[Tensor, ...]) -> Any:
    from axiloom.read.onnx.model import import_file
    from axiloom.read.pytorch.linalg import import_module

    if name not in THROUGH_ONNX:
        return import_module(module, inputs, name)
    with tempfile.TemporaryDirectory() as made_in:
        path = Path(made_in) / "net.onnx"
        torch.onnx.export(module, inputs, path, external_data=False, verbose=False)
        return import_file(path)


def write(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        torch.manual_seed(sum(map(ord, name)))
        case = CASES[THROUGH_ONNX.get(name, name)]
        module, inputs = case.make().eval(), case.inputs()
        try:
            model = imported(name, module, inputs)
            arrays = {f"input{number}": value.numpy() for number, value in enumerate(inputs)}
            arrays["output0"] = expected(module, inputs)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")
            continue
        # Places are of this file, and would change with every edit of it.
        text = re.sub(r"^#loc.*\n", "", model.mlir, flags=re.MULTILINE)
        text = re.sub(r' loc\((#loc\d*|unknown|"[^"]*"(:\d+:\d+)?)\)', "", text)
        (folder / f"{name}.mlir").write_text(text, encoding="utf-8")
        np.savez_compressed(folder / f"{name}.npz", **model.weights, **arrays)
        print(f"{name}: {len(text)} characters")


if __name__ == "__main__":
    write(FOLDER, sys.argv[1:] or [*CASES, *THROUGH_ONNX])
