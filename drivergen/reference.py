"""What a function computes, by NumPy: linalg ops evaluated from their indexing maps and bodies.

Of the compiler only the parser is used, and what bufferisation says about which argument is which result.
All integers wrap at the width of their type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from axiloom.drivergen.driver import Arg, arguments
from axiloom.drivergen.mlir import context, fail, only_function, parse
from axiloom.drivergen.passes.bufferise import Bufferise
from axiloom.drivergen.passes.generalise import Generalise

Array = np.ndarray[Any, Any]
Values = dict[SSAValue, Array]

_BINARY: dict[type[Operation], Callable[..., Array]] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
}
_CASTS = (arith.ExtSIOp, arith.TruncIOp, arith.IndexCastOp)


def reference(text: str, inputs: Mapping[str, Array], *, name: str = "input.mlir") -> dict[str, Array]:
    """The outputs of the function in `text`, by symbol of the harness (``axl_arg2``).

    `inputs`: the arrays of all arguments that are in or inout, by symbol; they are not changed.
    """
    function = only_function(parse(text, name), name)
    args = _arguments(text, name)
    arrays = {arg.symbol: np.zeros(arg.shape, arg.dtype) for arg in args}
    for arg in args:
        if arg.kind != "out":
            arrays[arg.symbol][...] = inputs[arg.symbol]
    values: Values = {
        value: arrays[arg.symbol] for value, arg in zip(function.body.block.args, args, strict=False)
    }
    results: list[Array] = []
    for op in function.body.block.ops:
        if isinstance(op, func.ReturnOp):
            results = [values[v] for v in op.arguments]
        else:
            _execute(op, values)
    for arg in args:
        if arg.result is not None:
            arrays[arg.symbol] = results[arg.result]
    return {arg.symbol: arrays[arg.symbol] for arg in args if arg.kind != "in"}


def _arguments(text: str, name: str) -> list[Arg]:
    module, ctx = parse(text, name), context()
    Generalise().apply(ctx, module)
    Bufferise().apply(ctx, module)
    return arguments(only_function(module, name))


def _dtype(kind: Attribute) -> np.dtype[Any]:
    if isinstance(kind, IndexType):
        return np.dtype(np.int64)
    assert isinstance(kind, IntegerType)
    return np.dtype(f"int{kind.width.data}")


def _execute(op: Operation, values: Values) -> None:
    """One operation of the function's body; memrefs are changed in place, tensors are not."""
    if isinstance(op, arith.ConstantOp):
        values[op.result] = _constant(op)
    elif isinstance(op, tensor.EmptyOp | memref.AllocOp):
        kind = op.results[0].type
        assert isinstance(kind, ShapedType)
        values[op.results[0]] = np.zeros(kind.get_shape(), _dtype(kind.element_type))  # type: ignore[attr-defined]
    elif isinstance(op, memref.CopyOp):
        values[op.destination][...] = values[op.source]
    elif isinstance(op, LinalgStructuredOperation):
        for old, new in zip(op.outputs, _linalg(op, values), strict=True):
            if isinstance(old.type, TensorType):
                values[op.results[list(op.outputs).index(old)]] = new
            else:
                values[old][...] = new
    else:
        fail(op, "the reference cannot execute it")


def _constant(op: arith.ConstantOp) -> Array:
    kind = op.result.type
    if isinstance(op.value, IntegerAttr):
        return np.array(op.value.value.data).astype(_dtype(kind))
    if not isinstance(op.value, DenseIntOrFPElementsAttr) or not isinstance(kind, TensorType):
        fail(op, "the reference cannot execute it")
    return np.array(op.value.get_values()).astype(_dtype(kind.element_type)).reshape(kind.get_shape())


