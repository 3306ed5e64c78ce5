"""Models: PyTorch, ONNX, HLO or MLIR become one form, MLIR text on tensors and its weights.

torch, torch-mlir and onnx are extras: they are imported where a model needs them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.extras import require
from axiloom.base.files import read_text
from axiloom.graph.graph import Graph, GraphError
from axiloom.graph.write import linalg
from axiloom.read.context.model import Model
from axiloom.read.forms import is_stablehlo, read
from axiloom.read.mlir.file import functions_meant, is_mlir, split
from axiloom.read.mlir.model import read as read_mlir

ACCEPTED = (
    "model.py:build (a function that returns a module and example inputs), model.onnx, model.mlir (linalg or "
    "StableHLO) or model.hlo"
)
_HLO = (".hlo", ".stablehlo")


def is_model(text: str) -> bool:
    """Whether `text` names a model file, rather than a problem such as ``matmul:64x64x64``."""
    return is_mlir(text) or text.endswith((".onnx", ".py", *_HLO)) or ".py:" in text


def is_network(text: str) -> bool:
    """Whether `text` names a model of PyTorch or ONNX, which can be quantised."""
    return text.endswith(".onnx") or text.rpartition(":")[0].endswith(".py")


def meant(text: str) -> list[str]:
    """The problems that a text stands for: one for each function of a file of linalg that computes something,
    as ``FILE.mlir:FUNCTION``; of everything else the text itself."""
    if not is_mlir(text) or _is_hlo(split(text)[0]):
        return [text]
    return functions_meant(text)


def load(text: str) -> Model:
    """The model that `text` names (`ACCEPTED`)."""
    if _is_hlo(split(text)[0]):
        return _hlo(*split(text))
    if is_mlir(text):
        return read_mlir(text)
    if text.endswith(".onnx"):
        require("onnx", text)
        require("torch_mlir", text)
        from axiloom.read.onnx import model

        return model.import_file(Path(text))
    if not is_network(text):
        raise UsageError(f"`{text}` is no model; accepted are {ACCEPTED}")
    require("torch", text)
    require("torch_mlir", text)
    from axiloom.read.pytorch.linalg import import_module

    return import_module(*network(text), text)


def network(text: str) -> tuple[Any, tuple[Any, ...]]:
    """Network and example inputs of ``model.py:build`` or ``model.onnx``; UsageError for anything else."""
    file, _, function = text.rpartition(":")
    if not is_network(text):
        raise UsageError(f"`{text}`: expected is model.py:build (torch) or model.onnx")
    require("torch", text)
    if not text.endswith(".onnx"):
        from axiloom.read.pytorch.module import build

        return build(Path(file), function)
    require("onnx", text)
    from axiloom.read.onnx.network import load_network

    return load_network(Path(text))


def graph(text: str) -> Graph:
    """The graph of a model: of a file that `read` reads, or of a network of PyTorch or ONNX."""
    if not is_network(text):
        path, _, function = text.partition(":")
        return read(Path(path), function or None)
    module, examples = network(text)
    if module_faults := getattr(module, "faults", ()):
        raise CompileError("\n".join(module_faults))
    from axiloom.read.pytorch.exported import read_program
    from axiloom.read.pytorch.module import export

    file, _, function = text.rpartition(":")
    name = Path(file or text).stem if function == "build" or not file else function
    return read_program(export(module, examples, text), name)


def _is_hlo(path: Path) -> bool:
    """By its name, or a ``.mlir`` whose text has operations of StableHLO."""
    if path.suffix == ".mlir" and path.is_file():
        return is_stablehlo(read_text(path, CompileError))
    return path.suffix in _HLO


def _hlo(path: Path, function: str | None = None) -> Model:
    """Raises ReadError for a text that cannot be read, CompileError for operations that have no linalg."""
    graph = read(path, function)
    try:
        written = linalg(graph)
    except GraphError as error:
        raise CompileError(f"{path}: {error}") from None
    return Model(str(path), written.mlir, written.weights)
