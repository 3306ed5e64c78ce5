"""`Text`: the function that is written, and how types, numbers and maps are spelled in MLIR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from axiloom.base.attributes import WEIGHT
from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, GraphError, Node, Type

Operand: TypeAlias = tuple[str, Type, str]
"""Of a generic: the value, its type, its map."""

ELEMENTS = {
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "float32": "f32", "float64": "f64", "bool": "i1",
}  # fmt: skip
"""Numbers that linalg's C has; narrow floats would need other arithmetic."""
UNSIGNED = {"uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64"}
"""MLIR's integers have no sign: operations know it. What comes in and goes out of a function has no op."""

_INNER = re.compile(r"half|root|unit|[cdefghijlmopqrstwxyz]|[abp]\d+|go|nt|nx|pr|sh|ss|xs|ys")
"""Values within bodies: what is outside has other names."""
_LONGEST_NAME = 100


def element(number: str, place: str = "") -> str:
    """Raises GraphError for numbers that have no C."""
    spelling = ELEMENTS.get(number) or UNSIGNED.get(number)
    if spelling is None:
        where = f"{place}: " if place else ""
        raise GraphError(f"{where}{number} has no C on the CPU; there are {', '.join(ELEMENTS)}")
    return spelling


def spelled(type_: Type, place: str = "") -> str:
    """Raises GraphError for numbers that have no C, and tensors without elements."""
    if 0 in type_.shape:
        where = f"{place}: " if place else ""
        raise GraphError(f"{where}a tensor without elements ({type_})")
    return "tensor<" + "".join(f"{size}x" for size in type_.shape) + element(type_.number, place) + ">"


def literal(value: str, number: str) -> str:
    """A number's text (`Number.text`) as MLIR has it; infinities and NaN by their bits."""
    if number == "bool":
        return "true" if value not in ("0", "False", "false") else "false"
    if number in UNSIGNED:  # its bits, as a number with sign
        bits_ = int(number[4:])
        return str((int(value) + (1 << bits_ - 1)) % (1 << bits_) - (1 << bits_ - 1))
    if not number.startswith("float"):
        return value
    bits = {
        "float32": {"inf": "0x7F800000", "-inf": "0xFF800000", "nan": "0x7FC00000"},
        "float64": {
            "inf": "0x7FF0000000000000", "-inf": "0xFFF0000000000000", "nan": "0x7FF8000000000000",
        },
    }[number]  # fmt: skip
    if value in bits:
        return bits[value]
    mantissa, mark, exponent = value.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + mark + exponent


def passed(type_: Type, place: str = "") -> str:
    """`spelled`, of an argument or a result."""
    if type_.number in UNSIGNED:
        where = f"{place}: " if place else ""
        raise GraphError(f"{where}{type_.number} goes in or out of the function; convert it there")
    return spelled(type_, place)


MOVES = ("convert", "broadcast_in_dim", "reshape", "transpose", "slice")
"""Operations whose results have no numbers but their operand's, as long as the type holds these."""


