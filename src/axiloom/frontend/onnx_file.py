"""ONNX in: torch-mlir's importer, after ONNX's own check and shape inference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.numpy_helper
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer

from axiloom.errors import CompileError
from axiloom.files import check_input
from axiloom.frontend.lowering import FROM_ONNX, lower
from axiloom.frontend.model import Model


def read_onnx(path: Path) -> Any:
    """The checked ModelProto in `path`, with the shapes of all its values.

    Raises UsageError for no such file, CompileError for one that is no valid model or has no static shapes.
    """
    check_input(path)
    try:
        proto = onnx.load(path)
        onnx.checker.check_model(proto)
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    except Exception as error:
        raise CompileError(f"{path}: no valid ONNX model: {' '.join(str(error).split())[:300]}") from error
    initialised = {tensor.name for tensor in proto.graph.initializer}
    for value in proto.graph.input:
        dims = value.type.tensor_type.shape.dim
        if value.name not in initialised and not all(dim.HasField("dim_value") for dim in dims):
            sizes = ", ".join(dim.dim_param or str(dim.dim_value or "?") for dim in dims)
            raise CompileError(
                f"{path}: input `{value.name}` has dynamic sizes ({sizes}); they must be known"
            )
    return proto


def import_file(path: Path) -> Model:
    """The model in an `.onnx` file, in linalg on tensors."""
    proto = read_onnx(path)
    names = {onnx.numpy_helper.to_array(t).tobytes(): t.name for t in proto.graph.initializer}
    context = ir.Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(proto)
    module = info.create_module(context=context)
    try:
        # The function's name in C: that of the graph may be anything.
        info.main_graph.graph_proto.name = "main"
        onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    except Exception as error:
        raise CompileError(
            f"{path}: torch-mlir cannot import it: {' '.join(str(error).split())[:300]}"
        ) from error
    mlir, weights = lower(module, FROM_ONNX, str(path), names)
    return Model(str(path), mlir, weights)
