"""What the text of a network says before it is compiled: is it one, of which type, what may its inputs be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.network.compile import canonicalise
from axiloom.drivergen.network.layers import multiply_adds
from axiloom.drivergen.network.passes import generics
from axiloom.drivergen.network.passes.fold_constants import weight_names

_PASSED_ON = (
    arith.IndexCastOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.SelectOp,
    arith.AddiOp,
    tensor.ExpandShapeOp,
    tensor.CollapseShapeOp,
    tensor.ExtractSliceOp,
)


def index_bounds(function: func.FuncOp) -> list[int | None]:
    """For each argument the size of the smallest table that its elements index; None if they do not."""
    return [_bound(arg) for arg in function.args]


def _bound(value: SSAValue) -> int | None:
    bounds: list[int] = []
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses:
            op = use.operation
            if isinstance(op, tensor.ExtractOp) and use.index > 0:
                assert isinstance(op.tensor.type, TensorType)
                bounds.append(op.tensor.type.get_shape()[use.index - 1])
            else:
                pending += _further(op, use.index, current)
    return min(bounds, default=None)


def _further(op: Operation, operand: int, value: SSAValue) -> list[SSAValue]:
    """The values that are `value`, or made of it, behind a use."""
    if isinstance(op, linalg.YieldOp):
        around = op.parent_op()
        return list(around.results) if around is not None else []
    if isinstance(op, linalg.GenericOp):
        return [op.body.block.args[operand]] if operand < len(op.inputs) else []
    return list(op.results) if isinstance(op, _PASSED_ON) else []


def is_network(text: str, name: str = "input.mlir") -> bool:
    """Whether the function in `text` is for `compile_network`: on tensors, with weights or several ops."""
    function = only_function(parse(text, name), name)
    if not all(isinstance(arg.type, TensorType) for arg in function.args):
        return False
    inits = (tensor.EmptyOp, linalg.FillOp, arith.ConstantOp, func.ReturnOp)
    ops = [op for op in function.body.block.ops if not isinstance(op, inits)]
    return len(ops) != 1 or any(label is not None for label in weight_names(function))


def network_data_type(text: str, weights: Mapping[str, Any], name: str = "input.mlir") -> str:
    """The type of most integer products of a network (by multiply-adds), as accelerators name it: ``int8``.

    ``int32`` where it has none that an accelerator has a type for.
    """
    module = parse(text, name)
    canonicalise(module, dict(weights), name)
    products: dict[str, int] = {}
    for op in only_function(module, name).body.block.ops:
        if isinstance(op, linalg.GenericOp) and generics.is_contraction(op):
            bits = generics.width(generics.element(op.inputs[0]))
            if bits in (8, 16, 32):
                products[f"int{bits}"] = products.get(f"int{bits}", 0) + multiply_adds(op)
    return max(products, key=lambda kind: products[kind], default="int32")
