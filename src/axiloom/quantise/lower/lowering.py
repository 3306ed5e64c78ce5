"""From the ATen graph of a float network to a graph of integers.

`lower` walks the graph once and keeps, for each ATen value, the integer value that stands for it. Batch norm
goes into the convolution in front of it, a following ReLU or clamp into the limits of the requantisation,
a factor that is known into the scale (so that dividing attention scores costs nothing), and what depends on
parameters alone is computed in float and quantised once. `ops` has one function an ATen op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from axiloom.base.errors import CompileError
from axiloom.graph import Attribute, Graph, GraphError, Node, Type
from axiloom.graph.graph import in_order
from axiloom.graph.ops import Builder
from axiloom.quantise.lower.calibrate import Ranges
from axiloom.quantise.lower.fixed import FactorError, scale_of, table, to_int8
from axiloom.read.pytorch import nodes
from axiloom.read.pytorch.nodes import is_node, is_tensor, module_of, onnx_op, place_of

Array = np.ndarray[Any, Any]

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
_ONE_NUMBER = (
    *("aten.hardswish.default", "aten.hardswish_.default", "aten.prelu.default", "aten.rsub.Scalar"),
    *("aten.where.ScalarOther", "aten.where.ScalarSelf"),
)
"""Ops element by element that torch does not tag so."""
_SCALED = ("aten.mul.Tensor", "aten.mul_.Tensor", "aten.div.Tensor", "aten.div_.Tensor")
_ADDED = ("aten.add.Tensor", "aten.add_.Tensor")


@dataclass(frozen=True)
class Function:
    """A value that is computed of one int8 value, element by element: any chain of ops is one table."""

    base: Node
    of: Callable[[Any], Any]
    """Of a tensor of float64."""


@dataclass(frozen=True)
class Tail:
    """What follows a sum and goes into its requantisation: the last node of it, and real limits."""

    last: Any
    norm: Any | None = None
    offset: Any | None = None
    """What is added, one number a channel (float64)."""
    low: float = -math.inf
    high: float = math.inf

    def limits(self, scale: float) -> tuple[int, int]:
        """The limits in steps of `scale`."""
        low, high = (round(min(max(limit / scale, -128), 127)) for limit in (self.low, self.high))
        return min(low, high), high


class Lowering:
    """The state of one walk: `values` by ATen node, `constants` of those that are known."""

    def __init__(
        self, module: Any, ranges: Ranges, name: str, inputs: Sequence[str] = (), *, shifts: bool = False
    ) -> None:
        """`inputs`: what the inputs are called, where the graph does not say it. `shifts`: sums become int8
        by shifts alone (``requantise_shift``) where one can reach the scale."""
        self.module = module
        self.shifts = shifts
        self.ranges = ranges
        self.name = name
        self.scales: dict[int, float | None] = {}
        """By ``id`` of a node: what one step of its int8 is worth; None for sums and for indices."""
        self._builder = Builder(unify=False)
        self._order: list[Node] = []
        self._contents: dict[str, Array] = {}
        self._results: list[Node] = []
        self.values: dict[Any, Node] = {}
        self.constants: dict[Any, Any] = {}
        self.functions: dict[Any, Function] = {}
        """Values that become a table when somebody reads them."""
        self.source: dict[str, str] = {}
        """Of a place in the integer graph, the ATen node whose value is there."""
        self._names: set[str] = set()
        self._input_names = iter(inputs)
        self._done: set[Any] = set()
        self._known: dict[str, Node] = {}
        self._refused: set[Any] = set()
        self.faults: list[str] = []
        """A line for each op that has no integer form."""

    # -- what the functions in `ops` use -----------------------------------------------------------------
    def add(
        self,
        op: str,
        *operands: Node,
        name: str,
        scale: float | None,
        weights: Mapping[str, Array] | None = None,
        **attributes: Attribute,
    ) -> Node:
        """The next operation, under a name that nobody has. `scale`: what one step of it is worth. `weights`
        are operands behind the others, by what they are."""
        name = self._free(name)
        known = [self._leaf(f"{name}.{what}", array, name) for what, array in (weights or {}).items()]
        return self._keep(self._builder.op(op, *operands, *known, place=name, **attributes), scale)

    def number(self, value: int) -> Node:
        """An int8 without dimensions."""
        return self._builder.op("splat", shape=(), number="int8", value=str(value))

    def step(self, node: Node) -> float | None:
        """What one step of a value is worth; None for sums on the way to int8, and for indices."""
        return self.scales[id(node)]

    def real_step(self, node: Node) -> float:
        """That of a value from `real`."""
        scale = self.step(node)
        assert scale is not None
        return scale

    def _free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}.{number}"
        self._names.add(name)
        return name

    def _leaf(self, name: str, array: Array, place: str) -> Node:
        self._contents[name] = array
        return self._builder.leaf("constant", name, Type(array.shape, str(array.dtype)), place)

    def _keep(self, node: Node, scale: float | None) -> Node:
        self._order.append(node)
        self.scales[id(node)] = scale
        return node

    def value(self, at: Any, argument: Any, *, loose: bool = False) -> Node:
        """The integer value of an argument of the ATen node `at`; what is known becomes a constant.

        `loose`: a constant may lack leading dims of one element, as broadcasting gives them.
        """
        if is_node(argument):
            if argument not in self.values and argument in self.functions:
                self.values[argument] = self._by_table(argument)
                self.source[self.values[argument].place] = argument.name
            if argument in self.values:
                return self.values[argument]
        data = self.known(argument)
        if data is None:
            fail(at, f"{argument} has no value in integers")
        array = data.detach().numpy() if is_tensor(data) else np.asarray(data, np.float32)
        if not np.isfinite(array).all():
            fail(at, f"{argument} has values that are not finite")
        while loose and array.ndim and array.shape[0] == 1:
            array = array[0]
        key = f"{argument} {array.shape}"
        if key not in self._known:
            own = is_node(argument)
            self._known[key] = self.constant(at, "scalar", array, self.name_of(argument) if own else "")
        return self._known[key]

    def constant(self, at: Any, what: str, array: Any, name: str = "") -> Node:
        """Known real numbers as int8."""
        scale = scale_of(float(np.abs(array).max(initial=0.0)))
        name = self._free(name or f"{self.name_of(at)}.{what}")
        return self._keep(self._leaf(f"{name}.constant", to_int8(array, scale), name), scale)

    def real(self, at: Any, argument: Any, *, loose: bool = False) -> Node:
        """As :meth:`value`, and int8 with a scale: no integer of the user's."""
        node = self.value(at, argument, loose=loose)
        if self.step(node) is None or node.type.number != "int8":
            fail(at, f"{argument} has integers, and the op computes with them: cast them to float32 before")
        return node

    def known(self, argument: Any) -> Any:
        """The tensor or number of an argument that depends on no input, else None."""
        if is_node(argument):
            return self.constants.get(argument)
        return argument

    def parameter(self, at: Any, argument: Any, what: str) -> Any:
        """A parameter as float64 (None stays None); an error if it is computed from inputs."""
        if argument is None:
            return None
        value = self.known(argument)
        if value is None:
            fail(at, f"its {what} depends on an input; only parameters are supported")
        array = np.asarray(value.detach().numpy(), np.float64)
        if not np.isfinite(array).all():
            fail(at, f"its {what} has values that are not finite")
        return array

    def scale(self, node: Any) -> float:
        """The scale of int8 that calibration gives for the value of an ATen node."""
        if not math.isfinite(self.ranges.largest.get(node.name, math.inf)):
            fail(node, "its values on the calibration data are not finite real numbers")
        return self.ranges.scale(node.name)

    def tail(self, node: Any, *, norm: bool = False, channels: tuple[int, int] | None = None) -> Tail:
        """Follow a sum through what is added, a batch norm and a clamp that nobody else reads past.

        `channels`: the axis of the sum's channels and their number; only then something may be added.
        """
        tail = Tail(node)
        user = _only_user(node)
        if channels is not None and user is not None:
            offset = self._offset(node, user, *channels)
            if offset is not None:
                tail = Tail(user, offset=offset)
                user = _only_user(user)
        if norm and user is not None and str(user.target) == "aten.batch_norm.default":
            tail = replace(tail, last=user, norm=user)
            user = _only_user(user)
        if user is not None and str(user.target) in _CLAMPS and user.args[0] is tail.last:
            low, high = limits_of(user)
            tail = replace(tail, last=user, low=low, high=high)
        at = tail.last
        while at is not node:
            self._done.add(at)
            at = next(source for source in at.all_input_nodes if source not in self.constants)
        return tail

    def _offset(self, node: Any, user: Any, axis: int, count: int) -> Any | None:
        """What `user` adds to the sums of `node`, one number a channel; None if it does something else."""
        if str(user.target) not in _ADDED or user.kwargs.get("alpha", 1) != 1:
            return None
        other = user.args[1] if user.args[0] is node else user.args[0]
        known = self.known(other)
        shape = user.meta["val"].shape
        if known is None or other is node or shape != node.meta["val"].shape:
            return None
        array = np.asarray(known, np.float64)
        wide = (1,) * (len(shape) - array.ndim) + array.shape
        alone = all(size == 1 for dim, size in enumerate(wide) if dim != axis % len(shape))
        return np.broadcast_to(array.ravel(), count) if alone and array.size in (1, count) else None

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

        Raises CompileError with a line for each op that has no integer form, also for those behind one.
        """
        for node in self.module.graph.nodes:
            if str(node.target) in several and any(a not in self.constants for a in node.all_input_nodes):
                continue
            try:
                if node.op == "call_function" and node.args and node.args[0] in self._refused:
                    self._stand_in(node)  # one of several results
                else:
                    self._node(node, handlers)
            except CompileError as error:
                self.faults.append(str(error))
                self._stand_in(node)
        if self.faults:
            raise CompileError("\n".join(dict.fromkeys(self.faults)))
        return self._graph()

    def _stand_in(self, node: Any) -> None:
        """Give a refused op a value, so that what reads it is looked at, too."""
        value = node.meta.get("val")
        if not is_tensor(value):
            self._refused.add(node)
            return
        largest = self.ranges.largest.get(node.name, 1.0)
        scale = scale_of(largest if math.isfinite(largest) else 1.0)
        self.values[node] = self._parameter(f"{node.name}.refused", Type(tuple(value.shape), "int8"), scale)

    def _node(self, node: Any, handlers: Mapping[str, Any]) -> None:
        if node.op == "get_attr":
            self.constants[node] = nodes.attribute(self.module, node.target)
        elif node.op == "placeholder":
            self._input(node)
        elif node.op == "output":
            results = node.args[0] if isinstance(node.args[0], list | tuple) else (node.args[0],)
            self._results = [self.value(node, result) for result in results]
        elif node.op == "call_function" and node not in self._done:
            self._call(node, handlers)

    def _call(self, node: Any, handlers: Mapping[str, Any]) -> None:
        if not node.users:
            return  # what nobody reads, and a check of types
        tensors = [a for a in node.all_input_nodes if a not in self.constants]
        if not tensors:
            self.constants[node] = nodes.computed(node, self.constants.__getitem__)
            return
        function = self._pointwise(node)
        if function is not None:
            self.functions[node] = function
            return
        handler = handlers.get(str(node.target))
        if handler is None:
            fail(node, "cannot be quantised; the supported ops stand in docs/networks.md")
        shape = tuple(node.meta["val"].shape)
        if 0 in shape:
            fail(node, f"a value of {list(shape)}, without elements")
        try:
            value, last = handler(self, node)
        except FactorError as error:
            fail(node, f"its scales are too far apart: {error}")
        except GraphError as error:
            fail(node, str(error))
        self.values[node] = self.values[last] = value
        self.source[value.place] = last.name

    def _pointwise(self, node: Any) -> Function | None:
        """The op as a function of one int8 value, if it is one: by torch's own word, and by what it reads."""
        if not nodes.is_pointwise(node) and str(node.target) not in _ONE_NUMBER:
            return None
        inputs: dict[Any, Any] = {}
        bases: dict[str, Node] = {}
        for argument in node.all_input_nodes:
            if argument in self.constants:
                known = self.constants[argument]
                if not is_tensor(known) or known.numel() != 1:
                    return None
                known = known.reshape(())  # the table has a dim of its own
                inputs[argument] = known.double() if known.dtype.is_floating_point else known
                continue
            base = self.functions[argument].base if argument in self.functions else self.values.get(argument)
            if base is None or base.type.number != "int8" or self.step(base) is None:
                return None
            bases[base.place] = base
            inputs[argument] = self.functions[argument].of if argument in self.functions else nodes.copied
        value = node.meta["val"]
        if len(bases) != 1 or not is_tensor(value):
            return None
        (base,) = bases.values()
        if value.numel() != base.type.elements:
            return None

        def of(x: Any) -> Any:
            values = {n: v if is_tensor(v) else v(x) for n, v in inputs.items()}
            return nodes.computed(node, values.get)

        return Function(base, of)

    def _by_table(self, node: Any) -> Node:
        """The value of a function: of a product with, or a quotient by, a positive number the same
        integers."""
        function, shape, name = self.functions[node], tuple(node.meta["val"].shape), self.name_of(node)
        factor = _factor(node, self.known)
        if factor is not None and self._settled(node.args[0]):
            value = self.real(node, node.args[0])
            return self.add("reshape", value, name=name, scale=self.real_step(value) * factor, shape=shape)
        if not node.meta["val"].dtype.is_floating_point:
            fail(node, "a value that is no real number")
        base, scale = function.base, self.scale(node)

        def real(values: Any) -> Any:
            with np.errstate(all="ignore"):
                return np.nan_to_num(nodes.on_array(function.of, values), posinf=1e30, neginf=-1e30)

        data = table(real, self.real_step(base), scale)
        values = self.add("lookup", base, name=name, scale=scale, weights={"table": data})
        if shape == base.type.shape:
            return values
        return self.add("reshape", values, name=f"{name}.shape", scale=scale, shape=shape)

    def _settled(self, node: Any) -> bool:
        """Whether a value has integers of its own anyway, which a product with a number can share."""
        if node not in self.functions or node in self.values or len(node.users) > 1:
            return True
        return _factor(node, self.known) is not None and self._settled(node.args[0])

    def _input(self, node: Any) -> None:
        example = node.meta["val"]
        shape = tuple(example.shape)
        name = next(self._input_names, str(node.name))
        if example.dtype.is_floating_point:
            value = self._parameter(name, Type(shape, "int8"), self.scale(node))
            self.source[value.place] = node.name
        else:
            value = self._parameter(name, Type(shape, "int32"), None)
        self.values[node] = value

    def _parameter(self, name: str, type_: Type, scale: float | None) -> Node:
        name = self._free(name)
        return self._keep(self._builder.leaf("parameter", name, type_, name), scale)

    def _graph(self) -> Graph:
        """All parameters, and of the rest what results need."""
        needed = {id(node): node for node in in_order(self._results)}
        order = tuple(node for node in self._order if id(node) in needed)
        parameters = tuple(node for node in self._order if node.op == "parameter")
        names = {str(node.attributes["name"]) for node in needed.values() if node.op == "constant"}
        contents = {name: array for name, array in self._contents.items() if name in names}
        return Graph(self.name, parameters, tuple(self._results), contents, order)


def _factor(node: Any, known: Callable[[Any], Any]) -> float | None:
    """c of ``x * c`` or ``x / c`` (then 1 / c) with a positive number that is known, and a value x."""
    if str(node.target) not in _SCALED or known(node.args[0]) is not None:
        return None
    number = known(node.args[1])
    if number is None or (is_tensor(number) and number.numel() != 1):
        return None
    factor = float(number)
    if not (math.isfinite(factor) and factor > 0):
        return None
    return 1 / factor if "div" in str(node.target) else factor


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


def fail(node: Any, why: str) -> NoReturn:
    """Raise CompileError that names the ATen op, and its line in the model or its node in the ONNX file."""
    path, op = module_of(node)[0], onnx_op(node)
    if op:
        raise CompileError(f"ONNX node {path}: ONNX op {op}: {why} ({node.target})")
    place = place_of(node)
    layer = f" (layer `{path}`)" if path and place else ""
    raise CompileError(f"{place}{': ' if place else ''}{node.target}: {why}{layer}")


def _only_user(node: Any) -> Any | None:
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].op == "call_function" else None
