"""Random small ONNX models: every op that `axiloom quantize` reads, its attributes, opsets 9 to 21.

`model(number)` is the same each time. Whether a parameter is an attribute or an input, and which an op has,
is asked of the schema of the model's opset; what stands there is often left out, so that ONNX's default
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT, OPSETS = onnx.TensorProto.FLOAT, tuple(range(9, 22))
IMAGE, SEQUENCE, MATRIX = 4, 3, 2
Value = str


class Builder:
    """A model that grows: each op gives the name of its result."""

    def __init__(self, rng: np.random.Generator, opset: int) -> None:
        self.rng, self.opset = rng, opset
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.inputs: list[Any] = []
        self.shapes: dict[Value, tuple[int, ...]] = {}

    # -- pieces ------------------------------------------------------------------------------------------
    def chance(self, part: float = 0.5) -> bool:
        return bool(self.rng.random() < part)

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def number(self, low: int, high: int) -> int:
        """Both ends included."""
        return int(self.rng.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        return float(np.float32(self.rng.uniform(low, high)))

    def const(self, array: Any, kind: Any = np.float32) -> Value:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, kind), name))
        return name

    def normal(self, *shape: int, by: float = 1.0) -> Value:
        return self.const(self.rng.standard_normal(shape) * by)

    def input(self, shape: Sequence[int], kind: int = FLOAT) -> Value:
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        self.shapes[name] = tuple(shape)
        return name

    def op(
        self,
        kind: str,
        *inputs: Value,
        outputs: int = 1,
        late: dict[str, Any] | None = None,
        **attributes: Any,
    ) -> Any:
        """`late`: parameters that are inputs in the schemas of some opsets, attributes in others; None is
        left out, and so is an attribute that is None."""
        schema = onnx.defs.get_schema(kind, self.opset, "")
        names = [formal.name for formal in schema.inputs]
        operands = list(inputs)
        for key, value in (late or {}).items():
            if value is None:
                continue
            if key in schema.attributes:
                attributes[key] = value
            else:
                at = names.index(key)
                operands += [""] * (at - len(operands))
                operands.append(value if isinstance(value, str) else self.const(value, np.int64))
        attributes = {key: value for key, value in attributes.items() if value is not None}
        results = [f"v{len(self.nodes)}" + (f"_{n}" if n else "") for n in range(outputs)]
        # Unnamed nodes are usual in files of converters.
        name = f"{kind.lower()}{len(self.nodes)}" if self.chance(0.7) else ""
        self.nodes.append(helper.make_node(kind, operands, results, name=name, **attributes))
        self._infer()
        return results[0] if outputs == 1 else results

    def _infer(self) -> None:
        graph = helper.make_graph(self.nodes, "net", self.inputs, [], self.weights)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        for value in onnx.shape_inference.infer_shapes(proto, data_prop=True).graph.value_info:
            dims = value.type.tensor_type.shape.dim
            if all(dim.HasField("dim_value") for dim in dims):
                self.shapes[value.name] = tuple(dim.dim_value for dim in dims)

    def axis(self, x: Value) -> int:
        rank = len(self.shapes[x])
        return self.number(-rank, rank - 1)

    def signed(self, x: Value, axis: int) -> int:
        """The same axis, maybe counted from the end."""
        return axis - len(self.shapes[x]) if self.chance(0.4) else axis

    def finish(self, outputs: Sequence[Value]) -> Any:
        order = self._shuffled()
        results = [helper.make_tensor_value_info(name, FLOAT, self.shapes[name]) for name in outputs]
        graph = helper.make_graph(order, "net", self.inputs, results, self.weights)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        onnx.checker.check_model(proto)
        return proto

    def _shuffled(self) -> list[Any]:
        """The nodes in another order that is right as well."""
        rest, done = (
            list(self.nodes),
            {value.name for value in self.inputs} | {w.name for w in self.weights} | {""},
        )
        order = []
        while rest:
            ready = [node for node in rest if all(key in done for key in node.input)]
            node = ready[int(self.rng.integers(len(ready)))]
            rest.remove(node)
            order.append(node)
            done |= set(node.output)
        return order


Make = Callable[[Builder, Value], Value]


# -- element by element ----------------------------------------------------------------------------------
def plain(kind: str, before: str = "") -> Make:
    """`before`: an op whose results are where this one is defined."""
    return lambda b, x: b.op(kind, b.op(before, x) if before else x)


def with_reals(kind: str, **limits: tuple[float, float]) -> Make:
    def make(b: Builder, x: Value) -> Value:
        return b.op(kind, x, **{k: b.real(*pair) if b.chance(0.7) else None for k, pair in limits.items()})

    return make


def clip(b: Builder, x: Value) -> Value:
    low, high = (b.real(-1, 0) if b.chance(0.7) else None), (b.real(0.1, 2) if b.chance(0.7) else None)
    if b.opset < 11:
        return b.op("Clip", x, min=low, max=high)
    late = {k: None if v is None else b.const(np.float32(v)) for k, v in (("min", low), ("max", high))}
    return b.op("Clip", x, late=late)


def other(b: Builder, x: Value) -> Value:
    """A second operand for `x`: a constant that broadcasts, or a value of its own."""
    shape = b.shapes[x]
    how = b.number(0, 4)
    if how == 0:
        return b.const(np.float32(b.real(-2, 2)))
    if how == 1:
        return b.normal(*(size if b.chance() else 1 for size in shape))
    if how == 2:
        return b.normal(*shape[b.number(0, len(shape) - 1) :])
    if how == 3:
        return b.input(shape)
    return b.op(b.pick("Sigmoid", "Tanh", "Relu"), x)


def two(kind: str) -> Make:
    def make(b: Builder, x: Value) -> Value:
        y = other(b, x)
        return b.op(kind, x, y) if b.chance(0.7) else b.op(kind, y, x)

    return make


def several(kind: str) -> Make:
    return lambda b, x: b.op(kind, x, *(other(b, x) for _ in range(b.number(0, 2))))


def divided(b: Builder, x: Value) -> Value:
    shape = b.shapes[x] if b.chance() else (1,)
    return b.op("Div", x, b.const(b.rng.uniform(0.5, 2, shape) * b.pick(1, -1)))


def power(b: Builder, x: Value) -> Value:
    return b.op("Pow", x, b.const(np.float32(b.pick(1, 2, 3))))


def where(b: Builder, x: Value) -> Value:
    kind = b.pick("Greater", "Less", *(("GreaterOrEqual", "LessOrEqual") if b.opset >= 12 else ()))
    condition = b.op(kind, x, b.const(np.float32(b.real(-0.5, 0.5))))
    if b.chance(0.3):
        condition = b.op("Not", condition)
    if b.chance(0.3):
        condition = b.op(b.pick("And", "Or"), condition, b.op("Less", x, b.const(np.float32(1))))
    if b.chance(0.2):
        condition = b.op("Not", b.op("Not", condition))
    return b.op(
        "Where",
        condition,
        x,
        b.const(np.float32(0)) if b.chance() else b.op("Mul", x, b.const(np.float32(0.1))),
    )


def equal(b: Builder, x: Value) -> Value:
    if b.opset < 11:
        raise ValueError("of integers alone")
    rounded = b.op("Floor", x)
    return b.op("Where", b.op("Equal", rounded, b.const(np.float32(0))), x, b.const(np.float32(0)))


def gelu_like(b: Builder, x: Value) -> Value:
    """As exporters write GELU, with constants that are not always GELU's."""
    one, half = b.pick(1.0, 1.0, 0.5), b.pick(0.5, 1.0)
    e = b.op("Erf", b.op("Div", x, b.const(np.float32(b.pick(2**0.5, 1.0)))))
    a = b.op("Add", e, b.const(np.float32(one)))
    if b.chance():
        return b.op("Mul", b.op("Mul", x, b.const(np.float32(half))), a)
    return b.op("Mul", b.op("Mul", x, a), b.const(np.float32(half)))


