"""The integer graph in NumPy, exact in every bit: what the MLIR of the same graph must give.

Products run on BLAS in floating point: sums of integers are exact there as long as none of them, in any
order, leaves the integers that the type holds without gaps (2**24 in float32, 2**53 in float64).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from axiloom.base.errors import UsageError
from axiloom.quantise.graph.graph import (
    Add,
    Bias,
    Concat,
    Constant,
    Conv,
    Embedding,
    Graph,
    Input,
    LayerNorm,
    Linear,
    MatMul,
    MaxPool,
    Mul,
    Node,
    Pad,
    Requantise,
    Reshape,
    Shift,
    Slice,
    Softmax,
    SumPool,
    Table,
    Transpose,
)

Array = Any
"""numpy.ndarray; NumPy types most of what is done with one here as Any anyway."""
_FLOAT32_EXACT = 1 << 24
_FLOAT64_EXACT = 1 << 53


def execute(
    graph: Graph,
    inputs: Mapping[str, Array],
    *,
    keep: bool = False,
    progress: Callable[[str], None] = lambda _line: None,
) -> dict[str, Array]:
    """The outputs by name, or every value if `keep`. `inputs`: int8 or int32 arrays by name."""
    last = {name: number for number, node in enumerate(graph.nodes) for name in node.inputs}
    values: dict[str, Array] = {}
    for number, node in enumerate(graph.nodes):
        progress(f"{node.name} ({number + 1} of {len(graph.nodes)})")
        if isinstance(node, Input):
            values[node.name] = _given(node, inputs)
        else:
            values[node.name] = run(node, [values[name] for name in node.inputs])
        if not keep:
            for name in node.inputs:
                if last[name] == number and name not in graph.outputs:
                    values.pop(name, None)
    return values if keep else {name: values[name] for name in graph.outputs}


def _given(node: Input, inputs: Mapping[str, Array]) -> Array:
    if node.name not in inputs:
        raise UsageError(f"no input `{node.name}`; there are {', '.join(inputs) or 'none'}")
    value = np.asarray(inputs[node.name])
    if value.shape != node.shape or value.dtype != node.dtype:
        raise UsageError(
            f"input `{node.name}` is {value.dtype}{list(value.shape)}, not {node.dtype}{list(node.shape)}"
        )
    return value


def run(node: Node, inputs: list[Array]) -> Array:
    """The value of one node. Each formula is that of the node's docstring in `graph`."""
    value: Array = _RUN[type(node)](node, *inputs)
    return value


def exact_matmul(a: Array, b: Array) -> Array:
    """int32 sums of int8 matrices (batched as in NumPy), by BLAS, wrapping mod 2**32."""
    # No partial sum, in whatever order, is larger than the sum of the magnitudes.
    largest = int(np.abs(b.astype(np.int32)).sum(-2).max(initial=0)) * int(
        np.abs(a.astype(np.int32)).max(initial=0)
    )
    kind = np.float32 if largest < _FLOAT32_EXACT else np.float64
    assert largest < _FLOAT64_EXACT
    return _wrapped(a.astype(kind) @ b.astype(kind))


def _wrapped(sums: Array) -> Array:
    return sums.astype(np.int64).astype(np.int32)


def _constant(node: Constant) -> Array:
    return node.data


def _windows(
    x: Array, kernel: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int] = (1, 1)
) -> Array:
    """A view (b, c, oh, ow, fh, fw) of x (b, c, h, w)."""
    span = tuple((size - 1) * step + 1 for size, step in zip(kernel, dilation, strict=True))
    every = np.lib.stride_tricks.sliding_window_view(x, span, axis=(2, 3))
    return every[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def _padded(x: Array, padding: tuple[int, int], value: int) -> Array:
    if padding == (0, 0):
        return x
    rows, columns = padding
    return np.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)), constant_values=value)


def _conv(node: Conv, x: Array) -> Array:
    oc, ic, fh, fw = node.weight.shape
    windows = _windows(_padded(x, node.padding, 0), (fh, fw), node.stride, node.dilation)
    b, _, oh, ow = windows.shape[:4]
    if node.groups > 1:
        wide = np.einsum("bcyxij,cij->bcyx", windows, node.weight[:, 0], dtype=np.int64)
        return _wrapped(wide)
    columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(b * oh * ow, ic * fh * fw)
    sums = exact_matmul(columns, node.weight.reshape(oc, -1).T)
    return np.ascontiguousarray(sums.reshape(b, oh, ow, oc).transpose(0, 3, 1, 2))


def _linear(node: Linear, x: Array) -> Array:
    return exact_matmul(x, node.weight)


def _matmul(node: MatMul, a: Array, b: Array) -> Array:
    return exact_matmul(a, b)