class Text:
    """The function so far. `node` is being written: lines carry its place, and values are named after it."""

    def __init__(self, graph: Graph, fixed: Set[int] = frozenset()) -> None:
        """`fixed`: ``id`` of nodes that follow from constants and are weights, as constants are."""
        self.graph, self.fixed = graph, fixed
        self.node: Node
        self.weights: dict[str, NDArray[Any]] = {}
        self.arguments: list[str] = []
        self.lines: list[str] = []
        self._names: dict[int, str] = {}
        self._shaped: dict[tuple[int, tuple[int, ...]], str] = {}
        self._constants: dict[str, str] = {}
        self._maps: dict[str, str] = {}
        self._taken: dict[str, int] = {}
        """Names, and the number that the last one that begins so has behind it."""

    def function(self, name: str, results: Sequence[Node], attributes: Mapping[str, str]) -> str:
        """All of it, as a module. `attributes` are the function's."""
        returned = ", ".join(self[result] for result in results)
        types = ", ".join(passed(result.type, result.place) for result in results)
        returns = types if len(results) == 1 else f"({types})"
        said = ", ".join(f"{key} = {value}" for key, value in attributes.items())
        return "\n".join(
            [
                *(f"{alias} = {map_}" for map_, alias in self._maps.items()),
                "module {",
                f"  func.func @{name}({', '.join(self.arguments)}) -> {returns} "
                f"{f'attributes {{{said}}} ' if said else ''}{{",
                *(f"    {value} = arith.constant {number}" for number, value in self._constants.items()),
                *self.lines,
                f"    return {returned} : {types}",
                "  }",
                "}\n",
            ]
        )

    # -- values --------------------------------------------------------------------------------------------
    def __getitem__(self, node: Node) -> str:
        """Of an operand; what is no line yet becomes one, or an argument, when it is asked for."""
        if id(node) not in self._names:
            splat = node.op == "splat"
            self._names[id(node)] = (
                self.filled(node.type, str(node.attributes["value"])) if splat else self.weight(node)
            )
        return self._names[id(node)]

    def __setitem__(self, node: Node, name: str) -> None:
        self._names[id(node)] = name

    def __contains__(self, node: Node) -> bool:
        return id(node) in self._names

    def is_weight(self, node: Node) -> bool:
        return node.op == "constant" or id(node) in self.fixed

    def parameter(self, node: Node) -> None:
        name = str(node.attributes["name"])
        self[node] = self._name(name)
        self.arguments.append(f"{self[node]}: {passed(node.type, node.place or name)}")

    def weight(self, node: Node, shape: tuple[int, ...] | None = None) -> str:
        """What follows from constants, as an argument with contents; in another shape of as many elements."""
        shape = node.type.shape if shape is None else shape
        if (id(node), shape) not in self._shaped:
            (value,) = evaluate(Graph(self.graph.name, (), (node,), self.graph.constants), {})
            label = wanted = quoted(str(node.attributes.get("name", node.place or node.op)))
            number = 1
            while label in self.weights:
                number += 1
                label = f"{wanted}.{number}"
            self.weights[label] = np.ascontiguousarray(value.reshape(shape))
            name = self._shaped[id(node), shape] = self._name(label)
            type_ = passed(Type(shape, node.type.number), node.place)
            self.arguments.append(f'{name}: {type_} {{{WEIGHT} = "{label}"}}')
        return self._shaped[id(node), shape]

    def contents(self, node: Node) -> NDArray[Any] | None:
        """All numbers in an integer constant, however it was moved or converted; None: not known."""
        while node.op in MOVES:
            node = node.operands[0]
        if node.op == "splat":
            return np.asarray([int(str(node.attributes["value"]))])
        return self.graph.constant(node) if node.op == "constant" else None

    def _name(self, wanted: str) -> str:
        """A value's, which no other has."""
        base = re.sub(r"\W", "_", wanted, flags=re.ASCII)[:_LONGEST_NAME]
        if not base or base[0].isdigit():  # as layers of a torch.nn.Sequential are called: MLIR counts so
            base = f"layer{base}"
        number = self._taken.get(base, 1)
        name = base if number == 1 else f"{base}_{number}"
        while name in self._taken or _INNER.fullmatch(name):
            number += 1
            name = f"{base}_{number}"
        self._taken[base] = number
        self._taken.setdefault(name, 1)
        return f"%{name}"

    # -- lines ---------------------------------------------------------------------------------------------
    def line(self, operation: str, suffix: str = "") -> str:
        """A line with a result, whose name it returns."""
        stem, place = self.node.place or self.node.op, self.node.place
        name = self._name(f"{stem}.{suffix}" if suffix else stem)
        self.lines.append(f"    {name} = {operation}" + (f' loc("{quoted(place)}")' if place else ""))
        return name

    def constant(self, value: str | int, number: str) -> str:
        """A number's text (`Number.text`) as a value, at the head of the function."""
        text, of = literal(str(value), number), element(number)
        name = "real" if number.startswith("float") else f"c{text}_{of}"
        return self._constant(text if number == "bool" else f"{text} : {of}", name)

    def index(self, value: int) -> str:
        return self._constant(f"{value} : index", f"c{value}_index")

    def _constant(self, text: str, name: str) -> str:
        if text not in self._constants:
            self._constants[text] = self._name(name)
        return self._constants[text]

    def empty(self, type_: Type) -> str:
        return self.line(f"tensor.empty() : {spelled(type_)}", "empty")

    def filled(self, type_: Type, value: str | int = "0") -> str:
        """A tensor with one number everywhere."""
        scalar, start = self.constant(value, type_.number), self.empty(type_)
        of, whole = element(type_.number), spelled(type_)
        return self.line(f"linalg.fill ins({scalar} : {of}) outs({start} : {whole}) -> {whole}", "start")

    def map(self, rank: int, results: Iterable[str]) -> str:
        """What an operand's index is in terms of the loops ``d0``, ``d1``, ..."""
        text = f"affine_map<({', '.join(dims(*range(rank)))}) -> ({', '.join(results)})>"
        return self._maps.setdefault(text, f"#map{len(self._maps)}")

    def same(self, rank: int) -> str:
        return self.map(rank, dims(*range(rank)))

    def operand(self, node: Node) -> Operand:
        """A value whose elements are read in the order of the loops."""
        return self[node], node.type, self.same(len(node.type.shape))

    def into(self, type_: Type) -> Operand:
        return self.empty(type_), type_, self.same(len(type_.shape))

    def generic(
        self,
        inputs: Sequence[Operand],
        out: Operand,
        body: Sequence[str],
        *,
        rank: int,
        reduced: Sequence[int] = (),
        result: str = "",
        suffix: str = "",
        doc: str = "",
    ) -> str:
        """A ``linalg.generic`` over `rank` loops. In `body`, %a0, %a1, ... are its inputs and %o its output;
        it yields `result`, or the last line's value, or %a0."""
        start, type_, map_ = out
        maps = ", ".join([indexing for _, _, indexing in inputs] + [map_])
        loops = ", ".join(f'"{"reduction" if loop in reduced else "parallel"}"' for loop in range(rank))
        names, types = ", ".join(name for name, _, _ in inputs), ", ".join(spelled(t) for _, t, _ in inputs)
        scalars = [f"%a{number}: {element(t.number)}" for number, (_, t, _) in enumerate(inputs)]
        whole, of = spelled(type_), element(type_.number)
        said = f'doc = "{doc}", ' if doc else ""
        lines = [
            f"linalg.generic {{{said}indexing_maps = [{maps}], "
            f"iterator_types = [{loops}]}}{f' ins({names} : {types})' if inputs else ''} "
            f"outs({start} : {whole}) {{",
            f"    ^bb0({', '.join([*scalars, f'%o: {of}'])}):",
            *(f"      {text}" for text in body),
            f"      linalg.yield {result or (body[-1].split(' = ')[0] if body else '%a0')} : {of}",
            f"    }} -> {whole}",
        ]
        return self.line("\n".join(lines), suffix)

    def elementwise(self, x: Node, body: Sequence[str], *more: Operand) -> str:
        """The node's value, of `x` element by element."""
        rank, into = len(self.node.type.shape), self.into(self.node.type)
        return self.generic([self.operand(x), *more], into, body, rank=rank)


def dims(*numbers: int) -> list[str]:
    return [f"d{number}" for number in numbers]


def quoted(text: str) -> str:
    """Within quotes of MLIR."""
    return "".join(c if c.isprintable() else " " for c in text.replace("\\", "/").replace('"', "'"))
