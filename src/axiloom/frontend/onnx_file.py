"""ONNX in: a checked file in an opset that all readers know, and its referee.

Opset, shapes and defaults are those of the onnx library: `onnx.version_converter` writes old files anew,
functions of the file are inlined by `onnx.inliner`, and shapes are inferred.

ONNX keeps batch norms. ``torch.onnx.export`` folds them in float32 by default. That moves scales in the
eighth digit and a few weights by one step. With ``optimize=False`` they stay, and we fold them in
float64. The four example networks then give the same driver through PyTorch and through ONNX.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
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

from axiloom.errors import CompileError
from axiloom.files import check_input
from axiloom.frontend.referee import Array, Referee

OPSET = 17
"""Files of older opsets are converted to it: what an op means there has changed since (Softmax, Squeeze)."""

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
                return Referee(*_runtime(self.path, names))
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

        return Referee(name, run)


def _runtime(path: Path, names: Sequence[str]) -> tuple[str, Callable[[Sequence[Array]], list[Array]]]:
    """ONNX Runtime's name and its results; any error of its own where it does not take the file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4  # what it has to say is raised
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(arrays: Sequence[Array]) -> list[Array]:
        feeds = {name: np.ascontiguousarray(array) for name, array in zip(names, arrays, strict=True)}
        return [np.asarray(result) for result in session.run(None, feeds)]

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
        onnx.checker.check_model(own)
    except Exception as error:
        raise CompileError(f"{path}: no valid ONNX model: {' '.join(str(error).split())[:300]}") from error
    known = {tensor.name for tensor in own.graph.initializer}
    faults = [_dynamic(value) for value in own.graph.input if value.name not in known]
    if any(faults):
        raise CompileError("\n".join(f"{path}: {fault}" for fault in faults if fault))
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
    try:
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    except Exception as error:
        raise CompileError(f"{path}: no valid ONNX model: {' '.join(str(error).split())[:300]}") from error
    return OnnxFile(path, own, proto)


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


def _dynamic(value: Any) -> str:
    """What is wrong with an input, if anything."""
    if not value.type.HasField("tensor_type"):
        return f"input `{value.name}` is no tensor"
    dims = value.type.tensor_type.shape.dim
    if value.type.tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
        return ""
    sizes = ", ".join(dim.dim_param or str(dim.dim_value or "?") for dim in dims)
    return (
        f"input `{value.name}` has dynamic sizes ({sizes}); they must be known: "
        "`python -m onnxruntime.tools.make_dynamic_shape_fixed` gives them numbers"
    )
