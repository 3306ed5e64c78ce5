"""`single`: a model's intermediate f64 becomes f32.

torch-mlir computes the variance of LayerNorm in f64, PyTorch's own kernel in float32. Circuits have no f64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import Rewriter


def single(module: ModuleOp) -> None:
    """In place. A function that takes or returns f64 is left as it is."""
    for function in module.walk():
        if not isinstance(function, func.FuncOp):
            continue
        if not any(map(_is_double, (*function.function_type.inputs, *function.function_type.outputs))):
            for block in function.body.blocks:
                _block(block)


def _is_double(type_: Attribute) -> bool:
    return isinstance(getattr(type_, "element_type", type_), Float64Type)


def _block(block: Block) -> None:
    for argument in block.args:
        _narrow(argument)
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                _block(inner)
        if isinstance(op, arith.ConstantOp) and _is_double(op.result.type):
            op.properties["value"] = _constant(op.value)
        results = [_narrow(result) for result in op.results]
        if op.name in ("arith.extf", "arith.truncf") and op.operands[0].type == results[0].type:
            results[0].replace_all_uses_with(op.operands[0])
            Rewriter.erase_op(op)


def _narrow(value: SSAValue) -> SSAValue:
    if not _is_double(value.type):
        return value
    return Rewriter.replace_value_with_new_type(value, _single_type(value.type))


def _single_type(type_: Attribute) -> Any:
    return TensorType(Float32Type(), type_.get_shape()) if isinstance(type_, TensorType) else Float32Type()


def _constant(value: Attribute) -> Attribute:
    if isinstance(value, FloatAttr):
        return FloatAttr(float(np.float32(value.value.data)), Float32Type())
    if isinstance(value, DenseIntOrFPElementsAttr):
        data = np.array(value.get_values(), np.float32)
        return DenseIntOrFPElementsAttr.from_list(_single_type(value.type), data.tolist())
    return value