def _linalg(op: LinalgStructuredOperation, values: Values) -> list[Array]:
    """The new contents of the outputs of a linalg op."""
    maps = [attr.data for attr in op.get_indexing_maps()]
    kinds = [attr.data for attr in op.get_iterator_types()]
    reduced = tuple(loop for loop, kind in enumerate(kinds) if kind != IteratorType.PARALLEL)
    product = _product(op) if reduced else None
    if product is not None:
        # The common case, without an array as large as the iteration space.
        letters = [[_loop(op, e) for e in m.results] for m in maps]
        wide = [values[op.operands[i]].astype(_dtype(op.body.block.args[-1].type)) for i in product]
        total = np.einsum(wide[0], letters[product[0]], wide[1], letters[product[1]], letters[-1])
        return [values[op.outputs[0]] + total]
    space = op.get_static_loop_ranges()
    inner: Values = {
        arg: _spread(op, values[operand], m, len(space))
        for arg, operand, m in zip(op.body.block.args, op.operands, maps, strict=True)
    }
    outputs = list(op.body.block.args)[len(op.inputs) :]
    yielded: Sequence[SSAValue] = ()
    for one in op.body.block.ops:
        if isinstance(one, linalg.YieldOp):
            yielded = one.operands
        elif isinstance(one, linalg.IndexOp):
            shape = [-1 if loop == one.dim.value.data else 1 for loop in range(len(space))]
            inner[one.result] = np.arange(space[one.dim.value.data]).reshape(shape)
        else:
            _scalar(one, inner)
    results = []
    for value, arg, m in zip(yielded, outputs, maps[len(op.inputs) :], strict=True):
        if reduced:
            term = _summand(op, value, arg)
            total = np.broadcast_to(inner[term], space).sum(reduced, dtype=_dtype(arg.type), keepdims=True)
            result = inner[arg] + total
        else:
            result = inner.get(value, values.get(value))
        kept = [_loop(op, e) for e in m.results]
        full = np.broadcast_to(result, [1 if loop in reduced else size for loop, size in enumerate(space)])
        dropped = full.squeeze(reduced) if reduced else full
        left = [loop for loop in range(len(space)) if loop not in reduced]
        results.append(np.array(dropped.transpose([left.index(loop) for loop in kept])))
    return results


def _loop(op: Operation, expression: object) -> int:
    if not isinstance(expression, AffineDimExpr):
        fail(op, f"the reference cannot execute the index {expression}")
    return expression.position


def _spread(op: Operation, array: Array, indexing: AffineMap, loops: int) -> Array:
    """`array` with one axis for each loop, of size 1 where the loop does not run over it."""
    axes = [_loop(op, e) for e in indexing.results]
    sizes = dict(zip(axes, array.shape, strict=True))
    turned = array.transpose([axes.index(loop) for loop in sorted(axes)])
    return turned.reshape([sizes.get(loop, 1) for loop in range(loops)])


def _scalar(op: Operation, values: Values) -> None:
    """One operation of a linalg op's body, on all elements at once."""
    if isinstance(op, arith.ConstantOp):
        values[op.result] = _constant(op)
    elif isinstance(op, _CASTS):
        values[op.results[0]] = values[op.operands[0]].astype(_dtype(op.results[0].type))
    elif type(op) in _BINARY:
        left, right = (values[v] for v in op.operands)
        values[op.results[0]] = _BINARY[type(op)](left, right)
    else:
        fail(op, "the reference cannot execute it")


def _summand(op: Operation, value: SSAValue, accumulator: SSAValue) -> SSAValue:
    """x of a reduction that yields accumulator + x."""
    total = value.owner
    if not isinstance(total, arith.AddiOp) or accumulator not in total.operands:
        fail(op, "the reference cannot execute a reduction that is no sum")
    return total.rhs if total.lhs is accumulator else total.lhs


def _product(op: LinalgStructuredOperation) -> tuple[int, int] | None:
    """The operands whose sign-extended product the body adds up, if that is what it does."""
    args: list[SSAValue] = list(op.body.block.args)
    last = op.body.block.last_op
    if len(args) != 3 or last is None:
        return None
    factor = _summand(op, last.operands[0], args[-1]).owner
    if not isinstance(factor, arith.MuliOp):
        return None
    found = [v.owner.input if isinstance(v.owner, arith.ExtSIOp) else v for v in factor.operands]
    if not all(v in args[:2] for v in found):
        return None
    return args.index(found[0]), args.index(found[1])
