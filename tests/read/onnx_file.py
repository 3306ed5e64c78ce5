"""Small ONNX files, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

Ends = Mapping[str, Sequence[Any] | tuple[Any, Sequence[Any]]]
"""Sizes of inputs or outputs; of another type than float32, behind that type."""


def node(op: str, inputs: str, result: str, **attributes: Any) -> Any:
    """``node("Add", "x b", "y")``"""
    return pytest.importorskip("onnx").helper.make_node(op, inputs.split(), [result], **attributes)


def save(
    path: Path,
    nodes: Sequence[Any],
    inputs: Ends,
    outputs: Ends,
    weights: Mapping[str, Any],
    opset: int = 18,
    ir_version: int = 9,
    **domains: int,
) -> Path:
    """`domains`: versions of other people's ops."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    ends = [
        [
            helper.make_tensor_value_info(name, kind, list(sizes))
            for name, given in each.items()
            for kind, sizes in [given if isinstance(given, tuple) else (onnx.TensorProto.FLOAT, given)]
        ]
        for each in (inputs, outputs)
    ]
    arrays = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    ids = [helper.make_opsetid(name, number) for name, number in {"": opset, **domains}.items()]
    graph = helper.make_graph(list(nodes), "net", *ends, arrays)
    onnx.save(helper.make_model(graph, opset_imports=ids, ir_version=ir_version), path)
    return path
