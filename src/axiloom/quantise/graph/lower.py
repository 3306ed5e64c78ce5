"""From the ATen graph of a float network to the integer graph.

`lower` walks the graph once and keeps, for each ATen value, the integer value that stands for it. Batch norm
goes into the convolution in front of it, a following ReLU or clamp into the limits of the requantisation,
a factor that is known into the scale (so that dividing attention scores costs nothing), and what depends on
parameters alone is computed in float and quantised once. `ops` has one function an ATen op.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
import torch

from axiloom.errors import CompileError
from axiloom.frontend.pytorch import place_of
from axiloom.quantise.graph.calibrate import Ranges
from axiloom.quantise.graph.fixed import scale_of, to_int8
from axiloom.quantise.graph.graph import Constant, Graph, Input, Node

N = TypeVar("N", bound=Node)

ONNX_LAYER = "axiloom.frontend.onnx_network"

_CLAMPS = {
    "aten.relu.default": (0.0, math.inf),
    "aten.relu_.default": (0.0, math.inf),
    "aten.relu6.default": (0.0, 6.0),
    "aten.hardtanh.default": None,
    "aten.hardtanh_.default": None,
    "aten.clamp.default": None,
    "aten.clamp_min.default": None,
}
"""ATen ops that only limit: their limits, or None where the arguments say them."""


@dataclass(frozen=True)
class Tail:
    """What follows a sum and goes into its requantisation: the last node of it, and real limits."""

    last: Any
    norm: Any | None = None
    low: float = -math.inf
    high: float = math.inf

    def limits(self, scale: float) -> tuple[int, int]:
        """The limits in steps of `scale`."""
        return (
            -128 if self.low == -math.inf else max(-128, round(self.low / scale)),
            127 if self.high == math.inf else min(127, round(self.high / scale)),
        )


class Lowering:
    """The state of one walk: `values` by ATen node, `constants` of those that are known."""

    def __init__(
        self, module: Any, ranges: Ranges, name: str, inputs: Sequence[str] = (), *, shifts: bool = False
    ) -> None:
        """`inputs`: what the inputs are called, where the graph does not say it. `shifts`: sums become int8
        by shifts alone (:class:`axiloom.quantise.graph.graph.Shift`) where one can reach the scale."""
        self.module = module
        self.shifts = shifts
        self.ranges = ranges
        self.graph = Graph(name)
        self.values: dict[Any, Node] = {}
        self.constants: dict[Any, Any] = {}
        self.source: dict[str, str] = {}
        """Of a value of the integer graph, the ATen node that it stands for."""
        self._names: set[str] = set()
        self._input_names = iter(inputs)
        self._done: set[Any] = set()
        self._known: dict[str, Node] = {}
        self._refused: set[Any] = set()
        self._faults: list[str] = []

    # -- what the functions in `ops` use -----------------------------------------------------------------
    def add(self, node: N) -> N:
        """Append `node`, under a name that nobody has."""
        name, number = node.name, 1
        while name in self._names:
            number += 1
            name = f"{node.name}.{number}"
        self._names.add(name)
        node = replace(node, name=name)
        self.graph.nodes.append(node)
        return node

    def value(self, at: Any, argument: Any) -> Node:
        """The integer value of an argument of the ATen node `at`; what is known becomes a constant."""
        if isinstance(argument, torch.fx.Node) and argument in self.values:
            return self.values[argument]
        data = self.known(argument)
        if data is None:
            fail(at, f"{argument} has no value in integers")
        array = data.detach().numpy() if isinstance(data, torch.Tensor) else np.asarray(data, np.float32)
        while array.ndim and array.shape[0] == 1:
            array = array[0]  # broadcast anyway
        key = f"{argument}"
        if key not in self._known:
            scale = scale_of(float(np.abs(array).max(initial=0.0)))
            name = (
                self.name_of(argument)
                if isinstance(argument, torch.fx.Node)
                else f"{self.name_of(at)}.scalar"
            )
            data8 = to_int8(array, scale)
            self._known[key] = self.add(Constant(name=name, shape=array.shape, scale=scale, data=data8))
        return self._known[key]

    def known(self, argument: Any) -> Any:
        """The tensor or number of an argument that depends on no input, else None."""
        if isinstance(argument, torch.fx.Node):
            return self.constants.get(argument)
        return argument

    def parameter(self, at: Any, argument: Any, what: str) -> Any:
        """A parameter as float64 (None stays None); an error if it is computed from inputs."""
        if argument is None:
            return None
        value = self.known(argument)
        if value is None:
            fail(at, f"its {what} depends on an input; only parameters are supported")
        return np.asarray(value.detach().numpy(), np.float64)

    def scale(self, node: Any) -> float:
        """The scale of int8 that calibration gives for the value of an ATen node."""
        return self.ranges.scale(node.name)

    def tail(self, node: Any, *, norm: bool = False) -> Tail:
        """Follow a sum through a batch norm and a clamp that nobody else reads past."""
        found = Tail(node)
        user = _only_user(node)
        if norm and user is not None and str(user.target) == "aten.batch_norm.default":
            found = Tail(user, user)
            user = _only_user(user)
        if user is not None and str(user.target) in _CLAMPS and user.args[0] is found.last:
            low, high = limits_of(user)
            found = Tail(user, found.norm, low, high)
        for inner in {found.last, found.norm} - {None, node}:
            self._done.add(inner)
        return found

    def is_output(self, node: Any) -> bool:
        """Whether the value of an ATen node is one that the network returns, and nothing else reads it."""
        return [user.op for user in node.users] == ["output"]

    def name_of(self, node: Any) -> str:
        """Of a layer: the path of its module, with the op's own name where the module has more than one."""
        if node.op == "get_attr":
            return str(node.target)
        path, leaf = module_of(node)
        if leaf:
            return path
        return f"{path}.{node.name}" if path else str(node.name)

    # -- the walk ----------------------------------------------------------------------------------------
    def run(self, handlers: Mapping[str, Any], several: Sequence[str] = ()) -> Graph:
        """`several`: ops of several results, each of which is taken by itself.

        Raises CompileError with a line for each op that has no integer form; what reads such an op's value
        is not looked at.
        """
        for node in self.module.graph.nodes:
            if any(one in self._refused for one in node.all_input_nodes):
                self._refused.add(node)
                continue
            if str(node.target) in several and any(a not in self.constants for a in node.all_input_nodes):
                continue
            try:
                self._node(node, handlers)
            except CompileError as error:
                self._refused.add(node)
                self._faults.append(str(error))
        if self._faults:
            raise CompileError("\n".join(dict.fromkeys(self._faults)))
        self._drop_unused()
        return self.graph

    def _node(self, node: Any, handlers: Mapping[str, Any]) -> None:
        if node.op == "get_attr":
            self.constants[node] = _attribute(self.module, node.target)
        elif node.op == "placeholder":
            self._input(node)
        elif node.op == "output":
            results = node.args[0] if isinstance(node.args[0], list | tuple) else (node.args[0],)
            self.graph.outputs = [self.value(node, result).name for result in results]
        elif node.op == "call_function" and node not in self._done:
            self._call(node, handlers)

    def _call(self, node: Any, handlers: Mapping[str, Any]) -> None:
        tensors = [a for a in node.all_input_nodes if a not in self.constants]
        if not tensors:
            self.constants[node] = node.target(
                *torch.fx.map_arg(node.args, lambda n: self.constants[n]),
                **torch.fx.map_arg(node.kwargs, lambda n: self.constants[n]),
            )
            return
        handler = handlers.get(str(node.target))
        if handler is None:
            fail(node, "cannot be quantised; the supported ops stand in docs/quantisation.md")
        value, last = handler(self, node)
        self.values[node] = self.values[last] = value
        self.source[value.name] = last.name

    def _input(self, node: Any) -> None:
        example = node.meta["val"]
        shape = tuple(example.shape)
        name = next(self._input_names, str(node.name))
        if example.dtype.is_floating_point:
            made = self.add(Input(name=name, shape=shape, scale=self.scale(node)))
            self.source[made.name] = node.name
        else:
            made = self.add(Input(name=name, shape=shape, dtype="int32"))
        self.values[node] = made

    def _drop_unused(self) -> None:
        wanted = {*self.graph.outputs}
        kept: list[Node] = []
        for node in reversed(self.graph.nodes):
            if node.name in wanted or isinstance(node, Input):
                kept.append(node)
                wanted.update(node.inputs)
        self.graph.nodes = kept[::-1]


