"""Operations of the tensor dialect by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.evaluate.body import Array, Values


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return tuple(value.type.get_shape())


def _reshape(op: Operation, values: Values) -> Array:
    return values[op.operands[0]].reshape(_shape(op.results[0]))


def _pad(op: tensor.PadOp, values: Values) -> Array:
    last = op.region.block.last_op
    if last is None or last.operands[0] not in values:
        fail(op, "the reference cannot execute padding with more than one value")
    result = np.full(_shape(op.result), values[last.operands[0]])
    sizes = _shape(op.source)
    low = op.static_low.get_values()
    if any(edge < 0 for edge in (*low, *op.static_high.get_values())):
        fail(op, "the reference cannot execute padding that is negative or not known")
    result[tuple(slice(at, at + size) for at, size in zip(low, sizes, strict=True))] = values[op.source]
    return result


def _places(op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> tuple[slice, ...]:
    lists = (op.static_offsets, op.static_sizes, op.static_strides)
    return tuple(
        slice(begin, begin + (size - 1) * step + 1, step)
        for begin, size, step in zip(*(array.get_values() for array in lists), strict=True)
    )


def _extract_slice(op: tensor.ExtractSliceOp, values: Values) -> Array:
    return values[op.source][_places(op)].reshape(_shape(op.result))


def _insert_slice(op: tensor.InsertSliceOp, values: Values) -> Array:
    result = values[op.dest].copy()
    place = _places(op)
    result[place] = values[op.source].reshape(result[place].shape)
    return result


def _concat(op: tensor.ConcatOp, values: Values) -> Array:
    return np.concatenate([values[v] for v in op.inputs], axis=op.dim.value.data)


def _splat(op: tensor.SplatOp, values: Values) -> Array:
    return np.full(_shape(op.result), values[op.input])


def _extract(op: tensor.ExtractOp, values: Values) -> Array:
    return np.asarray(values[op.tensor][tuple(values[i] for i in op.indices)])


RULES: Mapping[type[Operation], Callable[..., Array]] = {
    tensor.ExpandShapeOp: _reshape,
    tensor.CollapseShapeOp: _reshape,
    tensor.CastOp: _reshape,
    tensor.PadOp: _pad,
    tensor.ExtractSliceOp: _extract_slice,
    tensor.InsertSliceOp: _insert_slice,
    tensor.ConcatOp: _concat,
    tensor.SplatOp: _splat,
    tensor.ExtractOp: _extract,
}
