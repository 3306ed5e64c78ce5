"""A function of linalg on tensors to a graph.

Arguments with the attribute ``axiloom.weight`` are constants, whose contents are given; the others are
parameters. Integers of MLIR have no sign: they are signed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from axiloom.base.attributes import WEIGHT
from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects import mlir
from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.numbers import Array, number
from axiloom.read.context import Context, ReadError
from axiloom.read.linalg import moves, windows
from axiloom.read.linalg.scalars import RULES as SCALARS
from axiloom.read.linalg.structured import Structured
from axiloom.read.linalg.values import Space, Value

NUMBERS = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i1": "bool", "i8": "int8",
    "i16": "int16", "i32": "int32", "i64": "int64", "index": "int64",
}  # fmt: skip


def read_text(text: str, name: str, weights: Mapping[str, Array]) -> Graph:
    """The only function of a text. Raises ReadError."""
    try:
        module = mlir.parse(text, name)
    except CompileError as error:
        raise ReadError(str(error)) from None
    functions: list[Any] = [op for op in module.ops if op.name == "func.func" and not op.is_declaration]
    if len(functions) != 1:
        there = ", ".join(function.sym_name.data for function in functions) or "none"
        raise ReadError(f"{name}: one function is needed; there are {there}")
    return _Function(Context(name), functions[0], weights).graph()


class _Function:
    """The values of one function. It is what rules know as `Reader`."""

    def __init__(self, context: Context, function: Any, weights: Mapping[str, Array]) -> None:
        self.context, self.function, self.weights = context, function, weights
        self.values: dict[Any, Node] = {}

    def graph(self) -> Graph:
        parameters = []
        annotations = self.function.arg_attrs.data if self.function.arg_attrs else []
        for i, argument in enumerate(self.function.body.block.args):
            self.context.place = f"argument {i}"
            attributes = annotations[i].data if i < len(annotations) else {}
            weight = attributes.get(WEIGHT)
            if weight is None:
                self.values[argument] = self.context.parameter(f"arg{i}", self._type(argument.type))
                parameters.append(self.values[argument])
            else:
                self.values[argument] = self._weight(weight.data, self._type(argument.type))
        results: list[Node] = []
        for op in self.function.body.block.ops:
            self.context.place = mlir.where(op).removeprefix(f"{self.context.name}:")
            if op.name == "func.return":
                results = [self.node(operand) for operand in op.operands]
            else:
                self._op(op)
        return self.context.graph(parameters, results, self.function.sym_name.data)

    def node(self, value: Any) -> Node:
        if value not in self.values and getattr(value.owner, "name", "") == "arith.constant":
            self.values[value] = moves.constant(self, value.owner, f"constant{len(self.context.constants)}")
        if value not in self.values:
            raise self.context.error("a value that is not known here")
        return self.values[value]

    def number(self, type_: Any) -> str:
        name = NUMBERS.get(str(type_))
        if name is None:
            raise self.context.error(f"numbers of type {type_}; read are {', '.join(NUMBERS)}")
        return name

    def _type(self, type_: Any) -> Type:
        if getattr(type_, "name", "") != "tensor" or any(size < 0 for size in type_.get_shape()):
            raise self.context.error(f"a {str(type_)[:60]}: tensors of known shapes are read")
        return Type(tuple(type_.get_shape()), self.number(type_.get_element_type()))

    def _weight(self, name: str, type_: Type) -> Node:
        array = self.weights.get(name)
        if array is None:
            raise self.context.error(f"no array for the weight {name}")
        wanted = number(type_.number).host
        raw = np.asarray(array)
        if raw.shape != type_.shape or raw.dtype.itemsize != wanted.itemsize:
            raise self.context.error(f"the weight {name} is {raw.dtype}{raw.shape}, not {type_}")
        return self.context.constant(raw.view(wanted), type_.number, name)

    def _op(self, op: Any) -> None:
        nodes = self._made(op)
        for result, node in zip(op.results, nodes, strict=True):
            wanted = self._type(result.type) if hasattr(result.type, "get_shape") else None
            if wanted is not None and node.type != wanted:
                raise self.context.error(f"{op.name} became {node.type}, not {wanted}")
            self.values[result] = node

    def _made(self, op: Any) -> list[Node]:
        name = op.name.removeprefix("linalg.")
        if op.name == "arith.constant":
            return [moves.constant(self, op, f"constant{len(self.context.constants)}")]
        if op.name == "linalg.fill":
            return [self.context.broadcast(self.node(op.inputs[0]), op.results[0].type.get_shape(), ())]
        if op.name in _LINALG:
            return [_LINALG[op.name](self, op)]
        if name in windows.NAMES and op.name.startswith("linalg."):
            return [windows.read(self, op, name)]
        if op.name in moves.RULES:
            return [moves.RULES[op.name](self, op)]
        if op.name in SCALARS:
            return [self._elementwise(op)]
        if op.name.startswith("linalg.") and hasattr(op, "get_indexing_maps") and op.name not in _REFUSED:
            return Structured.of(self, op).results()
        raise self.context.error(f"{op.name} is not read")

    def _elementwise(self, op: Any) -> Node:
        """``arith`` on scalars or whole tensors."""
        type_ = op.results[0].type
        shape = tuple(type_.get_shape()) if hasattr(type_, "get_shape") else ()
        of = self.number(type_.get_element_type() if hasattr(type_, "get_shape") else type_)
        operands = [Value(self.node(operand), tuple(range(len(shape)))) for operand in op.operands]
        return SCALARS[op.name](Space(self.context, shape), op, operands, of).node


def _transpose(reader: _Function, op: Any) -> Node:
    permutation = tuple(op.permutation.get_values())
    return reader.context.make("transpose", reader.node(op.operands[0]), permutation=permutation)


def _broadcast(reader: _Function, op: Any) -> Node:
    added, shape = set(op.dimensions.get_values()), op.results[0].type.get_shape()
    kept = [i for i in range(len(shape)) if i not in added]
    return reader.context.broadcast(reader.node(op.operands[0]), shape, kept)


_LINALG: Mapping[str, Any] = {"linalg.transpose": _transpose, "linalg.broadcast": _broadcast}
_REFUSED = ("linalg.quantized_matmul",)
