"""What a function computes, by NumPy: linalg ops evaluated from their indexing maps and bodies.

Of the compiler only the parser is used, and what bufferisation says about which argument is which result.
All integers wrap at the width of their type. A reduction goes through its loops in the order in which they
are written: sums of floats are those of the driver in every bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import IntegerType, ShapedType, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from axiloom.drivergen.c.driver import Arg, arguments
from axiloom.drivergen.dialects.mlir import context, fail, only_function, parse
from axiloom.drivergen.evaluate.body import Array, Values, constant, dtype_of, evaluated
from axiloom.drivergen.evaluate.body import execute as scalar
from axiloom.drivergen.evaluate.tensor import RULES
from axiloom.drivergen.passes.frontend.bufferise import Bufferise
from axiloom.drivergen.passes.frontend.generalise import Generalise

EXACT = 1 << 53
"""Whole numbers up to here are exact in a float64: sums of products below it are computed by BLAS."""


def reference(text: str, inputs: Mapping[str, Array], *, name: str = "input.mlir") -> dict[str, Array]:
    """The outputs of the function in `text`, by symbol of the harness (``axl_arg2``).

    `inputs`: the arrays of all arguments that are in or inout, by symbol; they are not changed.
    """
    function = only_function(parse(text, name), name)
    args = _arguments(text, name)
    arrays = {arg.symbol: np.zeros(arg.shape, evaluated(arg.dtype)) for arg in args}
    for arg in args:
        if arg.kind != "out":
            arrays[arg.symbol][...] = inputs[arg.symbol]
    operands = [arrays[arg.symbol] for arg in args][: len(function.body.block.args)]
    results = evaluate(function, operands)
    for arg in args:
        if arg.result is not None:
            arrays[arg.symbol] = results[arg.result]
    return {arg.symbol: arrays[arg.symbol] for arg in args if arg.kind != "in"}


def evaluate(function: func.FuncOp, arguments: Sequence[Array]) -> list[Array]:
    """The results of a function for arrays as arguments; those that are memrefs are changed in place."""
    values: Values = dict(zip(function.body.block.args, arguments, strict=True))
    with np.errstate(all="ignore"):
        for op in function.body.block.ops:
            if isinstance(op, func.ReturnOp):
                return [values[v] for v in op.arguments]
            execute(op, values)
    return []


def _arguments(text: str, name: str) -> list[Arg]:
    module, ctx = parse(text, name), context()
    Generalise().apply(ctx, module)
    Bufferise().apply(ctx, module)
    return arguments(only_function(module, name))


def execute(op: Operation, values: Values) -> None:
    """One operation of the function's body; memrefs are changed in place, tensors are not."""
    if isinstance(op, arith.ConstantOp):
        values[op.result] = constant(op)
    elif isinstance(op, tensor.EmptyOp | memref.AllocOp):
        kind = op.results[0].type
        assert isinstance(kind, ShapedType)
        element = dtype_of(op, kind.element_type)  # type: ignore[attr-defined]
        values[op.results[0]] = np.zeros(kind.get_shape(), element)
    elif isinstance(op, memref.CopyOp):
        values[op.destination][...] = values[op.source]
    elif isinstance(op, linalg.TransposeOp):
        _store(op, values, 0, np.transpose(values[op.inputs[0]], op.permutation.get_values()), op.outputs[0])
    elif isinstance(op, linalg.BroadcastOp):
        added = np.expand_dims(values[op.input], tuple(op.dimensions.get_values()))
        _store(op, values, 0, np.broadcast_to(added, values[op.init].shape).copy(), op.init)
    elif isinstance(op, linalg.ReduceOp):
        _store(op, values, 0, _reduce(op, values), op.init)
    elif isinstance(op, LinalgStructuredOperation):
        for number, new in enumerate(_linalg(op, values)):
            _store(op, values, number, new, op.outputs[number])
    elif type(op) in RULES:
        values[op.results[0]] = RULES[type(op)](op, values)
    elif op.name.startswith(("arith.", "math.")):
        scalar(op, values)
    else:
        fail(op, "the reference cannot execute it")


def _store(op: Operation, values: Values, number: int, new: Array, old: SSAValue) -> None:
    if isinstance(old.type, TensorType):
        values[op.results[number]] = new
    else:
        values[old][...] = new


def _linalg(op: LinalgStructuredOperation, values: Values) -> list[Array]:
    """The new contents of the outputs of a linalg op."""
    maps = [attr.data for attr in op.get_indexing_maps()]
    kinds = [attr.data for attr in op.get_iterator_types()]
    space = op.get_static_loop_ranges()
    reduced = [loop for loop, kind in enumerate(kinds) if kind != IteratorType.PARALLEL]
    factors = _product(op) if reduced else None
    if factors is not None:
        return [_sum_of_products(op, values, maps, space, factors)]
    inputs = [
        (arg, _view(values[operand], m, space) if isinstance(operand.type, ShapedType) else values[operand])
        for arg, operand, m in zip(op.body.block.args, op.inputs, maps, strict=False)
    ]
    results = [np.array(values[output]) for output in op.outputs]
    outputs = list(op.body.block.args)[len(op.inputs) :]
    views = [_view(result, m, space) for result, m in zip(results, maps[len(op.inputs) :], strict=True)]
    for at in product(*(range(space[loop]) for loop in reduced)):
        place: list[Any] = [slice(None)] * len(space)
        for loop, position in zip(reduced, at, strict=True):
            place[loop] = slice(position, position + 1)
        inner = dict(values)
        for arg, array in inputs:
            inner[arg] = array[tuple(place)] if array.ndim else array
        inner |= {arg: view[tuple(place)] for arg, view in zip(outputs, views, strict=True)}
        yielded = _body(op, inner, space, dict(zip(reduced, at, strict=True)))
        for view, new in zip(views, yielded, strict=True):
            view[tuple(place)] = new
    return results


