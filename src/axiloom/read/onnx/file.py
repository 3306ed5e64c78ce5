"""ONNX in: a checked file in an opset that all readers know, and its referee.

Opset, shapes and defaults are those of the onnx library: `onnx.version_converter` writes old files anew,
functions of the file are inlined by `onnx.inliner`, and shapes are inferred.

ONNX keeps batch norms. ``torch.onnx.export`` folds them in float32 by default. That moves scales in the
eighth digit and a few weights by one step. With ``optimize=False`` they stay, and we fold them in
float64. The four example networks then give the same driver through PyTorch and through ONNX.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
import onnx.numpy_helper
import onnx.version_converter
from onnx.reference import ReferenceEvaluator

from axiloom.base.errors import CompileError
from axiloom.base.files import check_input
from axiloom.read.context.referee import Array, Referee, in_type

OPSET = 17
"""Files of older opsets are converted to it: what an op means there has changed since (Softmax, Squeeze)."""

_MOST = 1 << 28
"""Elements of a value: 1 GiB of float32."""
_WORDS = {
    "auto_pad": ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"),
    "approximate": ("none", "tanh"),
    **{f"{op}.direction": ("forward", "reverse", "bidirectional") for op in ("LSTM", "GRU", "RNN")},
    "DepthToSpace.mode": ("DCR", "CRD"),
    "Pad.mode": ("constant", "reflect", "edge", "wrap"),
    "Resize.mode": ("nearest", "linear", "cubic"),
}
"""Those of ONNX's attributes that are one of a few; ONNX Runtime takes an unknown `auto_pad` for NOTSET."""

_SATURATING = ("MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv")
"""Ops that ONNX Runtime computes in 16 bits on some CPUs."""


@dataclass(frozen=True)
class OnnxFile:
    """A file as it is, and as it is read."""

    path: Path
    own: Any
    """The user's ModelProto."""
    proto: Any
    """The same model without functions, of opset `OPSET` or later, with the shapes of all its values."""

    @property
    def own_opset(self) -> int:
        return opset_of(self.own)

    @property
    def opset(self) -> int:
        return opset_of(self.proto)

    @cached_property
    def inputs(self) -> list[Any]:
        """The ValueInfoProto of each input that is no initialiser."""
        known = {tensor.name for tensor in self.proto.graph.initializer}
        return [value for value in self.proto.graph.input if value.name not in known]

    @property
    def types(self) -> dict[str, list[np.dtype[Any]]]:
        """Of ``input`` and ``output``."""
        values = {"input": self.inputs, "output": self.proto.graph.output}
        return {what: [self.type_of(value) for value in some] for what, some in values.items()}

    @staticmethod
    def type_of(value: Any) -> np.dtype[Any]:
        """Of a ValueInfoProto."""
        kind: np.dtype[Any] = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        return kind

    @cached_property
    def referee(self) -> Referee:
        """ONNX Runtime on the user's own file where it is installed, else the evaluator of the onnx library.

        Its `run` raises CompileError where neither can execute the file.
        """
        names = [value.name for value in self.inputs]
        why = "it is not installed"
        if any(node.op_type in _SATURATING for node in self.own.graph.node):
            why = "its sums of uint8 times int8 saturate on CPUs without VNNI"
        elif importlib.util.find_spec("onnxruntime") is not None:
            try:
                return self._typed(*_runtime(self.path, names))
            except Exception as error:  # an op or a type that it does not have
                why = first_line(error)
        name = f"ONNX's reference evaluator {onnx.__version__}"
        if self.opset != self.own_opset:  # it knows the newest meaning of an op alone
            name += f" (on the file converted from opset {self.own_opset} to {self.opset})"

        def run(arrays: Sequence[Array]) -> list[Array]:
            try:
                results = ReferenceEvaluator(self.proto).run(None, dict(zip(names, arrays, strict=True)))
            except Exception as error:
                raise CompileError(
                    f"{self.path}: nothing to compare with: ONNX Runtime: {why}; ONNX's reference evaluator: "
                    f"{first_line(error)}"
                ) from error
            return [np.asarray(result) for result in results]

        return self._typed(name, run)

    def _typed(self, name: str, run: Callable[[Sequence[Array]], list[Array]]) -> Referee:
        """That takes arrays of our types: bits of unsigned integers as signed ones, bool as bytes."""
        kinds = self.types["input"]
        return Referee(name, lambda arrays: run([*map(in_type, arrays, kinds)]))


def _runtime(path: Path, names: Sequence[str]) -> tuple[str, Callable[[Sequence[Array]], list[Array]]]:
    """ONNX Runtime's name and its results; any error of its own where it does not take the file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4  # what it has to say is raised
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(arrays: Sequence[Array]) -> list[Array]:
        feeds = {name: np.asarray(array, order="C") for name, array in zip(names, arrays, strict=True)}
        try:
            results = session.run(None, feeds)
        except Exception as error:
            raise CompileError(f"{path}: ONNX Runtime does not compute it: {first_line(error)}") from error
        return [np.asarray(result) for result in results]

    return f"ONNX Runtime {onnxruntime.__version__}", run


def opset_of(proto: Any) -> int:
    """The version of ONNX's own ops that a model is written in."""
    return max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=1)


