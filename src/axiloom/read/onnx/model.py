"""ONNX in, for `axiloom run`: linalg on tensors."""

from __future__ import annotations

import warnings
from pathlib import Path

import onnx
import onnx.numpy_helper
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer

from axiloom.base.errors import CompileError
from axiloom.read.context.model import Array, Model
from axiloom.read.onnx.file import OnnxFile, first_line, read_onnx
from axiloom.read.onnx.network import network_of
from axiloom.read.pytorch.linalg import lowered
from axiloom.read.pytorch.lowering import FROM_ONNX, lower


def import_file(path: Path) -> Model:
    """The model in an `.onnx` file, in linalg on tensors: by torch-mlir's importer for ONNX, and what that
    does not take by our reader, if every op is known to it."""
    file = read_onnx(path)
    try:
        mlir, weights = _by_torch_mlir(file)
    except CompileError as error:
        network, examples = network_of(file)
        if network.faults:
            raise CompileError("\n".join([str(error), *network.faults])) from None
        try:
            mlir, weights = lowered(network, examples, str(path), file.types)
        except CompileError:
            raise error from None
    return Model(str(path), mlir, weights, file.referee)


def _by_torch_mlir(file: OnnxFile) -> tuple[str, dict[str, Array]]:
    for node in file.proto.graph.node:
        attributes = {attribute.name: attribute.f for attribute in node.attribute}
        if node.op_type == "Gemm" and not any(node.input[2:]) and attributes.get("alpha", 1) != 1:
            where = f"{file.path}: {node.name or node.output[0]}: ONNX op Gemm"
            raise CompileError(f"{where}: torch-mlir forgets alpha where there is no C")
    names = {onnx.numpy_helper.to_array(t).tobytes(): t.name for t in file.proto.graph.initializer}
    context = ir.Context()
    torch_dialect.register_dialect(context)
    try:
        info = onnx_importer.ModelInfo(file.proto)
        module = info.create_module(context=context)
        # The function's name in C: that of the graph may be anything.
        info.main_graph.graph_proto.name = "main"
        with warnings.catch_warnings(action="ignore"):  # of types that nobody infers: an error comes later
            onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    except Exception as error:
        raise CompileError(f"{file.path}: torch-mlir cannot import it: {first_line(error)}") from error
    return lower(module, FROM_ONNX, str(file.path), names, file.types)
