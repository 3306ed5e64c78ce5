"""Models in: PyTorch, ONNX, HLO or MLIR become one form, MLIR text on tensors and its weights.

`model` is that form and its two files; `pytorch`, `onnx_model` (of an `onnx_file`) and `hlo` import what
their names say, `onnx_network` makes a torch module of an ONNX file by `onnx_ops`, `referee` is the judge of
all of them, `mlir_file` finds the function that is meant in a text, `tosa` lowers that dialect, `lowering`
runs torch-mlir and tidies what it gives, `lift` moves constants out of the text. torch, torch-mlir and onnx
are extras: they are imported where a model needs them, and `extras` says what to install.
"""

from __future__ import annotations

from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.frontend import hlo
from axiloom.frontend.extras import require
from axiloom.frontend.mlir_file import functions_meant, is_mlir, read_mlir, remarks, split
from axiloom.frontend.model import WEIGHT, Model, read, weights_file

__all__ = [
    "ACCEPTED",
    "WEIGHT",
    "Model",
    "is_mlir",
    "is_model",
    "is_network",
    "load",
    "meant",
    "read",
    "read_mlir",
    "remarks",
    "require",
    "split",
    "weights_file",
]

ACCEPTED = (
    "model.py:build (a function that returns a module and example inputs), model.onnx, model.mlir (linalg or "
    "StableHLO) or model.hlo"
)


def is_model(text: str) -> bool:
    """Whether `text` names a model file, rather than a problem such as ``matmul:64x64x64``."""
    return is_mlir(text) or text.endswith((".onnx", ".py", *hlo.SUFFIXES)) or ".py:" in text


def is_network(text: str) -> bool:
    """Whether `text` names a model of PyTorch or ONNX, which can be quantised."""
    return text.endswith(".onnx") or text.rpartition(":")[0].endswith(".py")


def meant(text: str) -> list[str]:
    """The problems that a text stands for: one for each function of a file of linalg that computes something,
    as ``FILE.mlir:FUNCTION``; of everything else the text itself."""
    if not is_mlir(text) or hlo.is_hlo(split(text)[0]):
        return [text]
    return functions_meant(text)


def load(text: str) -> Model:
    """The model that `text` names (`ACCEPTED`)."""
    if hlo.is_hlo(split(text)[0]):
        return hlo.import_file(*split(text))
    if is_mlir(text):
        return read(text)
    if text.endswith(".onnx"):
        require("onnx", text)
        require("torch_mlir", text)
        from axiloom.frontend import onnx_model

        return onnx_model.import_file(Path(text))
    file, colon, function = text.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise UsageError(f"`{text}` is no model; accepted are {ACCEPTED}")
    require("torch", text)
    require("torch_mlir", text)
    from axiloom.frontend import pytorch

    return pytorch.import_module(*pytorch.build(Path(file), function), text)
