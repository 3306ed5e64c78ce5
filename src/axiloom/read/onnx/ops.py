"""What ONNX ops are in torch: a function an op, with the names of its schema.

A parameter of a function is an input or an attribute, whichever the schema of the file's opset has under that
name. `onnx_network` fills in defaults from the schema, and refuses an attribute that a function does not
take, unless it has its default. ``*inputs`` takes all inputs in their order, and no attribute. A parameter
annotated `Known` must not depend on an input, and comes as an array. `_opset` and `_outputs` are the file's
opset and how many results the node has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import onnx
import torch
from onnx.reference import ReferenceEvaluator
from torch.nn import functional

from axiloom.read.onnx.function import NodeError
from axiloom.read.onnx.recurrent import gru, lstm, rnn
from axiloom.read.onnx.windows import (
    average_pool,
    conv,
    conv_transpose,
    global_average_pool,
    global_max_pool,
    max_pool,
)

Known = np.ndarray[Any, Any]


# -- products and norms ----------------------------------------------------------------------------------
def _gemm(
    A: Any, B: Any, C: Any = None, alpha: float = 1, beta: float = 1, transA: int = 0, transB: int = 0
) -> Any:
    if alpha != 1:
        B = B * alpha
    result = torch.matmul(A.t() if transA else A, B.t() if transB else B)
    if C is None or beta == 0:
        return result
    return result + (C if beta == 1 else C * beta)


def _batch_norm(
    X: Any, scale: Any, B: Any, input_mean: Any, input_var: Any, epsilon: float = 1e-5, momentum: float = 0.9
) -> Any:
    """`momentum` is of training alone."""
    return functional.batch_norm(X, input_mean, input_var, scale, B, eps=epsilon)


def _layer_norm(X: Any, Scale: Any, B: Any = None, axis: int = -1, epsilon: float = 1e-5) -> Any:
    sizes = X.shape[axis % X.dim() :]
    if Scale.shape != sizes:
        Scale = Scale.expand(sizes)
    if B is not None and B.shape != sizes:
        B = B.expand(sizes)
    return functional.layer_norm(X, sizes, Scale, B, epsilon)


# -- element by element ----------------------------------------------------------------------------------
def _hard_sigmoid(X: Any, alpha: float, beta: float) -> Any:
    return torch.clamp(alpha * X + beta, 0, 1)


def _clip(input: Any, min: Known | None = None, max: Known | None = None) -> Any:
    low, high = (None if limit is None else float(limit) for limit in (min, max))
    if low is None and high is None:
        return input
    return torch.clamp(input, low, high)


def _selu(X: Any, alpha: float, gamma: float) -> Any:
    return gamma * torch.where(X > 0, X, alpha * (torch.exp(X) - 1))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """An op without attributes, whose inputs are the function's arguments in their order."""
    return lambda *inputs: function(*inputs)


def _folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """An op of any number of inputs, from left to right."""
    return lambda *inputs: reduce(function, inputs)


def _cast(input: Any, to: int) -> Any:
    return _as_type(input, onnx.helper.tensor_dtype_to_np_dtype(to))


def _as_type(x: Any, kind: np.dtype[Any]) -> Any:
    number = x.dtype.is_floating_point
    if kind == np.float32:
        return x.to(torch.float32)
    if kind.kind in "iu" and not number and x.dtype != torch.bool and kind.itemsize >= x.element_size():
        return x.to(torch.int64)  # an index, which no type changes
    raise NodeError(
        f"from {str(x.dtype).removeprefix('torch.')} to {kind}: only to float32, or of an index to more bits"
    )


def _dropout(data: Any, ratio: Any = None, training_mode: Known | None = None, seed: int = 0) -> Any:
    if training_mode is not None and bool(training_mode):
        raise NodeError("in training mode")
    return data


def _prelu(X: Any, slope: Any) -> Any:
    return torch.clamp(X, min=0) + slope * torch.clamp(X, max=0)


