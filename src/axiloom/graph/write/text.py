"""`Text`: the lines of a function, and how types, numbers and maps are spelled in MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.graph import Graph, GraphError, Node, Type

ELEMENTS = {
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "float32": "f32", "float64": "f64", "bool": "i1",
}  # fmt: skip
"""Numbers that linalg's C has; narrow floats would need other arithmetic."""
UNSIGNED = {"uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64"}
"""MLIR's integers have no sign: operations know it. What comes in and goes out of a function has no op."""


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


def constant(value: str, number: str) -> str:
    """A line without its result."""
    if number == "bool":
        return f"arith.constant {literal(value, number)}"
    return f"arith.constant {literal(value, number)} : {element(number)}"


MOVES = ("convert", "broadcast_in_dim", "reshape", "transpose", "slice")
"""Operations whose results have no numbers but their operand's, as long as the type holds these."""


@dataclass
class Text:
    """Lines of a function's body, and the names of nodes that have been written."""

    graph: Graph
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, operation: str, place: str = "") -> str:
        """A line with a result, whose name it returns."""
        name = self.name()
        self.lines.append(f"{name} = {operation}")
        return name

    def __getitem__(self, node: Node) -> str:
        """Of an operand. One number everywhere is written when it is asked for: bodies have their own."""
        if node.op == "splat" and id(node) not in self.names:
            self.names[id(node)] = self.filled(node.type, str(node.attributes["value"]))
        return self.names[id(node)]

    def contents(self, node: Node) -> NDArray[Any] | None:
        """All numbers in an integer constant, however it was moved or converted; None: not known."""
        while node.op in MOVES:
            node = node.operands[0]
        if node.op == "splat":
            return np.asarray([int(str(node.attributes["value"]))])
        return self.graph.constant(node) if node.op == "constant" else None

    def constant(self, value: str, number: str) -> str:
        return self.line(constant(value, number))

    def empty(self, type_: Type) -> str:
        return self.line(f"tensor.empty() : {spelled(type_)}")

    def filled(self, type_: Type, value: str) -> str:
        """A tensor with one number everywhere."""
        start, scalar = self.empty(type_), self.constant(value, type_.number)
        of, whole = element(type_.number), spelled(type_)
        return self.line(f"linalg.fill ins({scalar} : {of}) outs({start} : {whole}) -> {whole}")

    def generic(
        self,
        inputs: Sequence[tuple[str, Type]],
        start: str,
        result: Type,
        maps: Sequence[Sequence[str]],
        loops: Sequence[str],
        body: Sequence[str],
        arguments: Sequence[str],
        doc: str = "",
    ) -> str:
        """A ``linalg.generic`` over `loops` (``parallel`` or ``reduction``, one for each ``d``). The last of
        `maps` is the result's; `arguments` name the body's, and the last line of `body` yields."""
        dims = ", ".join(f"d{i}" for i in range(len(loops)))
        spelled_maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(of_operand)})>" for of_operand in maps)
        kinds = ", ".join(f'"{loop}"' for loop in loops)
        ins = ", ".join(name for name, _ in inputs)
        types = ", ".join(spelled(type_) for _, type_ in inputs)
        ins_text = f"ins({ins} : {types}) " if inputs else ""
        of = [element(operand_type.number) for operand_type in (*(type_ for _, type_ in inputs), result)]
        head = ", ".join(f"{name}: {kind}" for name, kind in zip(arguments, of, strict=True))
        said = f'doc = "{doc}", ' if doc else ""
        whole = spelled(result)
        opened = (
            f"linalg.generic {{{said}indexing_maps = [{spelled_maps}], iterator_types = [{kinds}]}} "
            f"{ins_text}outs({start} : {whole}) {{"
        )
        return self.line("\n".join([opened, f"^bb0({head}):", *body, f"}} -> {whole}"]))


def identity(rank: int) -> list[str]:
    return [f"d{i}" for i in range(rank)]
