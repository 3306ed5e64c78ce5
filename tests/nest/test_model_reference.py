"""PyTorch and ONNX Runtime as the judges of what was read of a module, and of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.read import onnx_file

from axiloom.base.errors import CompileError, MismatchError
from axiloom.nest import loops
from axiloom.nest.reference import reference
from axiloom.nest.values import random_values
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.schedule import Schedule

onnx = pytest.importorskip("onnx")
pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(5)
    def forward(self, x, y):
        chosen = torch.where((x > y) & (y > -0.5), x, self.norm(y))
        return chosen, (chosen < 0).any(dim=1)
def model():
    torch.manual_seed(0)
    return Model(), (torch.randn(3, 5), torch.randn(3, 5))
class Masked(torch.nn.Module):
    def forward(self, mask, x):
        return torch.where(mask, x, 2 * x)
def masked():
    return Masked(), (torch.tensor([True, False]), torch.tensor([1.0, 2.0]))
def double():
    return torch.nn.Identity(), (torch.randn(3, 5).double(),)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("torch") / "m.py"
    path.write_text(MODEL)
    return path


@pytest.fixture(scope="module")
def loaded(source: Path) -> Loaded:
    return loops.load(f"{source}:model")


def said(loaded: Loaded) -> str:
    values = {**random_values(loaded.program, 0), **loaded.contents}
    return reference(loaded, Schedule.of(loaded.program), values).text


def test_layer_norm_and_conditions_are_torchs(loaded: Loaded) -> None:
    """f64 of torch-mlir is computed as float32, and tensors of bool are held in bits."""
    assert {each.number for each in loaded.program.arrays} == {"float32", "uint1"}
    assert " of PyTorch " in said(loaded)


def test_an_input_of_bool_is_one_for_torch(source: Path) -> None:
    assert "equal to PyTorch" in said(loops.load(f"{source}:masked"))


def test_another_function_is_named(loaded: Loaded) -> None:
    statements = tuple(each for each in loaded.program.statements if "div" not in str(each.value))
    bent = replace(loaded, program=replace(loaded.program, statements=statements))
    with pytest.raises(MismatchError, match=r"as read, \w+\[0\]\[\d\] is .*, expected .* by PyTorch"):
        said(bent)


def test_other_weights_are_not_compared(loaded: Loaded) -> None:
    values = {**random_values(loaded.program, 0), **loaded.contents}
    name = next(iter(loaded.contents))
    values[name] = np.asarray(values[name]) + 1
    text = reference(loaded, Schedule.of(loaded.program), values).text
    assert "not compared with PyTorch" in text


def test_f64_of_the_user_is_refused(source: Path) -> None:
    with pytest.raises(CompileError, match="f64"):
        loops.load(f"{source}:double")


def onnx_model(folder: Path, nodes: list[Any], x: Any, y: Any, **weights: Any) -> Loaded:
    """Of an input `x` and an output `y`, given as NumPy arrays of their types and shapes."""
    kinds = onnx.helper.np_dtype_to_tensor_dtype
    x, y = ({name: (kinds(like.dtype), like.shape)} for name, like in (("x", x), ("y", y)))
    return loops.load(str(onnx_file.save(folder / "m.onnx", nodes, x, y, weights, 13, 8)))


def test_an_onnx_file_is_judged(tmp_path: Path) -> None:
    node, like = onnx_file.node, np.zeros((3, 5), np.float32)
    nodes = [node("Softmax", "x", "s"), node("Gemm", "s w b", "y", transB=1)]
    weights = {"w": np.eye(5, dtype=np.float32), "b": np.arange(5, dtype=np.float32)}
    loaded = onnx_model(tmp_path, nodes, like, like, **weights)
    assert "as read, it is within" in said(loaded)
    assert "ONNX" in said(loaded)
    left = [statement for statement in loaded.program.statements if "exp" not in str(statement.value)]
    with pytest.raises(MismatchError, match=r"as read, .* expected .* by ONNX"):
        said(replace(loaded, program=replace(loaded.program, statements=tuple(left))))


@pytest.mark.parametrize(
    ("before", "after"), [("uint8", "float32"), ("int32", "uint8"), ("bool", "int64"), ("float32", "bool")]
)
def test_types_of_onnx_have_the_bits_of_programs(tmp_path: Path, before: str, after: str) -> None:
    x, y = (np.zeros(4, name) for name in (before, after))
    kind = onnx.helper.np_dtype_to_tensor_dtype(y.dtype)
    loaded = onnx_model(tmp_path, [onnx_file.node("Cast", "x", "y", to=kind)], x, y)
    assert "as read, it is equal to ONNX" in said(loaded)
