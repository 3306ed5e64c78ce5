"""Constants of a torch-mlir module become arguments of its function, with their data in NumPy.

Before, and after::

    func.func @main(%arg0: tensor<2x8xf32>) -> ... {
      %cst = arith.constant dense_resource<torch_tensor_8_4_torch.float32> : tensor<8x4xf32>

    func.func @main(%arg0: tensor<2x8xf32>, %arg1: tensor<8x4xf32> {axiloom.weight = "fc.weight"}) -> ... {

Constants that are one value repeated stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from torch_mlir import ir

from axiloom.base.attributes import WEIGHT
from axiloom.read.context.model import Array

_RESOURCE = re.compile(r'^\s*([\w.$-]+|"[^"]+"): "0x([0-9A-Fa-f]*)"', re.MULTILINE)
_NAME = re.compile(r"dense_resource<([^>]+)>")
_ALIGNMENT_DIGITS = 8
"""A blob starts with its alignment, in four bytes."""

_DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}


def lift(module: Any, names: Mapping[bytes, str]) -> dict[str, Array]:
    """Move the constants of `module` (ir.Module with one function) out of it.

    `names`: what an array with these bytes is called in the model; others are numbered.
    """
    (function,) = module.body.operations
    entry = function.regions[0].blocks[0]
    blobs: dict[str, Array] | None = None
    weights: dict[str, Array] = {}
    arguments: dict[str, Any] = {}
    for op in list(entry.operations):
        if op.operation.name != "arith.constant" or not isinstance(op.result.type, ir.RankedTensorType):
            continue
        kind = ir.RankedTensorType(op.result.type)
        value = op.operation.attributes["value"]
        resource = _NAME.match(str(value)) if "dense_resource" in str(value)[:20] else None
        if resource is not None:
            if blobs is None:
                blobs = _blobs(module)
            data = _array(blobs[resource[1].strip('"')], kind)
        elif isinstance(value, ir.DenseElementsAttr) and not ir.DenseElementsAttr(value).is_splat:
            data = np.array(value)
        else:
            continue
        name = names.get(data.tobytes()) or f"constant{len(weights)}"
        if name in weights and (weights[name].shape != data.shape or weights[name].dtype != data.dtype):
            name = f"{name}.{len(weights)}"  # the same bytes in another shape
        if name not in weights:
            weights[name] = data
            arguments[name] = entry.add_argument(op.result.type, op.operation.location)
        op.result.replace_all_uses_with(arguments[name])
        op.operation.erase()
    _sign(function, entry, list(weights))
    return weights


def _blobs(module: Any) -> dict[str, Array]:
    """The data of all `dense_resource` attributes: the bindings give it in the printed text alone."""
    text = module.operation.get_asm(enable_debug_info=False)
    return {
        match[1].strip('"'): np.frombuffer(bytes.fromhex(match[2][_ALIGNMENT_DIGITS:]), np.uint8)
        for match in _RESOURCE.finditer(text)
    }


def _array(data: Array, kind: Any) -> Array:
    element = str(kind.element_type)
    dtype = np.dtype(_DTYPES.get(element) or f"int{element.lstrip('usi')}")
    return data.view(dtype).reshape(kind.shape)


def _sign(function: Any, entry: Any, names: list[str]) -> None:
    """Give the function the type of its new arguments, and each of them its name."""
    kinds = [argument.type for argument in entry.arguments]
    inputs = len(kinds) - len(names)
    results = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value).results
    function.operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, results))
    attributes = [ir.DictAttr.get({}) for _ in range(inputs)]
    attributes += [ir.DictAttr.get({WEIGHT: ir.StringAttr.get(name)}) for name in names]
    function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