def _sum_pool(node: SumPool, x: Array) -> Array:
    windows = _windows(_padded(x, node.padding, 0), node.kernel, node.stride)
    return windows.sum((4, 5), dtype=np.int32)


def _along(values: Array, axis: int, rank: int) -> Array:
    """A channel's values, shaped to broadcast along `axis`."""
    return values.reshape([-1 if dim == axis else 1 for dim in range(rank)])


def _bias(node: Bias, x: Array) -> Array:
    return x + _along(node.bias, node.axis, x.ndim)


def _requantise(node: Requantise, x: Array) -> Array:
    bias, factor, shift = (
        _along(values, node.axis, x.ndim) for values in (node.bias, node.multiplier, node.shift)
    )
    wide = (x + bias).astype(np.int64) * factor.astype(np.int64)
    places = shift.astype(np.int64)
    rounded = (wide + ((np.int64(1) << places) >> 1)) >> places
    return np.clip(rounded, node.lo, node.hi).astype(np.int8)


def _shift(node: Shift, x: Array) -> Array:
    return np.clip(
        (x + _along(node.bias, node.axis, x.ndim)) >> np.int32(node.shift), node.lo, node.hi
    ).astype(np.int8)


def _half(shift: int) -> int:
    return (1 << shift) >> 1


def _add(node: Add, a: Array, b: Array) -> Array:
    wide = a.astype(np.int32) * np.int32(node.first) + b.astype(np.int32) * np.int32(node.second)
    return np.clip((wide + np.int32(_half(node.shift))) >> node.shift, node.lo, node.hi).astype(np.int8)


def _mul(node: Mul, a: Array, b: Array) -> Array:
    wide = a.astype(np.int32) * b.astype(np.int32) * np.int32(node.factor)
    return np.clip((wide + np.int32(_half(node.shift))) >> node.shift, -128, 127).astype(np.int8)


def _table(node: Table, x: Array) -> Array:
    return node.table[x.astype(np.int32) + 128]


def _max_pool(node: MaxPool, x: Array) -> Array:
    return _windows(_padded(x, node.padding, -128), node.kernel, node.stride).max((4, 5))


def _softmax(node: Softmax, x: Array) -> Array:
    wide = x.astype(np.int32)
    powers = node.table[wide.max(-1, keepdims=True) - wide]
    inverse = np.int32(node.numerator) // powers.sum(-1, keepdims=True, dtype=np.int32)
    rounded = (powers * inverse + np.int32(_half(node.shift))) >> node.shift
    return np.minimum(rounded, 127).astype(np.int8)


def _layer_norm(node: LayerNorm, x: Array) -> Array:
    n = np.int32(x.shape[-1])
    wide = x.astype(np.int32)
    total = wide.sum(-1, keepdims=True, dtype=np.int32)
    squares = (wide * wide).sum(-1, keepdims=True, dtype=np.int32)
    spread = squares.astype(np.int64) * np.int64(n) - total.astype(np.int64) ** 2
    root = np.sqrt(spread.astype(np.float32) + np.float32(node.epsilon))
    inverse = (np.float32(1 << 24) / root).astype(np.int32)
    normal = ((n * wide - total) * inverse + np.int32(1 << 13)) >> 14
    return np.clip((normal * node.gain + node.offset) >> node.shift, -128, 127).astype(np.int8)


def _embedding(node: Embedding, indices: Array) -> Array:
    return node.table[indices]


def _reshape(node: Reshape, x: Array) -> Array:
    return x.reshape(node.shape)


def _transpose(node: Transpose, x: Array) -> Array:
    return np.ascontiguousarray(x.transpose(node.permutation))


def _slice(node: Slice, x: Array) -> Array:
    places = zip(node.offsets, node.shape, node.strides, strict=True)
    return x[tuple(slice(at, at + (size - 1) * step + 1, step) for at, size, step in places)]


def _pad(node: Pad, x: Array) -> Array:
    return np.pad(x, list(zip(node.low, node.high, strict=True)), constant_values=node.value)


def _concat(node: Concat, *parts: Array) -> Array:
    return np.concatenate(parts, node.axis)


_RUN: dict[type[Node], Callable[..., Array]] = {
    Constant: _constant,
    Conv: _conv,
    Linear: _linear,
    MatMul: _matmul,
    SumPool: _sum_pool,
    Bias: _bias,
    Requantise: _requantise,
    Shift: _shift,
    Add: _add,
    Mul: _mul,
    Table: _table,
    MaxPool: _max_pool,
    Softmax: _softmax,
    LayerNorm: _layer_norm,
    Embedding: _embedding,
    Reshape: _reshape,
    Transpose: _transpose,
    Slice: _slice,
    Pad: _pad,
    Concat: _concat,
}
