"""Operations element by element, on operands of one shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from axiloom.graph.graph import GraphError, Type
from axiloom.graph.numbers import Kind, number
from axiloom.graph.ops.checks import alike, kind_of, need, text
from axiloom.graph.ops.op import Array, Arrays, Attributes, Element, Evaluate, Op, Result
from axiloom.graph.ops.scalars import compute, convert

Types = Sequence[Type]

DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")

_SIMPLE: dict[str, tuple[str, int, tuple[Kind, ...]]] = {
    "add": ("add", 2, ("integer", "float", "bool")),
    "subtract": ("sub", 2, ("integer", "float")),
    "multiply": ("mul", 2, ("integer", "float", "bool")),
    "divide": ("div", 2, ("integer", "float")),
    "remainder": ("rem", 2, ("integer", "float")),
    "power": ("pow", 2, ("integer", "float")),
    "maximum": ("max", 2, ("integer", "float", "bool")),
    "minimum": ("min", 2, ("integer", "float", "bool")),
    "and": ("and", 2, ("integer", "bool")),
    "or": ("or", 2, ("integer", "bool")),
    "xor": ("xor", 2, ("integer", "bool")),
    "shift_left": ("shl", 2, ("integer",)),
    "shift_right_arithmetic": ("sra", 2, ("integer",)),
    "shift_right_logical": ("srl", 2, ("integer",)),
    "negate": ("neg", 1, ("integer", "float")),
    "abs": ("abs", 1, ("integer", "float")),
    "sign": ("sign", 1, ("integer", "float")),
    "not": ("not", 1, ("integer", "bool")),
    "floor": ("floor", 1, ("float",)),
    "ceil": ("ceil", 1, ("float",)),
    "exponential": ("exp", 1, ("float",)),
    "log": ("log", 1, ("float",)),
    "tanh": ("tanh", 1, ("float",)),
    "logistic": ("logistic", 1, ("float",)),
    "sqrt": ("sqrt", 1, ("float",)),
    "rsqrt": ("rsqrt", 1, ("float",)),
    "erf": ("erf", 1, ("float",)),
}
"""Name to its scalar function, its operands, and the kinds of numbers it takes."""

FUNCTION_OF = {name: function for name, (function, _, _) in _SIMPLE.items()}
"""Operation to the scalar function that it applies to each element."""


def _result(kinds: tuple[Kind, ...]) -> Result:
    def result(types: Types, _: Attributes) -> Type:
        kind_of(types[0], *kinds)
        return alike(types)

    return result


def _evaluate(function: str) -> Evaluate:
    def evaluate(arrays: Arrays, types: Types, _: Attributes) -> Array:
        of = number(types[0].number)
        return of.encode(compute(function, of, *map(of.decode, arrays)))

    return evaluate


def _element(function: Callable[[Attributes], str]) -> Element:
    return lambda algebra, reads, index, _, attributes: algebra.apply(
        function(attributes), *(read(index) for read in reads)
    )


def _simple(name: str) -> Op:
    function, count, kinds = _SIMPLE[name]
    return Op(
        name,
        count,
        _result(kinds),
        _evaluate(function),
        _element(lambda _: function),
        doc=f"{function} of each element",
    )


def _compared(types: Types, attributes: Attributes) -> Type:
    direction = text(attributes, "direction")
    need(direction in DIRECTIONS, f"direction {direction}: there are {', '.join(DIRECTIONS)}")
    kind_of(types[0], "integer", "float", "bool")
    return Type(alike(types).shape, "bool")


def _compare(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    of = number(types[0].number)
    return compute(text(attributes, "direction").lower(), of, *map(of.decode, arrays))


def _selected(types: Types, _: Attributes) -> Type:
    condition, *branches = types
    need(condition.number == "bool", f"the condition is bool, not {condition.number}")
    need(condition.shape == branches[0].shape, f"condition {condition} of branches {branches[0]}")
    return alike(branches)


def _clamped(types: Types, _: Attributes) -> Type:
    kind_of(types[0], "integer", "float")
    return alike(types)


def _clamp(arrays: Arrays, types: Types, _: Attributes) -> Array:
    of = number(types[0].number)
    low, value, high = map(of.decode, arrays)
    return of.encode(np.minimum(np.maximum(value, low), high))


def _converted(types: Types, attributes: Attributes) -> Type:
    target = number(text(attributes, "number"))
    kind_of(types[0], "integer", "float", "bool")
    if target.kind == "opaque":
        raise GraphError(f"no conversion to {target}")
    return Type(types[0].shape, target.name)


def _convert(arrays: Arrays, types: Types, attributes: Attributes) -> Array:
    source = number(types[0].number)
    return convert(source.decode(arrays[0]), source, number(text(attributes, "number")))


OPS = (
    *map(_simple, _SIMPLE),
    Op(
        "compare",
        2,
        _compared,
        _compare,
        _element(lambda attributes: text(attributes, "direction").lower()),
        {"direction": str},
        "bool; direction: EQ NE LT LE GT GE. NaN is not equal, not less and not greater",
    ),
    Op(
        "select",
        3,
        _selected,
        lambda arrays, _, __: np.where(*arrays),
        _element(lambda _: "select"),
        doc="the second where the first holds, else the third",
    ),
    Op(
        "clamp",
        3,
        _clamped,
        _clamp,
        lambda algebra, reads, index, _, __: algebra.apply(
            "min", algebra.apply("max", reads[1](index), reads[0](index)), reads[2](index)
        ),
        doc="low, x, high: min(max(x, low), high)",
    ),
    Op(
        "convert",
        1,
        _converted,
        _convert,
        _element(lambda attributes: f"convert:{text(attributes, 'number')}"),
        {"number": str},
        "to another number, as XLA converts: see scalars.convert",
    ),
)