# -- over dims -------------------------------------------------------------------------------------------
def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def over(data: Any, axes: Known | None = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        dims = [] if axes is None else [int(axis) % data.dim() for axis in np.ravel(axes)]
        if not dims and noop_with_empty_axes:
            return data
        return function(data, dims or list(range(data.dim())), keepdim=bool(keepdims))

    return over


def _smallest(data: Any, dims: list[int], keepdim: bool) -> Any:
    """Of floats by the largest, which int8 has a node for."""
    if data.is_floating_point():
        return -torch.amax(-data, dims, keepdim=keepdim)
    return torch.amin(data, dims, keepdim=keepdim)


# -- places ----------------------------------------------------------------------------------------------
def _reshape(data: Any, shape: Known, allowzero: int = 0) -> Any:
    sizes = [int(size) for size in shape]
    if not allowzero:
        sizes = [data.shape[at] if size == 0 else size for at, size in enumerate(sizes)]
    return torch.reshape(data, sizes)


def _flatten(input: Any, axis: int) -> Any:
    at = axis % input.dim() if axis < 0 else axis
    return torch.reshape(input, [math.prod(input.shape[:at]), math.prod(input.shape[at:])])


def _squeeze(data: Any, axes: Known | None = None) -> Any:
    dims = range(data.dim()) if axes is None else [int(axis) % data.dim() for axis in axes]
    if axes is not None and any(data.shape[dim] != 1 for dim in dims):
        raise NodeError(f"an axis of {list(axes)} has more than one element in {list(data.shape)}")
    return torch.reshape(data, [size for dim, size in enumerate(data.shape) if dim not in dims or size != 1])


def _unsqueeze(data: Any, axes: Known) -> Any:
    rank = data.dim() + len(axes)
    new, sizes = {int(axis) % rank for axis in axes}, iter(data.shape)
    return torch.reshape(data, [1 if dim in new else next(sizes) for dim in range(rank)])


def _transpose(data: Any, perm: Sequence[int] | None = None) -> Any:
    return torch.permute(data, list(perm) if perm is not None else list(range(data.dim()))[::-1])


def _split(
    input: Any, split: Known | None = None, axis: int = 0, num_outputs: int | None = None, _outputs: int = 1
) -> Any:
    if split is not None:
        return torch.split(input, [int(part) for part in split], axis)
    return torch.split(input, -(-input.shape[axis] // (num_outputs or _outputs)), axis)


def _slice(
    data: Any, starts: Known, ends: Known, axes: Known | None = None, steps: Known | None = None
) -> Any:
    dims = range(len(starts)) if axes is None else [int(axis) for axis in axes]
    by = [1] * len(starts) if steps is None else [int(step) for step in steps]
    for dim, start, end, step in zip(dims, starts, ends, by, strict=True):
        places = range(data.shape[dim])[int(start) : int(end) : step]  # limits as ONNX has them, and NumPy
        if not places:
            raise NodeError("nothing is left")
        if step > 0:
            data = torch.ops.aten.slice(data, dim, places[0], places[-1] + 1, step)
        else:
            data = take(data, dim, list(places))
    return data


def take(x: Any, dim: int, places: Sequence[int]) -> Any:
    """The elements at `places` of one dim."""
    if list(places) == list(range(x.shape[dim])):
        return x
    return torch.index_select(x, dim, torch.tensor(list(places)))


def _gather(data: Any, indices: Any, axis: int = 0) -> Any:
    if isinstance(indices, torch.Tensor):
        if axis % data.dim() or data.dim() != 2:
            raise NodeError("by indices that depend on an input: only rows of a known matrix")
        return functional.embedding(indices.to(torch.int64), data)
    dim, size = axis % data.dim(), data.shape[axis]
    if indices.size and not -size <= indices.min() <= indices.max() < size:
        raise NodeError(f"indices from {indices.min()} to {indices.max()} of {size} elements")
    places = [int(place) % size for place in np.ravel(indices)]
    shape = [*data.shape[:dim], *indices.shape, *data.shape[dim + 1 :]]
    return torch.reshape(take(data, dim, places), shape)


def _expand(input: Any, shape: Known) -> Any:
    return input.expand(torch.broadcast_shapes(input.shape, tuple(int(size) for size in shape)))


def _tile(input: Any, repeats: Known) -> Any:
    for dim, times in enumerate(repeats):
        input = take(input, dim, list(range(input.shape[dim])) * int(times))
    return input


def _pad(
    data: Any,
    pads: Known,
    constant_value: Known | None = None,
    axes: Known | None = None,
    mode: str = "constant",
) -> Any:
    dims = list(range(data.dim())) if axes is None else [int(axis) % data.dim() for axis in axes]
    edges = {dim: (int(pads[at]), int(pads[at + len(dims)])) for at, dim in enumerate(dims)}
    if mode == "constant":
        flat = [edge for dim in reversed(range(data.dim())) for edge in edges.get(dim, (0, 0))]
        return functional.pad(data, flat, value=0.0 if constant_value is None else float(constant_value))
    for dim, (before, behind) in edges.items():
        if min(before, behind) < 0:
            raise NodeError(f"mode {mode} with a negative padding")
        data = take(data, dim, list(np.pad(np.arange(data.shape[dim]), (before, behind), mode)))  # type: ignore[call-overload]
    return data


def _depth_to_space(input: Any, blocksize: int, mode: str) -> Any:
    n, c, h, w = input.shape
    inner = c // blocksize**2
    if mode == "DCR":
        parts = torch.reshape(input, [n, blocksize, blocksize, inner, h, w]).permute(0, 3, 4, 1, 5, 2)
    else:
        parts = torch.reshape(input, [n, inner, blocksize, blocksize, h, w]).permute(0, 1, 4, 2, 5, 3)
    return torch.reshape(parts, [n, inner, h * blocksize, w * blocksize])


def _space_to_depth(input: Any, blocksize: int) -> Any:
    n, c, h, w = input.shape
    parts = torch.reshape(input, [n, c, h // blocksize, blocksize, w // blocksize, blocksize])
    return torch.reshape(
        parts.permute(0, 3, 5, 1, 2, 4), [n, c * blocksize**2, h // blocksize, w // blocksize]
    )


def _resize(
    X: Any,
    roi: Known | None = None,
    scales: Known | None = None,
    sizes: Known | None = None,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    _opset: int = 0,
    **how: Any,
) -> Any:
    """Along each axis a selection of elements, or a product with a matrix: what ONNX's own evaluator makes of
    numbered elements, or of unit vectors."""
    if how["coordinate_transformation_mode"] == "tf_crop_and_resize" or keep_aspect_ratio_policy != "stretch":
        raise NodeError("tf_crop_and_resize and keep_aspect_ratio_policy are not read")
    by_size = sizes is not None and sizes.size
    wanted = sizes if by_size else scales
    dims = list(range(X.dim())) if axes is None else [axis % X.dim() for axis in axes]
    for dim, number in zip(dims, wanted if wanted is not None else (), strict=True):
        extent = X.shape[dim]
        if number == (extent if by_size else 1):
            continue
        key = np.array([number], np.int64 if by_size else np.float32)
        names = ["x", "", "", "n"] if by_size else ["x", "", "n"]
        node = onnx.helper.make_node("Resize", names, ["y"], **how)

        def along(row: Any, node: Any = node, key: Any = key) -> Any:
            return evaluated(node, {"x": row, "n": key}, _opset)[0]

        if how["mode"] == "nearest":
            X = take(X, dim, [int(place) for place in along(np.arange(extent, dtype=np.float32))])
            continue
        matrix = np.stack([along(row) for row in np.eye(extent, dtype=np.float32)])
        turned = torch.matmul(X.transpose(dim, -1), torch.from_numpy(matrix))
        X = turned.transpose(dim, -1)
    return X


def evaluated(node: Any, inputs: dict[str, Any], opset: int) -> list[Any]:
    """The results of one node by ONNX's reference evaluator."""
    ends = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in inputs.items()
    ]
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = onnx.helper.make_graph([node], "node", ends, results)
    return list(ReferenceEvaluator(graph, opsets={"": opset}).run(None, inputs))


def _softmax(input: Any, axis: int = -1) -> Any:
    return torch.softmax(input, axis)


_CALLED_SO_BY_TORCH = (
    *("Abs", "Add", "Ceil", "Cos", "Div", "Erf", "Exp", "Floor", "Log", "MatMul", "Mul", "Neg", "Pow"),
    *("Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sqrt", "Sub", "Tanh"),
)

OPS: dict[str, Callable[..., Any]] = {
    **{name: _plain(getattr(torch, name.lower())) for name in _CALLED_SO_BY_TORCH},
    "And": _plain(torch.logical_and),
    "AveragePool": average_pool,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Celu": lambda X, alpha: functional.celu(X, alpha),
    "Clip": _clip,
    "Concat": lambda inputs, axis: torch.cat(inputs, axis),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "DepthToSpace": _depth_to_space,
    "Dropout": _dropout,
    "Elu": lambda X, alpha: functional.elu(X, alpha),
    "Equal": _plain(torch.eq),
    "Expand": _expand,
    "Flatten": _flatten,
    "GRU": gru,
    "Gather": _gather,
    "Gelu": lambda X, approximate: functional.gelu(X, approximate=approximate),
    "Gemm": _gemm,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": global_max_pool,
    "Greater": _plain(torch.gt),
    "GreaterOrEqual": _plain(torch.ge),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _plain(lambda x: x * torch.clamp(x / 6 + 0.5, 0, 1)),
    "Identity": _plain(lambda x: x),
    "LSTM": lstm,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": lambda X, alpha: functional.leaky_relu(X, alpha),
    "Less": _plain(torch.lt),
    "LessOrEqual": _plain(torch.le),
    "Max": _folded(torch.maximum),
    "MaxPool": max_pool,
    "Mean": lambda *inputs: reduce(torch.add, inputs) / len(inputs),
    "Min": _folded(torch.minimum),
    "Mish": _plain(functional.mish),
    "Not": _plain(torch.logical_not),
    "Or": _plain(torch.logical_or),
    "PRelu": _prelu,
    "Pad": _pad,
    "RNN": rnn,
    "ReduceMax": _reduction(torch.amax),
    "ReduceMean": _reduction(torch.mean),
    "ReduceMin": _reduction(_smallest),
    "ReduceSum": _reduction(torch.sum),
    "Reshape": _reshape,
    "Resize": _resize,
    "Selu": _selu,
    "Slice": _slice,
    "Softmax": _softmax,
    "Softplus": _plain(functional.softplus),
    "Softsign": _plain(functional.softsign),
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sum": _folded(torch.add),
    "ThresholdedRelu": lambda X, alpha: torch.where(torch.gt(X, alpha), X, 0.0),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": lambda condition, X, Y: torch.where(condition, X, Y),
}
