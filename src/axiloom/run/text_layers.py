"""Layers of a network on an instruction set: each a program that equality saturation found, validated.

A layer's function (a product and what is behind it) becomes a graph; its weights are constants of that, whose
contents nobody looks at. What the program keeps of a weight is the same numbers in another order: an argument
of the layer's driver, which the network's compiler packs once.

A layer's weights are arguments of its program. A program could hold its weights, as an
application's does. In a network twelve layers would then be twelve programs with as many megabytes of C.
The program's constants are followed back to the places of the weight's elements, and the network's
compiler packs each weight so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerType, StringAttr, TensorType

from axiloom.base.attributes import WEIGHT
from axiloom.base.errors import AxiloomError, CompileError
from axiloom.device.rtl import DeviceRtl
from axiloom.drivergen.c.driver import Arg, Call, Driver
from axiloom.drivergen.dialects import mlir
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes, set_attributes
from axiloom.graph.graph import Graph, Node
from axiloom.plan import figures
from axiloom.read.linalg.reader import read_text
from axiloom.report.columns import columns
from axiloom.run.selected import Read, Selected, select
from axiloom.selection.compile.cover import HostValue
from axiloom.selection.drive.driver import driver
from axiloom.selection.egraph.constants import Constants
from axiloom.selection.program.program import HostArray, Program
from axiloom.selection.validate.transfers import plan

LAYER = "layer"
"""What the compiler calls a layer's function before it has a name."""
PRODUCTS = ("convolution", "dense", "dot_general")
DIGIT = 64
"""Places of elements are followed through a constant's forms as digits of int8."""


@dataclass(frozen=True)
class Reordered:
    """A weight as the program has it: element i is element ``places[i]`` of the network's, row major."""

    places: NDArray[np.int64]

    def apply(self, array: NDArray[np.generic]) -> NDArray[np.generic]:
        """(1, elements)"""
        return np.ascontiguousarray(array).reshape(-1)[self.places.reshape(1, -1)]


@dataclass
class TextLayers:
    """Makes the layers of `device`. `read`: its text, with these constants."""

    read: Read
    device: DeviceRtl
    progress: Callable[[str], None] = lambda _: None
    made: list[tuple[str, Selected]] = field(default_factory=list)
    """Titles of layers, and what was selected for each."""

    def __call__(self, text: str, title: str) -> Driver:
        """Raises CompileError for a layer that no program of the instruction set computes."""
        self.progress(f"selecting instructions for {title}")
        try:
            graph = _graph(text, title)
            selected = select(graph, self.read, lambda _: self.device, lambda _: None)
        except AxiloomError as error:
            raise CompileError(str(error)) from None
        layer = self._driver(selected)
        self.made.append((title, selected))
        return layer

    def _driver(self, selected: Selected) -> Driver:
        program, places = with_arguments(selected)
        transfers = plan(program, selected.isa, self.device.stream_width)
        layer = driver(program, transfers, self.device.spec.link)
        taken = len(selected.graph.parameters) + len(selected.graph.constants)
        layer.args = [_argument(number, arg, taken) for number, arg in enumerate(layer.args)]
        layer.origins = [(number,) for number in range(taken)]
        layer.packings = places
        moved = figures(transfers)
        layer.calls = [_call(selected, (moved.sent, moved.received))]
        return layer

    def lines(self) -> list[str]:
        """For people: a line a layer that differs from the others, and in which sense it is right."""
        rows: list[tuple[str, ...]] = [("layer", "commands", "alone", "validated")]
        for title, selected in self.made:
            cycles = self.device.foretold(selected.program)
            alone = "-" if cycles is None else f"{cycles:,}"
            rows.append((title, str(len(selected.program.commands)), alone, str(selected.verdict)))
        return [
            f"Programs of {self.device.isa.name}, found by equality saturation; cycles of the device alone:",
            *columns(rows, "<>><"),
        ]


