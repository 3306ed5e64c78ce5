"""An ONNX model as a torch.nn.Module, so that quantisation has one graph to start from.

Only what the quantiser can do has an entry in `_OPS`; torch.export makes ATen of it as of any module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import onnx
import onnx.numpy_helper
import torch
from onnx.reference import ReferenceEvaluator
from torch.nn import functional

from axiloom.errors import CompileError
from axiloom.frontend.onnx_file import read_onnx
from axiloom.frontend.onnx_patterns import with_biases, with_gelus

Attributes = dict[str, Any]
_DTYPES = {onnx.TensorProto.FLOAT: torch.float32, onnx.TensorProto.INT64: torch.int64}


def load_network(path: Path) -> tuple[Any, tuple[Any, ...]]:
    """The model in `path` as a module, and inputs of its shapes (zeros).

    Raises CompileError for an op, or a use of one, that has no entry here.
    """
    proto = read_onnx(path)
    known = {tensor.name for tensor in proto.graph.initializer}
    examples = []
    for value in proto.graph.input:
        if value.name in known:
            continue
        kind = value.type.tensor_type
        if kind.elem_type not in _DTYPES:
            raise CompileError(f"{path}: input `{value.name}` is neither float32 nor int64")
        shape = [dim.dim_value for dim in kind.shape.dim]
        examples.append(torch.zeros(shape, dtype=_DTYPES[kind.elem_type]))
    return _network(proto, str(path)), tuple(examples)


class _Layer(torch.nn.Module):
    """One ONNX node, as a module: so that what is exported has its name."""

    def __init__(self, node: Any, attributes: Attributes) -> None:
        super().__init__()
        self.apply_op, self.attributes = _OPS[node.op_type], attributes

    def forward(self, *arguments: Any) -> Any:
        return self.apply_op(self.attributes, *arguments)


def _network(proto: Any, name: str) -> Any:
    """The module; weights are buffers, so that the exported graph has their names."""
    graph = proto.graph
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = ReferenceEvaluator(node).run(None, {})[0]
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in (*graph.input, *graph.value_info)
        if all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
    }
    types = {
        value.name: onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        for value in (*graph.input, *graph.value_info)
        if value.type.tensor_type.elem_type
    }
    steps = []
    for node in with_gelus(list(graph.node), constants):
        known = _known(node, constants, shapes, types)
        if known is not None:
            constants |= dict(zip(node.output, known, strict=True))
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type not in _OPS:
            raise CompileError(
                f"{name}: {node.name or node.output[0]}: ONNX op {node.op_type} cannot be quantised; "
                f"there are {', '.join(sorted(_OPS))}"
            )
        if len(node.output) != 1:
            _fail(name, node, "more than one output")
        steps.append((node, attributes))
    steps = with_biases(steps, constants)
    inputs = [value.name for value in graph.input if value.name not in constants]
    outputs = [value.name for value in graph.output]
    network = torch.nn.Module()
    places = {}
    for number, (key, array) in enumerate(constants.items()):
        places[key] = key.replace(".", "_").replace("/", "_") + f"_{number}"
        network.register_buffer(places[key], torch.from_numpy(array.copy()))
    layers = []
    for number, (node, attributes) in enumerate(steps):
        called = (node.name or node.output[0]).strip("/").replace(".", "_")
        called = called if not hasattr(network, called) else f"{called}_{number}"
        layers.append((node, _Layer(node, attributes)))
        network.add_module(called, layers[-1][1])

    def forward(*given: Any) -> Any:
        values = dict(zip(inputs, given, strict=True))

        def value(key: str) -> Any:
            return None if not key else values[key] if key in values else getattr(network, places[key])

        for node, layer in layers:
            # Shapes, axes and limits are known; the graph should have them as numbers.
            arguments = [
                constants[key] if at and node.op_type in _FIXED and key in constants else value(key)
                for at, key in enumerate(node.input)
            ]
            try:
                values[node.output[0]] = layer(*arguments)
            except NotImplementedError as error:
                _fail(name, node, str(error))
        return values[outputs[0]] if len(outputs) == 1 else tuple(values[key] for key in outputs)

    network.forward = forward
    network.input_names = inputs
    return network.eval()


def _known(
    node: Any,
    constants: dict[str, Any],
    shapes: Mapping[str, list[int]],
    types: Mapping[str, np.dtype[Any]],
) -> list[Any] | None:
    """The arrays of a node of parameters alone, or of shape or type of a value; None for another node."""
    if node.op_type == "Shape" and node.input[0] in shapes:
        ends = {attribute.name: attribute.i for attribute in node.attribute}
        return [np.array(shapes[node.input[0]][ends.get("start", 0) : ends.get("end")], np.int64)]
    if node.op_type == "CastLike" and node.input[0] in constants and node.input[1] in types:
        return [constants[node.input[0]].astype(types[node.input[1]])]
    if not all(key in constants for key in node.input if key):
        return None
    given = {key: constants[key] for key in node.input if key}
    return list(ReferenceEvaluator(node).run(None, given))


def _fail(name: str, node: Any, why: str) -> NoReturn:
    raise CompileError(f"{name}: {node.name or node.output[0]}: ONNX op {node.op_type}: {why}")


# -- ops -------------------------------------------------------------------------------------------------
def _gemm(attributes: Attributes, x: Any, weight: Any, bias: Any = None) -> Any:
    if attributes.get("transA") or attributes.get("alpha", 1.0) != 1 or attributes.get("beta", 1.0) != 1:
        raise NotImplementedError("transA, alpha and beta are not supported")
    return functional.linear(x, weight if attributes.get("transB") else weight.t(), bias)


def _pads(attributes: Attributes) -> tuple[int, int]:
    pads = list(attributes.get("pads", [0, 0, 0, 0]))
    if attributes.get("auto_pad", b"NOTSET") != b"NOTSET" or len(pads) != 4 or pads[:2] != pads[2:]:
        raise NotImplementedError("padding must be given, for two dims, the same on both sides")
    return pads[0], pads[1]


def _conv(attributes: Attributes, x: Any, weight: Any, bias: Any = None) -> Any:
    return functional.conv2d(
        x,
        weight,
        bias,
        attributes.get("strides", [1, 1]),
        _pads(attributes),
        attributes.get("dilations", [1, 1]),
        attributes.get("group", 1),
    )


def _norm(attributes: Attributes, x: Any, gain: Any, offset: Any, mean: Any, variance: Any) -> Any:
    return functional.batch_norm(x, mean, variance, gain, offset, eps=attributes.get("epsilon", 1e-5))


def _max_pool(attributes: Attributes, x: Any) -> Any:
    if attributes.get("ceil_mode") or set(attributes.get("dilations", [1])) != {1}:
        raise NotImplementedError("ceil_mode and dilations are not supported")
    return functional.max_pool2d(
        x, attributes["kernel_shape"], attributes.get("strides", [1, 1]), _pads(attributes)
    )


def _avg_pool(attributes: Attributes, x: Any) -> Any:
    if attributes.get("ceil_mode"):
        raise NotImplementedError("ceil_mode is not supported")
    return functional.avg_pool2d(
        x,
        attributes["kernel_shape"],
        attributes.get("strides", [1, 1]),
        _pads(attributes),
        count_include_pad=bool(attributes.get("count_include_pad", 0)),
    )


def _mean(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    dims = attributes.get("axes") if axes is None else axes.tolist()
    return torch.mean(x, dims, keepdim=bool(attributes.get("keepdims", 1)))


def _layer_norm(attributes: Attributes, x: Any, gain: Any, offset: Any = None) -> Any:
    if attributes.get("axis", -1) not in (-1, x.dim() - 1):
        raise NotImplementedError("only over the last axis")
    return functional.layer_norm(x, x.shape[-1:], gain, offset, attributes.get("epsilon", 1e-5))


def _gather(attributes: Attributes, x: Any, indices: Any) -> Any:
    if attributes.get("axis", 0) != 0 or x.dim() != 2:
        raise NotImplementedError("only rows of a matrix")
    return functional.embedding(indices, x)


def _clip(attributes: Attributes, x: Any, low: Any = None, high: Any = None) -> Any:
    low = attributes.get("min") if low is None else float(low)
    return torch.clamp(x, low, attributes.get("max") if high is None else float(high))


def _slice(
    attributes: Attributes, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None
) -> Any:
    dims = range(len(starts)) if axes is None else axes.tolist()
    by = [1] * len(starts) if steps is None else steps.tolist()
    for dim, start, end, step in zip(dims, starts.tolist(), ends.tolist(), by, strict=True):
        x = torch.ops.aten.slice(x, dim, start, end, step)
    return x


def _squeeze(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    return torch.squeeze(x, attributes.get("axes") if axes is None else axes.tolist())


def _unsqueeze(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    for dim in sorted(attributes["axes"] if axes is None else axes.tolist()):
        x = torch.unsqueeze(x, dim)
    return x


def _reshape(attributes: Attributes, x: Any, shape: Any) -> Any:
    sizes = shape.tolist()
    if not attributes.get("allowzero"):
        sizes = [x.shape[at] if size == 0 else size for at, size in enumerate(sizes)]
    return torch.reshape(x, sizes)


def _flatten(attributes: Attributes, x: Any) -> Any:
    if attributes.get("axis", 1) != 1:
        raise NotImplementedError("only behind the first axis")
    return torch.flatten(x, 1)


_FIXED = {"Reshape", "ReduceMean", "Squeeze", "Unsqueeze", "Slice", "Clip"}
"""Ops whose later inputs are parameters, not values."""

_OPS: dict[str, Callable[..., Any]] = {
    "Add": lambda _, a, b: a + b,
    "AveragePool": _avg_pool,
    "BatchNormalization": _norm,
    "Clip": _clip,
    "Concat": lambda attributes, *parts: torch.cat(parts, attributes["axis"]),
    "Conv": _conv,
    "Div": lambda _, a, b: a / b,
    "Dropout": lambda _, x, *rest: x,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": lambda a, x: functional.gelu(x, approximate=a.get("approximate", b"none").decode()),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda _, x: functional.adaptive_avg_pool2d(x, 1),
    "Identity": lambda _, x: x,
    "LayerNormalization": _layer_norm,
    "MatMul": lambda _, a, b: torch.matmul(a, b),
    "MaxPool": _max_pool,
    "Mul": lambda _, a, b: a * b,
    "ReduceMean": _mean,
    "Relu": lambda _, x: torch.relu(x),
    "Reshape": _reshape,
    "Sigmoid": lambda _, x: torch.sigmoid(x),
    "Slice": _slice,
    "Softmax": lambda attributes, x: torch.softmax(x, attributes.get("axis", -1)),
    "Squeeze": _squeeze,
    "Tanh": lambda _, x: torch.tanh(x),
    "Transpose": lambda attributes, x: torch.permute(x, attributes["perm"]),
    "Unsqueeze": _unsqueeze,
}