def first_line(error: Exception) -> str:
    """What a library says, as one line of ours."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else "no reason given")[:300]


def read_onnx(path: Path) -> OnnxFile:
    """The checked model in `path`.

    Raises UsageError for no such file; CompileError for one that is no valid model, has no static shapes, or
    is of an opset that cannot be converted.
    """
    check_input(path)
    try:
        own = onnx.load(path)
        onnx.checker.check_model(own, full_check=True)  # torch-mlir never ends on an axis out of range
    except Exception as error:
        raise _invalid(path, error) from error
    known = {tensor.name for tensor in own.graph.initializer}
    faults = [_dynamic(value) for value in own.graph.input if value.name not in known]
    faults += [fault for node in own.graph.node for fault in _unknown_words(node)]
    faults += [] if own.graph.output else ["it has no output"]
    _refuse(path, faults)
    proto = onnx.inliner.inline_local_functions(own) if own.functions else own
    newest = onnx.defs.onnx_opset_version()
    if opset_of(proto) > newest:
        raise CompileError(f"{path}: opset {opset_of(proto)} is newer than the onnx library ({newest})")
    if opset_of(proto) < OPSET:
        try:
            proto = onnx.version_converter.convert_version(proto, OPSET)
        except Exception as error:
            raise CompileError(
                f"{path}: opset {opset_of(proto)}, and onnx.version_converter cannot write it in "
                f"opset {OPSET}: {first_line(error)}; export the model with opset {OPSET} or later"
            ) from error
        if opset_of(own) < 11:
            _resize_as_before(proto, path)
    for constants in (False, True):  # it writes them out, however large they are
        try:
            proto = onnx.shape_inference.infer_shapes(proto, data_prop=constants)
        except Exception as error:
            raise _invalid(path, error) from error
        _refuse(path, map(_too_large, (*proto.graph.input, *proto.graph.value_info, *proto.graph.output)))
    return OnnxFile(path, own, proto)


def _invalid(path: Path, error: Exception) -> CompileError:
    return CompileError(f"{path}: no valid ONNX model: {' '.join(str(error).split())[:300]}")


def _refuse(path: Path, faults: Iterable[str]) -> None:
    """Raise CompileError with a line for each fault that is not empty."""
    lines = [f"{path}: {fault}" for fault in faults if fault]
    if lines:
        raise CompileError("\n".join(dict.fromkeys(lines)))


def _resize_as_before(proto: Any, path: Path) -> None:
    """Resize of opset 10 and Upsample have no attribute for what opset 11 does in another way by default; the
    converter leaves it out."""
    known = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}
    known |= {
        node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t)
        for node in proto.graph.node
        if node.op_type == "Constant" and node.attribute[0].HasField("t")
    }
    for node in proto.graph.node:
        named = {attribute.name for attribute in node.attribute}
        if node.op_type != "Resize" or "coordinate_transformation_mode" in named:
            continue
        scales = known.get(node.input[2]) if len(node.input) > 2 else None
        if scales is None or (min(scales) < 1 < max(scales)):
            raise CompileError(
                f"{path}: {node.name or node.output[0]}: ONNX op Resize of opset 10 is read only "
                "if it makes no dim larger and another smaller, by scales that are known"
            )
        nearest = "ceil" if min(scales) < 1 else "floor"
        for name, value in (("coordinate_transformation_mode", "asymmetric"), ("nearest_mode", nearest)):
            node.attribute.append(onnx.helper.make_attribute(name, value))


def _unknown_words(node: Any) -> list[str]:
    """What is wrong with the words that a node's attributes are, which no schema lists."""
    faults = []
    for attribute in node.attribute if node.domain in ("", "ai.onnx") else ():
        accepted = _WORDS.get(attribute.name) or _WORDS.get(f"{node.op_type}.{attribute.name}")
        word = attribute.s.decode(errors="replace")
        if accepted is not None and word not in accepted:
            faults.append(
                f"{node.name or node.output[0]}: ONNX op {node.op_type}: {attribute.name} = {word!r}; "
                f"accepted are {', '.join(accepted)}"
            )
    return faults


def _too_large(value: Any) -> str:
    """What is wrong with the size of a value, if anything."""
    count = math.prod(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    return f"`{value.name}` has {count:,} elements; accepted are at most {_MOST:,}" if count > _MOST else ""


def _dynamic(value: Any) -> str:
    """What is wrong with an input, if anything."""
    if not value.type.HasField("tensor_type"):
        return f"input `{value.name}` is no tensor"
    kind = onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type)
    if kind in ("UNDEFINED", "STRING", "COMPLEX64", "COMPLEX128"):
        return f"input `{value.name}` is {kind}; accepted are real numbers"
    dims = value.type.tensor_type.shape.dim
    if value.type.tensor_type.HasField("shape") and all(
        dim.HasField("dim_value") and dim.dim_value >= 0 for dim in dims
    ):
        return ""
    sizes = ", ".join(dim.dim_param or str(dim.dim_value or "?") for dim in dims)
    return (
        f"input `{value.name}` has dynamic sizes ({sizes}); they must be known: "
        "`python -m onnxruntime.tools.make_dynamic_shape_fixed` gives them numbers"
    )