def prelu(b: Builder, x: Value) -> Value:
    shape = b.shapes[x]
    slope = (1,) if b.chance() or len(shape) < 2 else (shape[1], *[1] * (len(shape) - 2))
    return b.op("PRelu", x, b.normal(*slope))


def gelu(b: Builder, x: Value) -> Value:
    return b.op("Gelu", x, approximate=b.pick(None, "none", "tanh"))


def cast(b: Builder, x: Value) -> Value:
    kind = b.pick(onnx.TensorProto.UINT8, onnx.TensorProto.INT8, onnx.TensorProto.INT32)
    y = b.op("Cast", b.input(b.shapes[x], kind), to=FLOAT)
    return b.op("Add", x, b.op("Mul", y, b.const(np.float32(0.01))))


def dropout(b: Builder, x: Value) -> Value:
    late = None
    if b.opset >= 12 and b.chance(0.3):
        late = {"ratio": b.const(np.float32(0.4)), "training_mode": b.const(np.array(False), bool)}
    y = b.op("Dropout", x, outputs=b.pick(1, 2), late=late)
    return y if isinstance(y, str) else y[0]


# -- products --------------------------------------------------------------------------------------------
def matmul(b: Builder, x: Value) -> Value:
    shape = b.shapes[x]
    if len(shape) == 1:
        return b.op("MatMul", x, b.normal(shape[0], 3, by=0.5))
    how = b.number(0, 3)
    if how == 0:
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        return b.op("MatMul", x, b.op("Transpose", x, perm=order))
    if how == 1:
        return b.op("MatMul", b.normal(5, shape[-2], by=0.5), x)
    product = b.op("MatMul", x, b.normal(shape[-1], b.number(1, 6), by=0.5))
    if how == 2:
        return product
    bias = b.normal(b.shapes[product][-1])
    return b.op("Add", product, bias) if b.chance() else b.op("Add", bias, product)


