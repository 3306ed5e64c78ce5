"""A torch.nn.Module to linalg on tensors, by torch-mlir."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter, FxImporterHooks

from axiloom.base.errors import CompileError
from axiloom.read.context.model import Array, Model
from axiloom.read.pytorch.lowering import FROM_TORCH, lower
from axiloom.read.pytorch.module import export, first_line, referee
from axiloom.read.pytorch.nodes import place_of


def _place(graph: Any) -> None:
    """Let the place of each op be the line of the user's model, not one within torch.

    Only the file's name is kept: what is written must not depend on the machine.
    """
    for node in graph.nodes:
        place = place_of(node)
        if place:
            file, _, line = place.rpartition(":")
            node.meta["stack_trace"] = f'File "{file}", line {line}, in forward'


class _Buffers(FxImporterHooks):
    """Weights as the bytes that they are: torch-mlir's own way is by lists of Python numbers, and slow."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self.names = {value.data_ptr(): name for name, value in tensors.items()}
        self.tensors = tensors

    def resolve_literal(self, gni: Any, literal: Any, info: Any) -> Any:
        if not isinstance(literal, torch.Tensor) or literal.dtype != torch.float32 or literal.numel() < 2:
            return None  # torch-mlir's own way
        name = self.names.get(literal.data_ptr())
        if name is None or self.tensors[name].shape != literal.shape:
            return None
        array = np.ascontiguousarray(self.tensors[name].numpy())
        data = ir.DenseResourceElementsAttr.get_from_buffer(
            array, name, ir.RankedTensorType.get(array.shape, ir.F32Type.get())
        )
        kind = ir.Type.parse(f"!torch.vtensor<{list(array.shape)},f32>")
        return ir.Operation.create("torch.vtensor.literal", results=[kind], attributes={"value": data}).result


def import_module(network: Any, examples: tuple[Any, ...], name: str) -> Model:
    """The model of a torch.nn.Module, in linalg on tensors."""
    return Model(name, *lowered(network, examples, name), referee(network, examples))


def lowered(
    network: Any,
    examples: tuple[Any, ...],
    name: str,
    types: Mapping[str, Sequence[np.dtype[Any]]] | None = None,
) -> tuple[str, dict[str, Array]]:
    """MLIR and weights of a torch.nn.Module; `types`: those of its inputs and outputs, if they are
    another's."""
    program = export(network, examples, name)
    tensors = {
        key: value.detach()
        for key, value in [*program.state_dict.items(), *program.constants.items()]
        if isinstance(value, torch.Tensor)
    }
    # The exported program ties what is shared; two parameters of equal bytes have one weight as well.
    names = {np.ascontiguousarray(value.numpy()).tobytes(): key for key, value in tensors.items()}
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context, hooks=_Buffers(tensors))
    program = program.run_decompositions(get_decomposition_table())
    _place(program.graph)
    try:
        importer.import_frozen_program(program, func_name="main")
    except Exception as error:
        raise CompileError(f"{name}: torch-mlir cannot import it: {first_line(error)}") from error
    return lower(importer.module, FROM_TORCH, name, names, types)