def limits_of(node: Any) -> tuple[float, float]:
    """The real limits of a clamping op."""
    fixed = _CLAMPS[str(node.target)]
    if fixed is not None:
        return fixed
    arguments = [*node.args[1:], *([None] * 2)]
    low = node.kwargs.get("min", arguments[0])
    high = node.kwargs.get("max", arguments[1])
    if str(node.target).startswith("aten.hardtanh"):
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
    return (-math.inf if low is None else float(low), math.inf if high is None else float(high))


def module_of(node: Any) -> tuple[str, bool]:
    """The path of the module that an ATen node is of, and whether that is one layer: of torch, or of ONNX."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path, kind = stack[-1][:2] if stack else ("", "")
    return str(path), bool(path) and str(kind).startswith(("torch.nn.modules", ONNX_LAYER))


def fail(node: Any, why: str) -> NoReturn:
    """Raise CompileError that names the ATen op, and its line in the model or its node in the ONNX file."""
    place = place_of(node)
    if place.startswith("onnx_network.py"):
        place = f"ONNX node {module_of(node)[0]}"
    path, _ = module_of(node)
    layer = f" (layer `{path}`)" if path and place else ""
    raise CompileError(f"{place}{': ' if place else ''}{node.target}: {why}{layer}")


def _only_user(node: Any) -> Any | None:
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].op == "call_function" else None


def _attribute(module: Any, path: str) -> Any:
    value = module
    for part in path.split("."):
        value = getattr(value, part)
    return value.detach() if isinstance(value, torch.Tensor) else value
