"""An ONNX model as a torch.nn.Module, so that quantisation has one graph to start from.

Each node becomes a layer by the function of its op in `onnx_ops`, whose arguments come from the schema that
the onnx library has for the file's opset: names of inputs, attributes and their defaults. Each result is
checked against the shape and the kind of numbers that ONNX infers. What depends on no input is computed by
ONNX's reference evaluator.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import torch

from axiloom.read.onnx.file import OnnxFile, first_line, read_onnx
from axiloom.read.onnx.function import NodeError
from axiloom.read.onnx.ops import OPS, evaluated

Array = np.ndarray[Any, Any]
_INPUTS = ("float32", "int64", "int32", "int16", "int8", "uint8")
_HELP = {
    "QuantizeLinear": "the file is in integers already: `axiloom run` takes it as it is",
    "DequantizeLinear": "the file is in integers already: `axiloom run` takes it as it is",
    "If": "export the model with the branch that it takes, or fold it with ONNX Runtime's optimiser",
    "Loop": "export the model with the loop unrolled",
}
"""What helps, by op."""


def load_network(path: Path) -> tuple[Any, tuple[Any, ...]]:
    """The model in `path` as a module, and inputs of its shapes (zeros).

    The module has `referee`, `input_names`, and `faults`: a line for each node that is not read. Results of
    such nodes are inputs of the module, so that what lies behind them can be looked at; it is not the user's
    network.
    """
    return network_of(read_onnx(path))


def network_of(file: OnnxFile) -> tuple[Any, tuple[Any, ...]]:
    """As :func:`load_network`, of a file that is read already."""
    reader = _Reader(file)
    for value in file.inputs:
        reader.let_in(value.name, file.type_of(value))
    for node in file.proto.graph.node:
        reader.read(node)
    return reader.network(), tuple(reader.examples.values())


class Layer(torch.nn.Module):
    """One ONNX node, as a module: so that what is exported has its name.

    `places`: the parameter of `function` that each value is for; values of one parameter are a list where
    they are `several`. Without places the values are given in their order.
    """

    def __init__(
        self, function: Callable[..., Any], known: Mapping[str, Any], places: Sequence[str], several: str = ""
    ) -> None:
        super().__init__()
        self.function, self.known, self.places, self.several = function, dict(known), places, several

    def forward(self, *values: Any) -> Any:
        if not self.places:
            return self.function(*values, **self.known)
        arguments = dict(zip(self.places, values, strict=True))
        if self.several:
            pairs = zip(self.places, values, strict=True)
            arguments[self.several] = [value for place, value in pairs if place == self.several]
        return self.function(**arguments, **self.known)


@dataclass
class _Step:
    """A node that is computed, with the names of its values in ONNX."""

    name: str
    layer: Layer
    inputs: list[str]
    outputs: list[str]


@dataclass
class _Reader:
    """The state of one walk over the nodes."""

    file: OnnxFile
    constants: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    """Of each value that depends on an input, zeros of its shape."""
    examples: dict[str, Any] = field(default_factory=dict)
    """Those that are given from outside."""
    steps: list[_Step] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    read_by_faults: list[str] = field(default_factory=list)
    """Values that nodes with a fault read."""

    def __post_init__(self) -> None:
        graph = self.file.proto.graph
        self.constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
        self.inferred = {value.name: value.type for value in (*graph.input, *graph.value_info, *graph.output)}
        self.read_later = {key for node in graph.node for key in node.input}
        self.read_later |= {value.name for value in graph.output}

    def let_in(self, name: str, kind: np.dtype[Any]) -> None:
        """A value from outside."""
        if str(kind) not in _INPUTS:
            self.faults.append(
                f"{self.file.path}: input `{name}` is {kind}; accepted are {', '.join(_INPUTS)}"
            )
            kind = np.dtype(np.float32)
        shape = [dim.dim_value for dim in self.inferred[name].tensor_type.shape.dim]
        self.values[name] = self.examples[name] = torch.from_numpy(np.zeros(shape, kind))

    def read(self, node: Any) -> None:
        """Compute what is known, make a step of the rest; a node that is refused leaves a line in
        `faults`."""
        try:
            known = self._known(node)
            if known is not None:
                self.constants |= dict(zip(node.output, known, strict=True))
            else:
                self._step(node)
        except NodeError as why:
            self.faults.append(f"{self.file.path}: {_label(node)}: ONNX op {_op(node)}: {why}")
            self._behind(node)

    def _behind(self, node: Any) -> None:
        """Let the results of a node that is not read come from outside, and what it reads be results."""
        loose = (key for key in node.input if key in self.values and key not in self.read_by_faults)
        self.read_by_faults += loose
        for name in node.output:
            kind = self.inferred.get(name)
            if name and kind is not None and None not in (_sizes(kind) or [None]):
                element = onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)
                if str(element) in (*_INPUTS, "bool"):
                    self.let_in(name, np.dtype(np.float32) if str(element) == "bool" else element)

    def _known(self, node: Any) -> list[Array] | None:
        """The results of a node of parameters alone, or of the shape or type of a value; None for another."""
        if node.domain not in ("", "ai.onnx"):
            return None
        inputs = {key: self.constants[key] for key in node.input if key in self.constants}
        if node.op_type in ("Shape", "Size", "CastLike") and node.input[-1] in self.values:
            zeros = self.values[node.input[-1]].numpy()
            if node.op_type == "CastLike" and not inputs:
                return None
            inputs[node.input[-1]] = zeros
        graphs = any(a.type in (a.GRAPH, a.GRAPHS) for a in node.attribute)
        if graphs or not all(key in inputs for key in node.input if key) or _is_random(node, self.file.opset):
            return None
        try:
            return evaluated(node, inputs, self.file.opset)
        except Exception as error:
            raise NodeError(f"ONNX's reference evaluator does not compute it: {first_line(error)}") from error

    def _step(self, node: Any) -> None:
        missing = [key for key in node.input if key and key not in self.values and key not in self.constants]
        if missing:
            raise NodeError(f"`{missing[0]}` is not known here: the node that makes it is not read")
        layer, inputs = self._layer(node)
        arguments = [
            self.values[key] if key in self.values else torch.from_numpy(np.array(self.constants[key]))
            for key in inputs
        ]
        try:
            with torch.no_grad():
                result = layer(*arguments)
        except NodeError:
            raise
        except Exception as error:
            raise NodeError(f"PyTorch does not compute it: {first_line(error)}") from error
        results = list(result) if isinstance(result, list | tuple) else [result]
        for place, name in enumerate(node.output):
            if name and place >= len(results) and name in self.read_later:
                raise NodeError(
                    f"its result `{name}` (number {place}) is not read; the first {len(results)} are"
                )
        for name, value in zip(node.output, results, strict=False):
            self._check(name, value)
        outputs = list(node.output[: len(results)])
        self.values |= {name: value for name, value in zip(outputs, results, strict=False) if name}
        self.steps.append(_Step(_label(node), layer, inputs, outputs))

    def _check(self, name: str, value: Any) -> None:
        """Raise NodeError where ONNX infers another shape or kind of numbers: then we have misread the
        node."""
        kind = self.inferred.get(name)
        sizes = None if kind is None else _sizes(kind)
        if kind is None or sizes is None:
            return
        shape = list(value.shape)
        if len(sizes) != len(shape) or any(a not in (None, b) for a, b in zip(sizes, shape, strict=True)):
            raise NodeError(f"it is read as a value of {shape}, and ONNX infers {sizes}")
        inferred = onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)
        if (inferred.kind == "f") != value.dtype.is_floating_point:
            raise NodeError(f"of {inferred}: its results would be {str(value.dtype).removeprefix('torch.')}")

    def _layer(self, node: Any) -> tuple[Layer, list[str]]:
        """The node as a layer, and the names of the values that it takes."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        function = None if domain else OPS.get(node.op_type)
        if function is None:
            raise NodeError(_unknown(node))
        kind = type(node.op_type, (Layer,), {"__module__": __name__})  # so that messages can name the op
        schema = onnx.defs.get_schema(node.op_type, self.file.opset, domain)
        parameters = inspect.signature(function).parameters
        free = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        known = self._attributes(node, schema, parameters, free)
        if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
            return kind(function, known, []), list(node.input)
        places: list[str] = []
        inputs: list[str] = []
        several = ""
        for number, key in enumerate(node.input):
            formal = schema.inputs[min(number, len(schema.inputs) - 1)]
            if not key:
                continue
            if formal.name not in parameters and not free:
                raise NodeError(f"its input `{formal.name}` is not read")
            wanted = parameters.get(formal.name)
            fixed = wanted is not None and str(wanted.annotation).startswith("Known")
            if fixed and key not in self.constants:
                raise NodeError(f"its `{formal.name}` depends on an input; it must be known")
            if fixed or (formal.name == "indices" and key in self.constants):
                known[formal.name] = self.constants[key]
                continue
            if formal.option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
                several = formal.name
            places.append(formal.name)
            inputs.append(key)
        return kind(function, known, places, several), inputs

    def _attributes(
        self, node: Any, schema: Any, parameters: Mapping[str, Any], free: bool
    ) -> dict[str, Any]:
        """The attributes of a node with the defaults of its schema, by the names of its function's
        parameters."""
        own = {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}
        defaults = {
            name: _plain(onnx.helper.get_attribute_value(attribute.default_value))
            for name, attribute in schema.attributes.items()
            if attribute.default_value.name
        }
        known: dict[str, Any] = {}
        for name, value in {**defaults, **own}.items():
            takes = parameters.get(name)
            if takes is not None and str(takes.annotation).startswith("Known"):
                known[name] = np.asarray(value)  # an input of later opsets
            elif takes is not None or (free and not name.startswith("_")):
                known[name] = value
            elif value != defaults.get(name):
                raise NodeError(
                    f"attribute {name} = {value} is not read; accepted is {defaults.get(name, 'none')}"
                )
        if "_opset" in parameters:
            known["_opset"] = self.file.opset
        if "_outputs" in parameters:
            known["_outputs"] = len(node.output)
        return known

    def network(self) -> Any:
        """The module; weights are buffers, so that the exported graph has their names."""
        network = torch.nn.Module()
        graph = self.file.proto.graph
        used = {key for step in self.steps for key in step.inputs} | {value.name for value in graph.output}
        places = {}
        for number, (key, array) in enumerate(self.constants.items()):
            if key in used and key not in self.values:
                places[key] = key.replace(".", "_").replace("/", "_") + f"_{number}"
                network.register_buffer(places[key], torch.from_numpy(np.array(array)))
        for number, step in enumerate(self.steps):
            name = step.name.strip("/").replace(".", "_") or f"node{number}"
            network.add_module(f"{name}_{number}" if hasattr(network, name) else name, step.layer)
        steps, inputs = list(self.steps), list(self.examples)
        outputs = [
            value.name for value in graph.output if value.name in self.values or value.name in self.constants
        ] + self.read_by_faults

        def forward(*arguments: Any) -> Any:
            values = dict(zip(inputs, arguments, strict=True))

            def value(key: str) -> Any:
                return values[key] if key in values else getattr(network, places[key])

            for step in steps:
                result = step.layer(*map(value, step.inputs))
                results = result if isinstance(result, list | tuple) else [result]
                values.update(zip(step.outputs, results, strict=False))
            return value(outputs[0]) if len(outputs) == 1 else tuple(map(value, outputs))

        network.forward = forward
        network.input_names = inputs
        network.referee = self.file.referee
        network.faults = list(self.faults)
        return network.eval()


def _label(node: Any) -> str:
    """What the user knows a node by: its name, or that of its first result."""
    return str(node.name or next((name for name in node.output if name), node.op_type))


def _op(node: Any) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def _unknown(node: Any) -> str:
    near = difflib.get_close_matches(node.op_type, OPS, 2) if node.domain in ("", "ai.onnx") else []
    helps = _HELP.get(node.op_type) or (f"near it are {' and '.join(near)}" if near else "")
    return f"cannot be quantised{f'; {helps}' if helps else ''}; docs/networks.md names the ops that can"


def _sizes(kind: Any) -> list[int | None] | None:
    """Those that ONNX infers for a TypeProto, None for unknown ones."""
    if not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    return [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]


def _plain(value: Any) -> Any:
    """An attribute's value with words as text, and lists as lists."""
    if isinstance(value, bytes):
        return value.decode()
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _is_random(node: Any, opset: int) -> bool:
    kinds = onnx.defs.OpSchema.NodeDeterminism
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        return False
    return bool(schema.node_determinism == kinds.NonDeterministic)
