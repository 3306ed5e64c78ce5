"""MLIR text executed by MLIR itself: torch-mlir's wheel brings the passes to LLVM and an execution engine.

So what this project writes as MLIR is held against a reader and a compiler of somebody else.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager
from torch_mlir.runtime import get_ranked_memref_descriptor

from axiloom.base.attributes import WEIGHT
from axiloom.read.context.model import Model

_PASSES = ",".join(
    [
        "func.func(refback-generalize-tensor-pad,refback-generalize-tensor-concat)",
        "linalg-generalize-named-ops",
        "one-shot-bufferize{bufferize-function-boundaries=1 "
        "function-boundary-type-conversion=identity-layout-map}",
        "buffer-results-to-out-params{modify-public-functions=1}",
        "func.func(refback-munge-memref-copy,convert-linalg-to-loops)",
        "expand-strided-metadata",
        "lower-affine",
        "convert-scf-to-cf",
        "func.func(convert-math-to-llvm)",
        "convert-math-to-libm",
        "convert-arith-to-llvm",
        "convert-index-to-llvm",
        "finalize-memref-to-llvm",
        "convert-func-to-llvm",
        "convert-cf-to-llvm",
        "reconcile-unrealized-casts",
    ]
)


def run(model: Model, inputs: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The one result of the function in `model`."""
    text = re.sub(r" attributes \{axiloom[^}]*\}", "", model.mlir)
    names = re.findall(rf'{re.escape(WEIGHT)} = "([^"]+)"', text)
    text = re.sub(rf' \{{{re.escape(WEIGHT)} = "[^"]+"\}}', "", text)
    function = re.search(r"func\.func @(\w+)", text)
    result = re.search(r"-> tensor<([\dx]*?)x?([a-z]\d+)>(?: loc\([^)]*\))? \{", text)
    assert function is not None
    assert result is not None
    text = text.replace(f"@{function[1]}(", "@computed(", 1)
    shape = [int(size) for size in result[1].split("x") if size]
    out = np.zeros(shape, {"f32": "float32", "i8": "int8", "i32": "int32", "i64": "int64"}[result[2]])
    with ir.Context() as context:
        torch_dialect.register_dialect(context)
        module = ir.Module.parse(text)
        for op in module.body.operations:
            op.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        PassManager.parse(f"builtin.module({_PASSES})").run(module.operation)
        engine = ExecutionEngine(module, opt_level=2)
    arrays = [np.ascontiguousarray(a) for a in [*inputs, *(model.weights[name] for name in names), out]]
    arguments = [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(array))) for array in arrays]
    engine.invoke("computed", *arguments)
    return arrays[-1]
