"""PyTorch in: ``model.py:build`` gives a module and example inputs; torch.export makes its graph."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter, FxImporterHooks

from axiloom.base.errors import CompileError, UsageError
from axiloom.frontend.lowering import FROM_TORCH, lower
from axiloom.frontend.model import Array, Model
from axiloom.frontend.referee import Referee

_ACCEPTED = "it must return (module, example_inputs), a torch.nn.Module and a tuple of tensors"


def call(path: Path, function: str) -> Any:
    """What `function` of the Python file at `path` returns.

    Raises UsageError where there is no such file or function.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"axiloom_model_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # so that a model may import what lies beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    made = getattr(module, function, None)
    if not callable(made):
        there = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        raise UsageError(f"{path}:{function}: no such function; there are {', '.join(there) or 'none'}")
    return made()


def build(path: Path, function: str) -> tuple[Any, tuple[Any, ...]]:
    """Network, in evaluation mode, and example inputs that `function` of the file at `path` returns.

    Raises UsageError where it returns something else, or cannot be called.
    """
    name = f"{path}:{function}"
    result = call(path, function)
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], torch.nn.Module)):
        raise UsageError(f"{name}: returned {type(result).__name__}; {_ACCEPTED}")
    network, examples = result
    examples = (examples,) if isinstance(examples, torch.Tensor) else tuple(examples)
    if not all(isinstance(example, torch.Tensor) for example in examples):
        raise UsageError(f"{name}: example inputs that are no tensors; {_ACCEPTED}")
    return network.eval(), examples


def referee(network: Any, examples: Sequence[torch.Tensor]) -> Referee:
    """PyTorch on the user's own module, before anything is made of it; inputs are of the examples' types."""

    def run(arrays: Sequence[Array]) -> list[Array]:
        pairs = zip(arrays, examples, strict=True)
        return results_of(network, [torch.from_numpy(np.array(array)).to(of.dtype) for array, of in pairs])

    return Referee(f"PyTorch {torch.__version__}", run)


def results_of(network: Any, inputs: Sequence[Any]) -> list[Array]:
    """The tensors that a module returns, in whatever tuples, lists and dicts, in their order."""
    with torch.no_grad():
        leaves = torch.utils._pytree.tree_leaves(network(*inputs))
    return [value.numpy() for value in leaves if isinstance(value, torch.Tensor)]


def export(network: Any, examples: tuple[Any, ...], name: str) -> Any:
    """The ATen graph of a module (torch.export.ExportedProgram); CompileError says what does not export."""
    try:
        with torch.no_grad():
            return torch.export.export(network, examples)
    except Exception as error:
        raise CompileError(f"{name}: does not export: {_first(error)}") from error


def _first(error: Exception) -> str:
    """torch's report of many lines in one: what is wrong, and the line of the model."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((f" (line {line})" for line in reversed(lines) if line.startswith('File "')), "")
    return f"{type(error).__name__}: {lines[0] if lines else ''}{place}"[:400]


def _place(graph: Any) -> None:
    """Let the place of each op be the line of the user's model, not one within torch.

    Only the file's name is kept: what is written must not depend on the machine.
    """
    for node in graph.nodes:
        place = place_of(node)
        if place:
            file, _, line = place.rpartition(":")
            node.meta["stack_trace"] = f'File "{file}", line {line}, in forward'


def place_of(node: Any) -> str:
    """``model.py:13``: the line of the user's model that a node of the graph comes from; empty if unknown."""
    library = str(Path(torch.__file__).parent)
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(library)] or frames
    return f"{Path(own[-1][0]).name}:{own[-1][1]}" if own else ""


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
        raise CompileError(f"{name}: torch-mlir cannot import it: {_first(error)}") from error
    return lower(importer.module, FROM_TORCH, name, names, types)