def _graph(text: str, title: str) -> Graph:
    """The layer's function. Weights that are matrices are constants, of any contents."""
    module = mlir.parse(text, title)
    function = mlir.only_function(module, title)
    attributes = argument_attributes(function)
    weights: dict[str, NDArray[np.int8]] = {}
    for arg, own in zip(function.args, attributes, strict=True):
        kind = arg.type
        if CONSTANT not in own or not isinstance(kind, TensorType) or kind.get_num_dims() < 2:
            continue
        if kind.element_type != IntegerType(8):
            raise CompileError(f"argument {arg.index} is {kind}: weights of i8 are taken")
        name = f"arg{arg.index}"
        own[WEIGHT] = StringAttr(name)
        shape = tuple(kind.get_shape())
        weights[name] = np.random.default_rng(arg.index).integers(-128, 128, shape).astype(np.int8)
    set_attributes(function, attributes)
    graph = read_text(str(module), title, weights)
    return replace(graph, name=LAYER)


def with_arguments(selected: Selected) -> tuple[Program, dict[int, Reordered]]:
    """The program with its weights as arguments, all of them in the order of the layer's function; by number,
    what the program has of a weight."""
    program, graph = selected.program, selected.graph
    arguments: dict[int, HostArray] = {}
    places: dict[int, Reordered] = {}
    rest: list[HostArray] = []
    for array in program.arrays:
        if array.role == "in":
            arguments[_number(array.name)] = array
        elif array.role == "constant" and (source := _from_weight(selected, array)) is not None:
            arguments[source[0]] = replace(array, role="in")
            places[source[0]] = source[1]
        else:
            rest.append(array)
    taken = len(graph.parameters) + len(graph.constants)
    if sorted(arguments) != list(range(taken)):
        missing = sorted({*range(taken)} - {*arguments})
        raise CompileError(f"its program does not read argument {', '.join(map(str, missing))}")
    ordered = [arguments[number] for number in range(taken)]
    results = [array for name in graph.result_names for array in rest if array.name == name]
    others = [array for array in rest if array not in results]
    kept = {array.name for array in others}
    constants = {name: value for name, value in program.constants.items() if name in kept}
    return replace(program, arrays=(*ordered, *results, *others), constants=constants), places


def _number(name: str) -> int:
    return int(name.removeprefix("arg"))


def _from_weight(selected: Selected, array: HostArray) -> tuple[int, Reordered] | None:
    """Which weight an array of the program has in another order, and that order; None for what is none."""
    cover, value = selected.compiled.cover, selected.program.constants[array.name]
    known = Constants(cover.saturated, selected.graph.constants)
    for (eclass, _), way in cover.ways.items():
        if not isinstance(way, HostValue) or not way.constant:
            continue
        contents = known.value(eclass)
        if contents is None or not np.array_equal(contents, value):
            continue
        for name, weight in selected.graph.constants.items():
            places = _places(selected, eclass, name, weight.shape)
            if places.max(initial=0) < weight.size and np.array_equal(weight.reshape(-1)[places], value):
                return _number(name), Reordered(places.reshape(-1))
    return None


def _places(selected: Selected, eclass: int, name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Of each element of a constant, the place in the weight from which it comes if it is only moved."""
    cover, count = selected.compiled.cover, prod(shape)
    whole: NDArray[np.int64] | None = None
    unit = 1
    while whole is None or unit < count:
        digits = (np.arange(count) // unit % DIGIT).astype(np.int8).reshape(shape)
        moved = Constants(cover.saturated, {**selected.graph.constants, name: digits}).value(eclass)
        assert moved is not None
        part = moved.astype(np.int64) * unit
        whole = part if whole is None else whole + part
        unit *= DIGIT
    return whole


def _argument(number: int, arg: Arg, taken: int) -> Arg:
    """Of the layer's function: what comes behind those it takes is a result."""
    if number >= taken:
        return replace(arg, name="out", result=number - taken)
    return replace(arg, name=f"in{number}")


def _call(selected: Selected, words: tuple[int, int]) -> Call:
    """What reports say of the layer: its multiply-adds, and the words that travel."""
    sums = [node for node in selected.graph.nodes() if node.op in PRODUCTS]
    adds = sum(node.type.elements * prod(_summed(node)) for node in sums)
    return Call({"x": adds}, (), "commands", (), words=words)


def _summed(node: Node) -> list[int]:
    """Sizes that a sum of products goes over."""
    left = node.operands[0].type.shape
    if node.op == "convolution":
        result = node.type.shape[-1]
        return [node.operands[1].type.elements // result]
    return [left[-1]]