def gemm(b: Builder, x: Value) -> Value:
    turned, rows = b.chance(0.3), b.shapes[x]
    k, m = (rows[0], rows[1]) if turned else (rows[1], rows[0])
    n, back = b.number(1, 6), b.chance()
    weight = b.normal(n, k, by=0.5) if back else b.normal(k, n, by=0.5)
    bias = b.pick((), (n,), (1, n), (m, 1), (m, n), None)
    more = [] if bias is None else [b.normal(*bias)]
    if bias is None and b.opset < 11:
        more = [b.normal(n)]
    return b.op(
        "Gemm", x, weight, *more,
        transA=int(turned) or None, transB=int(back) if b.chance(0.8) or back else None,
        alpha=b.pick(None, 0.5, 2.0, -1.0), beta=b.pick(None, 0.5, 2.0, 0.0),
    )  # fmt: skip


def _window(b: Builder, x: Value, *, dilated: bool = True) -> tuple[list[int], dict[str, Any]]:
    """A kernel, and attributes about it."""
    dims = len(b.shapes[x]) - 2
    image = b.shapes[x][2:]
    kernel = [b.number(1, min(3, size)) for size in image]
    how: dict[str, Any] = {"strides": [b.number(1, 2) for _ in range(dims)] if b.chance(0.6) else None}
    if dilated and b.chance(0.3):
        how["dilations"] = [
            b.number(1, 2) if (k - 1) * 2 < size else 1 for k, size in zip(kernel, image, strict=True)
        ]
    style = b.number(0, 4)
    if style == 1:
        how["pads"] = [b.number(0, k - 1) for k in (*kernel, *kernel)]
    elif style == 2:
        how["pads"] = [k // 2 for k in kernel] * 2
    elif style == 3:
        how["auto_pad"] = b.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    return kernel, how


def conv(b: Builder, x: Value) -> Value:
    channels = b.shapes[x][1]
    kernel, how = _window(b, x)
    group = b.pick(1, 1, channels, 2 if channels % 2 == 0 else 1)
    out = group * b.number(1, 2)
    weights = [b.normal(out, channels // group, *kernel, by=0.5)]
    if b.chance(0.6):
        weights.append(b.normal(out))
    return b.op(
        "Conv",
        x,
        *weights,
        **how,
        group=group if group > 1 else None,
        kernel_shape=kernel if b.chance() else None,
    )


def conv_transpose(b: Builder, x: Value) -> Value:
    shape = b.shapes[x]
    kernel, how = _window(b, x, dilated=b.chance(0.2))
    strides = how.get("strides") or [1] * len(kernel)
    group = b.pick(1, 1, 1, 2 if shape[1] % 2 == 0 else 1)
    if "auto_pad" not in how and b.chance(0.3):
        how["output_padding"] = [b.number(0, step - 1) for step in strides]
    elif "auto_pad" not in how and b.chance(0.3):
        how.pop("pads", None)
        gaps = how.get("dilations") or [1] * len(kernel)
        whole = [
            s * (i - 1) + (k - 1) * g + 1 for s, i, k, g in zip(strides, shape[2:], kernel, gaps, strict=True)
        ]
        how["output_shape"] = [max(size - b.number(0, 1), 1) for size in whole]
    weights = [b.normal(shape[1], b.number(1, 3), *kernel, by=0.5)]
    if b.chance():
        weights.append(b.normal(numpy_helper.to_array(b.weights[-1]).shape[1] * group))
    return b.op("ConvTranspose", x, *weights, **how, group=group if group > 1 else None)


def pool(kind: str) -> Make:
    def make(b: Builder, x: Value) -> Value:
        kernel, how = _window(b, x, dilated=kind == "MaxPool" and b.opset >= 10)
        if b.opset >= 10 and b.chance(0.3):
            how["ceil_mode"] = 1
        if kind == "AveragePool":
            how["count_include_pad"] = b.pick(None, 0, 1)
        return b.op(kind, x, kernel_shape=kernel, **how)

    return make


def batch_norm(b: Builder, x: Value) -> Value:
    channels = b.shapes[x][1]
    if b.chance() and len(b.shapes[x]) == IMAGE:
        x = b.op("Conv", x, b.normal(channels, channels, 1, 1, by=0.5))
    parts = [b.normal(channels) for _ in range(3)]
    variance = b.const(b.rng.uniform(0.5, 2, channels))
    return b.op(
        "BatchNormalization", x, *parts, variance, epsilon=b.pick(None, 1e-3), momentum=b.pick(None, 0.5)
    )


def layer_norm(b: Builder, x: Value) -> Value:
    axis = b.axis(x)
    shape = b.shapes[x][axis % len(b.shapes[x]) :]
    bias = [b.normal(*shape)] if b.chance() else []
    axis = axis if b.chance(0.8) or axis % len(b.shapes[x]) != len(b.shapes[x]) - 1 else None
    return b.op("LayerNormalization", x, b.normal(*shape), *bias, axis=axis, epsilon=b.pick(None, 1e-2))


# -- over dims -------------------------------------------------------------------------------------------
def softmax(b: Builder, x: Value) -> Value:
    return b.op("Softmax", x, axis=b.axis(x) if b.chance(0.7) else None)


def reduction(kind: str) -> Make:
    def make(b: Builder, x: Value) -> Value:
        rank = len(b.shapes[x])
        axes = None
        if b.chance(0.8):
            chosen = sorted(b.rng.choice(rank, b.number(1, rank), replace=False).tolist())
            axes = [b.signed(x, axis) if b.opset >= 11 else axis for axis in chosen]
        return b.op(kind, x, late={"axes": axes}, keepdims=b.pick(None, 0, 1))

    return make


# -- places ----------------------------------------------------------------------------------------------
def reshape(b: Builder, x: Value) -> Value:
    shape = list(b.shapes[x])
    how = b.number(0, 3)
    if how == 0 and len(shape) > 1:
        wanted = [0, -1]
    elif how == 1:
        wanted = [-1]
    elif how == 2:
        wanted = shape[::-1]
    else:
        wanted = [*shape[:-1], 1, shape[-1]]
    if b.chance(0.3) and b.opset >= 9 and how == 1 and len(shape) > 1:
        start = b.op("Shape", x)
        first = b.op("Gather", start, b.const(np.array([0]), np.int64))
        return b.op("Reshape", x, b.op("Concat", first, b.const(np.array([-1]), np.int64), axis=0))
    return b.op("Reshape", x, b.const(wanted, np.int64))


def flatten(b: Builder, x: Value) -> Value:
    axis = b.number(0, len(b.shapes[x]))
    return b.op(
        "Flatten",
        x,
        axis=b.signed(x, axis) if b.opset >= 11 and axis < len(b.shapes[x]) else b.pick(axis, None),
    )


def squeeze(b: Builder, x: Value) -> Value:
    axis = b.axis(x) if b.opset >= 11 else 0
    y = b.op("Unsqueeze", x, late={"axes": [axis]})
    places = [place for place, size in enumerate(b.shapes[y]) if size == 1]
    axes = None if b.chance() else [b.signed(y, places[0]) if b.opset >= 11 else places[0]]
    return b.op("Squeeze", y, late={"axes": axes})


def unsqueeze(b: Builder, x: Value) -> Value:
    rank = len(b.shapes[x]) + 2
    axes = [int(axis) for axis in b.rng.choice(rank, 2, replace=False)]
    if b.opset >= 11 and b.chance():
        axes = [axis - rank for axis in axes]
    return b.op("Unsqueeze", x, late={"axes": sorted(axes) if b.opset < 11 else axes})


def transpose(b: Builder, x: Value) -> Value:
    rank = len(b.shapes[x])
    return b.op("Transpose", x, perm=[int(d) for d in b.rng.permutation(rank)] if b.chance(0.7) else None)


def concat(b: Builder, x: Value) -> Value:
    axis = b.axis(x) if b.opset >= 11 else b.number(0, len(b.shapes[x]) - 1)
    parts = [x, b.op("Tanh", x) if b.chance() else x]
    if b.chance(0.4):
        shape = list(b.shapes[x])
        shape[axis] = 1
        parts.insert(0, b.normal(*shape))
    return b.op("Concat", *parts, axis=axis)


def split(b: Builder, x: Value) -> Value:
    axis = b.axis(x) if b.opset >= 11 else b.number(0, len(b.shapes[x]) - 1)
    size = b.shapes[x][axis]
    if size < 2:
        raise ValueError("nothing to split")
    first = b.number(1, size - 1)
    sizes = [first, size - first] if b.chance() or size % 2 else None
    more = {"num_outputs": 2} if b.opset >= 18 and sizes is None else {}
    parts = b.op(
        "Split", x, outputs=2, late={"split": sizes}, axis=axis if axis or b.chance() else None, **more
    )
    return b.op("Concat", *parts[::-1], axis=axis)


def cut(b: Builder, x: Value) -> Value:
    axis = b.axis(x) if b.opset >= 10 else b.number(0, len(b.shapes[x]) - 1)
    size = b.shapes[x][axis]
    start, end = b.number(-size, size - 1), b.pick(size, 2**31 - 1, -1 if size > 1 else size)
    if len(range(size)[start:end]) == 0:
        start, end = 0, size
    late: dict[str, Any] = {"starts": [start], "ends": [end], "axes": [axis]}
    if b.opset >= 10 and b.chance():
        step = b.pick(1, 2, -1)
        late["steps"] = [step]
        if step < 0:
            late |= {"starts": [b.pick(-1, size - 1, 2**31 - 1)], "ends": [b.pick(-(2**31), -size - 1)]}
    return b.op("Slice", x, late=late)


def gather(b: Builder, x: Value) -> Value:
    axis = b.axis(x)
    size = b.shapes[x][axis]
    shape = b.pick((), (2,), (1, 2))
    low = -size if b.opset >= 11 else 0
    indices = b.rng.integers(low, size, shape)
    return b.op(
        "Gather", x, b.const(indices, b.pick(np.int64, np.int32)), axis=axis if axis or b.chance() else None
    )


def embedding(b: Builder, x: Value) -> Value:
    words = b.input((2, 3), onnx.TensorProto.INT64)
    return b.op("Gather", b.normal(40, b.shapes[x][-1]), words)


def expand(b: Builder, x: Value) -> Value:
    shape = list(b.shapes[x])
    y = b.op("Expand", b.normal(*[1 if b.chance() else size for size in shape]), b.const(shape, np.int64))
    y = b.op("Add", x, y)
    return b.op("Expand", y, b.const([2, *shape] if len(shape) < 4 else shape, np.int64))


def tile(b: Builder, x: Value) -> Value:
    return b.op("Tile", x, b.const([b.number(1, 2) for _ in b.shapes[x]], np.int64))


def pad(b: Builder, x: Value) -> Value:
    shape = b.shapes[x]
    mode = b.pick(None, "constant", "reflect", "edge", *(("wrap",) if b.opset >= 19 else ()))
    least = -1 if mode in (None, "constant") and min(shape) > 2 else 0
    most = 2 if mode != "reflect" else 0
    pads = [b.number(least, min(most or size - 1, size)) if b.chance(0.7) else 0 for size in (*shape, *shape)]
    number = b.real(-2, 2) if b.chance(0.4) and mode in (None, "constant") else None
    if b.opset < 11:
        return b.op("Pad", x, pads=pads, mode=mode, value=number)
    late: dict[str, Any] = {
        "pads": pads,
        "constant_value": None if number is None else b.const(np.float32(number)),
    }
    if b.opset >= 18 and b.chance(0.4):
        axis = b.number(0, len(shape) - 1)
        late |= {"pads": [pads[axis], pads[axis + len(shape)]], "axes": [b.signed(x, axis)]}
    return b.op("Pad", x, late=late, mode=mode)


def depth_to_space(b: Builder, x: Value) -> Value:
    y = b.op("Conv", x, b.normal(8, b.shapes[x][1], 1, 1, by=0.5))
    return b.op("DepthToSpace", y, blocksize=2, mode=b.pick(None, "DCR", "CRD") if b.opset >= 11 else None)


def space_to_depth(b: Builder, x: Value) -> Value:
    if any(size % 2 for size in b.shapes[x][2:]):
        raise ValueError("odd sizes")
    return b.op("SpaceToDepth", x, blocksize=2)


def resize(b: Builder, x: Value) -> Value:
    shape, mode = b.shapes[x], b.pick("nearest", "nearest", "linear")
    factors = [1.0, 1.0, *(b.pick(1.0, 2.0, 1.5, 0.5, 3.0) for _ in shape[2:])]
    if any(int(size * by) < 1 for size, by in zip(shape, factors, strict=True)):
        raise ValueError("nothing would be left")
    if b.opset == 9:
        return b.op("Upsample", x, b.const([max(by, 1.0) for by in factors]), mode=mode)
    if b.opset == 10:
        return b.op("Resize", x, b.const(factors), mode=mode)
    how: dict[str, Any] = {"mode": mode if mode == "linear" or b.chance() else None}
    how["coordinate_transformation_mode"] = b.pick(
        None, "asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel"
    )
    if mode == "nearest":
        how["nearest_mode"] = b.pick(None, "floor", "ceil", "round_prefer_ceil")
    roi = "" if b.opset >= 13 else b.const(np.zeros(0))
    if b.chance():
        sizes = [size if at < 2 else max(int(size * factors[at]), 1) for at, size in enumerate(shape)]
        none = "" if b.opset >= 13 else b.const(np.zeros(0))
        return b.op("Resize", x, roi, none, b.const(sizes, np.int64), **how)
    return b.op("Resize", x, roi, b.const(factors), **how)


# -- recurrent -------------------------------------------------------------------------------------------
def recurrent(kind: str, gates: int) -> Make:
    def make(b: Builder, x: Value) -> Value:
        length, batch, size = b.shapes[x]
        hidden, direction = b.number(2, 4), b.pick(None, "forward", "reverse", "bidirectional")
        count = 2 if direction == "bidirectional" else 1
        layout = int(b.opset >= 14 and b.chance(0.2))
        batch = length if layout else batch
        values = [
            b.normal(count, gates * hidden, size, by=0.5),
            b.normal(count, gates * hidden, hidden, by=0.5),
        ]
        late: dict[str, Any] = {}
        if b.chance(0.7):
            late["B"] = b.normal(count, 2 * gates * hidden, by=0.5)
        start = (batch, count, hidden) if layout else (count, batch, hidden)
        if b.chance(0.4):
            late["initial_h"] = b.normal(*start, by=0.5)
            if kind == "LSTM":
                late["initial_c"] = b.normal(*start, by=0.5)
        how: dict[str, Any] = {"layout": layout or None}
        if kind == "LSTM":
            late["P"] = b.normal(count, 3 * hidden, by=0.5) if b.chance(0.2) else None
            how["input_forget"] = 1 if b.chance(0.1) else None
        if kind == "GRU":
            how["linear_before_reset"] = b.pick(None, 0, 1)
        y = b.op(kind, x, *values, outputs=2, late=late, hidden_size=hidden, direction=direction, **how)
        return str(y[0] if b.chance() else y[1])

    return make


ANY = (2, 3, 4)
OPS: dict[str, tuple[tuple[int, ...], Make]] = {
    **{kind: (ANY, plain(kind)) for kind in (
        "Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Identity", "Mish", "Neg", "Relu", "Round",
        "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Tanh",
    )},
    "Log": (ANY, plain("Log", "Exp")),
    "Reciprocal": (ANY, plain("Reciprocal", "Exp")),
    "Sqrt": (ANY, plain("Sqrt", "Abs")),
    "Celu": (ANY, with_reals("Celu", alpha=(0.5, 2))),
    "Elu": (ANY, with_reals("Elu", alpha=(0.5, 2))),
    "HardSigmoid": (ANY, with_reals("HardSigmoid", alpha=(0.1, 0.5), beta=(0.2, 0.8))),
    "LeakyRelu": (ANY, with_reals("LeakyRelu", alpha=(-0.5, 0.5))),
    "Selu": (ANY, with_reals("Selu", alpha=(0.5, 2), gamma=(0.5, 2))),
    "ThresholdedRelu": (ANY, with_reals("ThresholdedRelu", alpha=(0.1, 1.5))),
    "Clip": (ANY, clip), "Gelu": (ANY, gelu), "GeluInParts": (ANY, gelu_like), "PRelu": (ANY, prelu),
    "Cast": (ANY, cast), "Dropout": (ANY, dropout), "Where": (ANY, where), "Equal": (ANY, equal),
    **{kind: (ANY, two(kind)) for kind in ("Add", "Sub", "Mul")},
    **{kind: (ANY, several(kind)) for kind in ("Max", "Min", "Sum", "Mean")},
    "Div": (ANY, divided), "Pow": (ANY, power),
    "MatMul": (ANY, matmul), "Gemm": ((2,), gemm),
    "Conv": ((3, 4), conv), "ConvTranspose": ((3, 4), conv_transpose),
    "MaxPool": ((3, 4), pool("MaxPool")), "AveragePool": ((3, 4), pool("AveragePool")),
    "GlobalAveragePool": ((3, 4), plain("GlobalAveragePool")),
    "GlobalMaxPool": ((3, 4), plain("GlobalMaxPool")),
    "BatchNormalization": (ANY, batch_norm), "LayerNormalization": (ANY, layer_norm),
    "Softmax": (ANY, softmax),
    **{kind: (ANY, reduction(kind)) for kind in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")},
    "Reshape": (ANY, reshape), "Flatten": (ANY, flatten), "Squeeze": (ANY, squeeze),
    "Unsqueeze": ((2,), unsqueeze), "Transpose": (ANY, transpose), "Concat": (ANY, concat),
    "Split": (ANY, split), "Slice": (ANY, cut), "Gather": (ANY, gather), "Embedding": (ANY, embedding),
    "Expand": ((2, 3), expand), "Tile": (ANY, tile), "Pad": (ANY, pad),
    "DepthToSpace": ((4,), depth_to_space), "SpaceToDepth": ((4,), space_to_depth),
    "Resize": ((3, 4), resize),
    "LSTM": ((3,), recurrent("LSTM", 4)), "GRU": ((3,), recurrent("GRU", 3)),
    "RNN": ((3,), recurrent("RNN", 1)),
}  # fmt: skip
"""By what a model is about: the ranks that it takes, and how it is made."""


def model(number: int, seed: int = 0) -> tuple[str, Any]:
    """What model `number` is about, and the model; each op and each opset comes in turn."""
    kinds = list(OPS)
    kind = kinds[number % len(kinds)]
    for attempt in range(100):
        rng = np.random.default_rng([seed, number, attempt])
        opset = OPSETS[(number // len(kinds) + number) % len(OPSETS)]
        if attempt > 20:  # the op is younger
            opset = OPSETS[-1] if attempt % 2 else int(rng.choice(OPSETS[7:]))
        builder = Builder(rng, opset)
        try:
            return kind, _filled(builder, kind)
        except (ValueError, onnx.defs.SchemaError, onnx.shape_inference.InferenceError, KeyError):
            continue  # an op that the opset does not have, or sizes that do not fit
    raise AssertionError(f"{kind}: no model in 100 attempts")


def _filled(b: Builder, kind: str) -> Any:
    """`kind`, and up to two ops before and behind it."""
    rank = int(b.pick(*OPS[kind][0]))
    sizes = {IMAGE: (b.pick(1, 1, 2), b.pick(2, 4), 6, 8), SEQUENCE: (b.pick(1, 2, 3), 4, 6), MATRIX: (3, 8)}
    x = b.input(sizes[rank])
    for _ in range(b.number(0, 1)):
        x = _any(b, x, keep=rank)
    x = OPS[kind][1](b, x)
    for _ in range(b.number(0, 2)):
        x = _any(b, x)
    if b.chance(0.1):
        return b.finish([x, b.op("Tanh", x)])
    if x == "x0" or any(size == 0 for size in b.shapes[x]):
        raise ValueError("nothing is computed")
    return b.finish([x])


def _any(b: Builder, x: Value, keep: int | None = None) -> Value:
    """Some op that takes `x`; with a result of `keep` dims, if that is given."""
    fitting = [name for name, (ranks, _) in OPS.items() if len(b.shapes[x]) in ranks and name != "Embedding"]
    if not fitting:
        return x
    y = OPS[b.pick(*fitting)][1](b, x)
    if keep is not None and len(b.shapes[y]) != keep:
        raise ValueError("another rank")
    return y
