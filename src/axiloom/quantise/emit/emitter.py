"""Writes a function on tensors op by op: names, arguments, constants, maps, and the ops many nodes share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from axiloom.quantise.graph.graph import Graph, Input, Node
from axiloom.read.context.model import SOURCE, WEIGHT, Model

Array = np.ndarray[Any, Any]
Operand = tuple[str, str, str]
"""Of a generic: the value, its type, its indexing map."""

_INNER = {"half", "root", "unit", *"cdefghijlmopqrstwxyz"}
_INNER |= {f"{letter}{number}" for letter in "ap" for number in range(5)}
_INNER |= {"go", "nt", "nx", "pr", "sh", "ss", "xs", "ys"}
"""Values within bodies: what is outside has other names."""

ELEMENTS = {"int8": "i8", "int32": "i32", "int64": "i64"}


def tensor(shape: Sequence[int], element: str) -> str:
    """The type of a tensor."""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def node_type(node: Node) -> str:
    """The type of its value."""
    return tensor(node.shape, ELEMENTS[node.dtype])


def dims(*numbers: int) -> str:
    return ", ".join(f"d{number}" for number in numbers)


def affine(rank: int, results: str) -> str:
    return f"affine_map<({dims(*range(rank))}) -> ({results})>"


class Emitter:
    """The state of one function: `node` is being written, `values` are the names of those before it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.weights: dict[str, Array] = {}
        self.arguments: list[str] = []
        self.constants: dict[tuple[str, str], str] = {}
        self.maps: dict[str, str] = {}
        self.lines: list[str] = []
        self.values: dict[str, str] = {}
        self.used = {f"%{name}" for name in _INNER}
        self.node: Node

    def model(self, write: Mapping[type[Node], Callable[..., str]], source: str = "") -> Model:
        """The whole function; `write` gives the value of a node from the emitter, it and its inputs."""
        for parameter in self.graph.inputs:
            self.values[parameter.name] = self._name(parameter.name)
            self.arguments.append(f"{self.values[parameter.name]}: {node_type(parameter)}")
        for node in self.graph.nodes:
            if not isinstance(node, Input):
                self.node = node
                self.values[node.name] = write[type(node)](self, node, *(self.values[n] for n in node.inputs))
        outputs = [self.graph[name] for name in self.graph.outputs]
        types = ", ".join(map(node_type, outputs))
        types = types if len(outputs) == 1 else f"({types})"
        function = re.sub(r"\W", "_", self.graph.name) or "network"
        scales = ", ".join(
            f"axiloom.{what}_scales = [{', '.join(f'{node.scale or 0.0:.17e} : f64' for node in nodes)}]"
            for what, nodes in (("input", self.graph.inputs), ("output", outputs))
        )
        if source:
            said = source.replace("\\", "/").replace('"', "'")
            scales += f', {SOURCE} = "{said}"'
        head = [f"{alias} = {text}" for text, alias in self.maps.items()]
        known = [f"    {name} = arith.constant {v} : {t}" for (v, t), name in self.constants.items()]
        returned = ", ".join(self.values[name] for name in self.graph.outputs)
        text = [
            *head,
            "module {",
            f"  func.func @{function}({', '.join(self.arguments)}) -> {types} attributes {{{scales}}} {{",
            *known,
            *self.lines,
            f"    return {returned} : {', '.join(map(node_type, outputs))}",
            "  }",
            "}",
        ]
        return Model(self.graph.name, "\n".join(text) + "\n", self.weights)

    # -- pieces ------------------------------------------------------------------------------------------
    def _name(self, wanted: str) -> str:
        base = "%" + re.sub(r"\W", "_", wanted)
        if base[1:2].isdigit():  # layers of a torch.nn.Sequential are called 0, 1, ...: MLIR counts so itself
            base = f"%layer{base[1:]}"
        name, number = base, 1
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.used.add(name)
        return name

    def type_of(self, number: int = 0) -> str:
        """The type of an input of the node that is being written."""
        return node_type(self.graph[self.node.inputs[number]])

    def shape_of(self, number: int = 0) -> tuple[int, ...]:
        return self.graph[self.node.inputs[number]].shape

    def weight(self, suffix: str, data: Array) -> str:
        name = f"{self.node.name}.{suffix}"
        self.weights[name] = data
        value = self._name(name)
        kind = tensor(data.shape, ELEMENTS[str(data.dtype)])
        self.arguments.append(f'{value}: {kind} {{{WEIGHT} = "{name}"}}')
        return value

    def constant(self, number: float, kind: str) -> str:
        text = f"{number:.9e}" if kind.startswith("f") else str(number)
        if (text, kind) not in self.constants:
            self.constants[text, kind] = self._name(f"c{text}_{kind}" if kind[0] != "f" else "real")
        return self.constants[text, kind]

    def line(self, suffix: str, op: str) -> str:
        """One op with a result, named after its node."""
        value = self._name(f"{self.node.name}.{suffix}" if suffix else self.node.name)
        self.lines.append(f'    {value} = {op} loc("{self.node.name}")')
        return value

    def empty(self, shape: Sequence[int], element: str) -> str:
        return self.line("empty", f"tensor.empty() : {tensor(shape, element)}")

    def fill(self, shape: Sequence[int], element: str, number: int = 0) -> str:
        kind = tensor(shape, element)
        value, into = self.constant(number, element), self.empty(shape, element)
        return self.line("start", f"linalg.fill ins({value} : {element}) outs({into} : {kind}) -> {kind}")

    def map(self, rank: int, results: str) -> str:
        text = affine(rank, results)
        return self.maps.setdefault(text, f"#map{len(self.maps)}")

    def same(self, rank: int) -> str:
        return self.map(rank, dims(*range(rank)))

    def generic(
        self,
        suffix: str,
        ins: Sequence[Operand],
        out: Operand,
        body: Sequence[str],
        *,
        reduced: Sequence[int] = (),
        rank: int,
    ) -> str:
        """A linalg.generic. In `body`, %a0, %a1, ... are its inputs, %o its output, the last line's value
        is what it yields."""
        value, kind, indexing = out
        maps = ", ".join([m for _, _, m in ins] + [indexing])
        loops = ", ".join(f'"{"reduction" if loop in reduced else "parallel"}"' for loop in range(rank))
        operands = ", ".join(name for name, _, _ in ins)
        types = ", ".join(t for _, t, _ in ins)
        scalars = [f"%a{number}: {_element(t)}" for number, (_, t, _) in enumerate(ins)]
        result = body[-1].split(" = ")[0] if body else "%a0"
        inputs = f" ins({operands} : {types})" if ins else ""
        lines = [
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}{inputs} "
            f"outs({value} : {kind}) {{",
            f"    ^bb0({', '.join([*scalars, f'%o: {_element(kind)}'])}):",
            *(f"      {text}" for text in body),
            f"      linalg.yield {result} : {_element(kind)}",
            f"    }} -> {kind}",
        ]
        return self.line(suffix, "\n".join(lines))

    def elementwise(self, x: str, body: Sequence[str], *more: Operand) -> str:
        """The node's int8 value, of its first input element by element."""
        rank = len(self.node.shape)
        into = (self.empty(self.node.shape, "i8"), node_type(self.node), self.same(rank))
        return self.generic("", [(x, self.type_of(), self.same(rank)), *more], into, body, rank=rank)

    def padded(self, x: str, padding: tuple[int, int], number: int) -> tuple[str, str]:
        """x (b, c, h, w) with `number` around its rows and columns, and the type of that."""
        if padding == (0, 0):
            return x, self.type_of()
        edge = (0, 0, *padding)
        shape = [size + 2 * more for size, more in zip(self.shape_of(), edge, strict=True)]
        kind = tensor(shape, "i8")
        return self.pad("padded", x, (edge, edge), number, kind), kind

    def pad(
        self, suffix: str, x: str, edges: tuple[Sequence[int], Sequence[int]], number: int, kind: str
    ) -> str:
        """x, the first input, with `number` around it; `kind` is the type of that."""
        low, high = (list(edge) for edge in edges)
        value, element = self.constant(number, _element(kind)), _element(kind)
        places = ", ".join(f"%p{dim}: index" for dim in range(len(low)))
        text = (
            f"tensor.pad {x} low{low} high{high} {{\n"
            f"    ^bb0({places}):\n"
            f"      tensor.yield {value} : {element}\n"
            f"    }} : {self.type_of()} to {kind}"
        )
        return self.line(suffix, text)


def _element(kind: str) -> str:
    """Element type of a tensor type."""
    return kind.removeprefix("tensor<").removesuffix(">").rpartition("x")[2]
