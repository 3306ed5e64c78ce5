"""What is computed from weights alone is computed now."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from axiloom.base.attributes import WEIGHT
from axiloom.drivergen.evaluate.body import Values, constant
from axiloom.drivergen.evaluate.reference import execute
from axiloom.drivergen.network.passes import generics
from axiloom.drivergen.network.passes.own_inits import splat

Array = np.ndarray[Any, Any]


def weight_names(function: func.FuncOp) -> list[str | None]:
    """For each argument the name of its weight, None for an input."""
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    labels = [attribute.data.get(WEIGHT) for attribute in attributes] or [None] * len(function.args)
    return [name.data if isinstance(name, StringAttr) else None for name in labels]


def fold_constants(function: func.FuncOp, weights: MutableMapping[str, Array]) -> None:
    """Replace ops whose operands are all weights by new weights, and large constants of the text too.

    `weights` gets the new arrays. What would take more memory than its operands do stays an op: bias that is
    broadcast, int8 weights that are widened.

    ::

        %t = linalg.transpose ins(%w : tensor<10x8xf32>) outs(...)        {axiloom.weight = "fc.weight"}
        %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>

    become arguments with ``{axiloom.weight = "fc.weight.folded"}`` and ``{axiloom.weight = "constant"}``.
    """
    names = weight_names(function)
    known: Values = {}
    for arg, name in zip(function.args, names, strict=True):
        if name is not None:
            known[arg] = weights[name]
    labels: dict[SSAValue, str] = {arg: name for arg, name in zip(function.args, names, strict=True) if name}
    for op in list(function.body.block.ops):
        value = _value(op, known, labels)
        if value is None:
            continue
        result = op.results[0]
        if result.first_use is None:
            continue
        sources = [labels[v] for v in op.operands if v in labels]
        label = _unused(f"{sources[0]}.folded" if sources else "constant", weights)
        weights[label] = value
        known[result] = value
        labels[result] = label
        _as_argument(function, result, label)
        Rewriter.erase_op(op)
    generics.drop_unused(function.body.block)


def _unused(label: str, weights: Mapping[str, Array]) -> str:
    number, name = 1, label
    while name in weights:
        number += 1
        name = f"{label}{number}"
    return name


def _value(op: Operation, known: Values, labels: Mapping[SSAValue, str]) -> Array | None:
    """What `op` gives, if that is known and worth knowing."""
    if isinstance(op, arith.ConstantOp):
        if not isinstance(op.result.type, TensorType) or splat(op) is not None:
            return None
        return constant(op)
    if not op.results or not isinstance(op.results[0].type, TensorType) or len(op.results) != 1:
        return None
    if not any(v in labels for v in op.operands) or isinstance(op, linalg.FillOp | tensor.EmptyOp):
        return None
    values = dict(known)
    pending = [v for v in _needed(op) if v not in values]
    for v in pending:
        init = v.owner
        if not isinstance(init, linalg.FillOp | tensor.EmptyOp | arith.ConstantOp):
            return None
        for inner in (*(o.owner for o in init.operands), init):
            if not isinstance(inner, linalg.FillOp | tensor.EmptyOp | arith.ConstantOp):
                return None
            execute(inner, values)
    execute(op, values)
    value = values[op.results[0]]
    read = sum(known[v].nbytes for v in op.operands if v in labels)
    return np.ascontiguousarray(value) if value.nbytes <= read else None


def _needed(op: Operation) -> list[SSAValue]:
    """Values from outside that `op` and its body use."""
    inside = {result for inner in op.walk() for result in inner.results}
    inside |= {
        arg for inner in op.walk() for region in inner.regions for b in region.blocks for arg in b.args
    }
    return [v for inner in op.walk() for v in inner.operands if v not in inside]


def _as_argument(function: func.FuncOp, value: SSAValue, label: str) -> None:
    block = function.body.block
    attributes = list(function.arg_attrs.data if function.arg_attrs is not None else ())
    attributes += [DictionaryAttr({})] * (len(block.args) - len(attributes))
    new = block.insert_arg(value.type, len(block.args))
    new.name_hint = value.name_hint
    value.replace_all_uses_with(new)
    function.arg_attrs = ArrayAttr([*attributes, DictionaryAttr({WEIGHT: StringAttr(label)})])
    function.function_type = FunctionType.from_lists(block.arg_types, function.function_type.outputs.data)