def _body(
    op: LinalgStructuredOperation, inner: Values, space: Sequence[int], fixed: Mapping[int, int]
) -> list[Array]:
    """What the body yields; `fixed` are the positions of the loops that reduce."""
    for instruction in op.body.block.ops:
        if isinstance(instruction, linalg.YieldOp):
            return [np.asarray(inner[v]) for v in instruction.operands]
        if isinstance(instruction, linalg.IndexOp):
            loop = instruction.dim.value.data
            shape = [-1 if other == loop else 1 for other in range(len(space))]
            counts = np.array([fixed[loop]]) if loop in fixed else np.arange(space[loop])
            inner[instruction.result] = counts.reshape(shape)
        elif isinstance(instruction, tensor.ExtractOp | memref.LoadOp):
            inner[instruction.results[0]] = np.asarray(
                inner[instruction.operands[0]][tuple(inner[i] for i in instruction.indices)]
            )
        else:
            scalar(instruction, inner)
    return []


def _view(array: Array, indexing: AffineMap, space: Sequence[int]) -> Array:
    """`array` with one axis for each loop, without a copy where its index is a sum of multiples of loops."""
    zeros = [0] * len(space)
    first = indexing.eval(zeros, [])
    steps = []
    for loop in range(len(space)):
        at = [int(other == loop) for other in range(len(space))]
        steps.append([b - a for a, b in zip(first, indexing.eval(at, []), strict=True)])
    if not _is_linear(indexing, space, first, steps):
        grids = np.indices(space).reshape(len(space), -1)
        places = np.array([indexing.eval([int(v) for v in point], []) for point in grids.T])
        return np.asarray(array[tuple(places.T)].reshape(space))
    strides = [sum(s * array.strides[dim] for dim, s in enumerate(step)) for step in steps]
    begin = array[tuple(slice(at, None) for at in first)] if first else array
    return np.lib.stride_tricks.as_strided(begin, tuple(space), strides)


def _is_linear(
    indexing: AffineMap, space: Sequence[int], first: Sequence[int], steps: Sequence[Sequence[int]]
) -> bool:
    """Checked at the corners: quotients and remainders are the only other expressions there are."""
    text = str(indexing)
    if "mod" not in text and "floordiv" not in text and "ceildiv" not in text:
        return True
    last = [size - 1 for size in space]
    linear = [f + sum(step[d] * n for step, n in zip(steps, last, strict=True)) for d, f in enumerate(first)]
    return linear == list(indexing.eval(last, [])) and "mod" not in text and "div" not in text


def _sum_of_products(
    op: LinalgStructuredOperation,
    values: Values,
    maps: Sequence[AffineMap],
    space: Sequence[int],
    factors: tuple[int, int],
) -> Array:
    """Output + sum of a * b of integers: any order of the sum is the same mod 2^n."""
    kind = dtype_of(op, op.body.block.args[-1].type)
    out = np.array(values[op.outputs[0]])
    arrays = [values[op.operands[i]] for i in factors]
    largest = [int(np.abs(a.astype(np.float64)).max(initial=0)) for a in arrays]
    count = int(np.prod(space)) // max(out.size, 1)
    wide = np.float64 if largest[0] * largest[1] * count < EXACT else kind
    letters: list[Any] = []
    for number, array in zip(factors, arrays, strict=True):
        used = sorted(set().union(*(e.used_dims() for e in maps[number].results)))
        view = _view(array.astype(wide), maps[number], space)
        place = tuple(slice(None) if loop in used else 0 for loop in range(len(space)))
        letters += [view[place], used]
    kept = [loop for loop in range(len(space)) if any(loop in e.used_dims() for e in maps[-1].results)]
    total = np.einsum(*letters, kept, optimize=wide is np.float64)
    whole = total.astype(np.int64).astype(kind) if wide is np.float64 else total
    view = _view(out, maps[-1], space)
    view[tuple(slice(None) if loop in kept else 0 for loop in range(len(space)))] += whole
    return out


def _reduce(op: linalg.ReduceOp, values: Values) -> Array:
    """Along its dims, the last one fastest."""
    source, result = values[op.input], np.array(values[op.init])
    dims = tuple(op.dimensions.get_values())
    moved = np.moveaxis(source, dims, range(len(dims)))
    element, total = op.region.block.args
    for at in product(*(range(source.shape[dim]) for dim in dims)):
        inner = dict(values)
        inner |= {element: moved[at], total: result}
        for instruction in op.region.block.ops:
            if isinstance(instruction, linalg.YieldOp):
                result = inner[instruction.operands[0]]
            else:
                scalar(instruction, inner)
    return result


def _product(op: LinalgStructuredOperation) -> tuple[int, int] | None:
    """The operands whose sign-extended product of integers the body adds up, if that is what it does."""
    args: list[SSAValue] = list(op.body.block.args)
    last = op.body.block.last_op
    if len(args) != 3 or last is None or not isinstance(args[-1].type, IntegerType):
        return None
    total = last.operands[0].owner
    if not isinstance(total, arith.AddiOp) or args[-1] not in total.operands:
        return None
    factor = (total.rhs if total.lhs is args[-1] else total.lhs).owner
    if not isinstance(factor, arith.MuliOp):
        return None
    factors = [v.owner.input if isinstance(v.owner, arith.ExtSIOp) else v for v in factor.operands]
    if not all(v in args[:2] for v in factors):
        return None
    return args.index(factors[0]), args.index(factors[1])
