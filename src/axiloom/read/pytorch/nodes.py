"""Nodes of an exported ATen graph (torch.fx): what they are, where they come from, what they compute."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from axiloom.read.context.model import Array

ONNX_LAYER = "axiloom.read.onnx.network"
"""The module whose classes are ops of ONNX."""


def is_node(value: Any) -> bool:
    """Whether an argument is the result of another node, rather than a number or a list."""
    return isinstance(value, torch.fx.Node)


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def is_pointwise(node: Any) -> bool:
    """Whether torch says that an op computes element by element."""
    return torch.Tag.pointwise in getattr(node.target, "tags", ())


def computed(node: Any, value: Callable[[Any], Any]) -> Any:
    """The result of an op, where `value` gives those of the nodes that it reads."""
    return node.target(*torch.fx.map_arg(node.args, value), **torch.fx.map_arg(node.kwargs, value))


def copied(tensor: Any) -> Any:
    """One that an op in place may write over."""
    return torch.clone(tensor)


def on_array(function: Callable[[Any], Any], array: Array) -> Array:
    """A function of tensors, of an array."""
    result: Array = function(torch.from_numpy(array)).numpy()
    return result


def attribute(module: Any, path: str) -> Any:
    """The weight at `path` of a module (``fc.weight``)."""
    value = module
    for part in path.split("."):
        value = getattr(value, part)
    return value.detach() if isinstance(value, torch.Tensor) else value


def place_of(node: Any) -> str:
    """``model.py:13``: the line of the user's model that a node of the graph comes from; empty if unknown."""
    library = str(Path(torch.__file__).parent)
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(library)] or frames
    return f"{Path(own[-1][0]).name}:{own[-1][1]}" if own else ""


def module_of(node: Any) -> tuple[str, bool]:
    """The path of the module that an ATen node is of, and whether that is one layer: of torch, or of ONNX."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path, kind = stack[-1][:2] if stack else ("", "")
    return str(path), bool(path) and str(kind).startswith(("torch.nn.modules", ONNX_LAYER))


def onnx_op(node: Any) -> str:
    """The op of ONNX that an ATen node comes from; empty if it is of torch."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    kind = str(stack[-1][1]) if stack else ""
    return kind.rpartition(".")[2] if kind.startswith(ONNX_LAYER) else ""
