"""Operations on elements: a ``linalg.generic`` whose body is a line or a few of arith and math.

What MLIR leaves undefined, StableHLO defines: a conversion out of range saturates here as there. Shifts
whose amount is not known to be within the number's bits are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from axiloom.graph.graph import GraphError, Node
from axiloom.graph.numbers import number
from axiloom.graph.write.registry import register
from axiloom.graph.write.text import Text, element


class Body:
    """The lines of a generic's body; each method but `constant` appends one and returns what it gives."""

    def __init__(self, text: Text, names: Sequence[str] = ()) -> None:
        """`names`: of the first lines."""
        self.text, self.names = text, names
        self.lines: list[str] = []

    def line(self, text: str) -> str:
        number = len(self.lines)
        name = f"%{self.names[number]}" if number < len(self.names) else f"%b{number}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: str, of: str) -> str:
        return self.text.constant(value, of)

    def compute(self, operation: str, of: str, *operands: str) -> str:
        return self.line(f"{operation} {', '.join(operands)} : {element(of)}")

    def compare(self, predicate: str, of: str, a: str, b: str) -> str:
        kind = "arith.cmpf" if of.startswith("float") else "arith.cmpi"
        return self.line(f"{kind} {predicate}, {a}, {b} : {element(of)}")

    def select(self, condition: str, of: str, yes: str, no: str) -> str:
        return self.line(f"arith.select {condition}, {yes}, {no} : {element(of)}")

    def convert(self, operation: str, value: str, source: str, target: str) -> str:
        return self.line(f"{operation} {value} : {element(source)} to {element(target)}")


Scalar = Callable[[Body, Node, Sequence[str]], str]


def _numbered(integer: str, floating: str, boolean: str = "", unsigned: str | None = None) -> Scalar:
    """An op of arith by the kind of number; `unsigned` where integers without sign have another one."""

    def write(body: Body, node: Node, values: Sequence[str]) -> str:
        of = node.operands[0].type.number
        known = number(of)
        whole = integer if known.signed or unsigned is None else unsigned
        operation = {"integer": whole, "float": floating, "bool": boolean}.get(known.kind, "")
        if not operation:
            raise GraphError(f"{node.place or node.op}: {node.op} of {of} has no op in linalg's C")
        return body.compute(operation, of, *values)

    return write


def _function(name: str) -> Scalar:
    return _numbered("", f"math.{name}")


def _negate(body: Body, node: Node, values: Sequence[str]) -> str:
    of = node.type.number
    if number(of).kind == "float":
        return body.compute("arith.mulf", of, values[0], body.constant("-1.0", of))
    return body.compute("arith.subi", of, body.constant("0", of), values[0])


def _abs(body: Body, node: Node, values: Sequence[str]) -> str:
    of = node.type.number
    if number(of).kind == "float":
        return body.compute("math.absf", of, values[0])
    if not number(of).signed:
        return values[0]
    return body.compute("arith.maxsi", of, values[0], _negate(body, node, values))


def _not(body: Body, node: Node, values: Sequence[str]) -> str:
    of = node.type.number
    return body.compute("arith.xori", of, values[0], body.constant("1" if of == "bool" else "-1", of))


def _logistic(body: Body, node: Node, values: Sequence[str]) -> str:
    of = node.type.number
    unit = body.constant("1.0", of)
    power = body.compute("math.exp", of, _negate(body, node, values))
    return body.compute("arith.divf", of, unit, body.compute("arith.addf", of, unit, power))


def _shift(operation: str) -> Scalar:
    def write(body: Body, node: Node, values: Sequence[str]) -> str:
        of = node.type.number
        amounts = body.text.contents(node.operands[1])
        if amounts is None or not np.all((amounts >= 0) & (amounts < number(of).bits)):
            where = node.place or node.op
            raise GraphError(f"{where}: {node.op} by what are no constants below {number(of).bits}")
        return body.compute(operation, of, *values)

    return write


def _divide(body: Body, node: Node, values: Sequence[str]) -> str:
    """Of integers rounded towards 0; by 0 all bits set, the least number by -1 itself: C leaves both open."""
    of, (a, b) = node.type.number, values
    known = number(of)
    if known.kind != "integer":
        return _numbered("", "arith.divf")(body, node, values)
    divisors = body.text.contents(node.operands[1])
    fixed = divisors is not None and not np.any((divisors == 0) | (divisors == -1))
    operation = "arith.divsi" if known.signed else "arith.divui"
    if fixed:
        return body.compute(operation, of, a, b)
    unit, least = body.constant("1", of), body.constant("0", of)
    none = body.compare("eq", of, b, least)
    safe = body.select(none, of, unit, b)
    if not known.signed:
        return body.select(
            none, of, body.constant(str(known.highest), of), body.compute(operation, of, a, safe)
        )
    minus = body.constant("-1", of)
    turned = body.compare("eq", of, b, minus)
    quotient = body.compute(operation, of, a, body.select(turned, of, unit, safe))
    whole = body.select(turned, of, body.compute("arith.subi", of, least, a), quotient)
    return body.select(none, of, minus, whole)


_ORDERED = {"EQ": "oeq", "NE": "une", "LT": "olt", "LE": "ole", "GT": "ogt", "GE": "oge"}
_SIGNED = {"EQ": "eq", "NE": "ne", "LT": "slt", "LE": "sle", "GT": "sgt", "GE": "sge"}


def _compare(body: Body, node: Node, values: Sequence[str]) -> str:
    of = node.operands[0].type.number
    predicate = str(node.attributes["direction"])
    if number(of).kind == "float":
        return body.compare(_ORDERED[predicate], of, *values)
    signed = _SIGNED[predicate]
    return body.compare(signed if number(of).signed else signed.replace("s", "u", 1), of, *values)


def _select(body: Body, node: Node, values: Sequence[str]) -> str:
    return body.select(values[0], node.type.number, values[1], values[2])


def _clamp(body: Body, node: Node, values: Sequence[str]) -> str:
    of, (low, value, high) = node.type.number, values
    above = _MAXIMUM(body, node, [value, low])
    return _MINIMUM(body, node, [above, high]) if of else above


def _convert(body: Body, node: Node, values: Sequence[str]) -> str:
    return converted(body, values[0], node.operands[0].type.number, node.type.number)


def converted(body: Body, value: str, source: str, target: str) -> str:
    """As XLA converts."""
    a, b = number(source), number(target)
    if source == target:
        return value
    if b.kind == "bool":
        zero = body.constant("0.0" if a.kind == "float" else "0", source)
        return body.compare("une" if a.kind == "float" else "ne", source, value, zero)
    if a.kind == "float" and b.kind == "float":
        return body.convert("arith.extf" if b.bits > a.bits else "arith.truncf", value, source, target)
    if a.kind == "bool":
        wide = body.convert("arith.extui", value, source, target if b.kind == "integer" else "int32")
        return wide if b.kind == "integer" else body.convert("arith.sitofp", wide, "int32", target)
    if b.kind == "float":
        if not a.signed:
            raise GraphError(f"a conversion of {source} to {target}: it has no op in linalg's C")
        return body.convert("arith.sitofp", value, source, target)
    if a.kind == "float":
        if not b.signed:
            raise GraphError(f"a conversion of {source} to {target}: it has no op in linalg's C")
        return _saturated(body, value, source, target)
    if a.bits == b.bits:
        return value  # the same bits: operations know the sign
    wider = "arith.extsi" if a.signed else "arith.extui"
    return body.convert(wider if b.bits > a.bits else "arith.trunci", value, source, target)


def _saturated(body: Body, value: str, source: str, target: str) -> str:
    """Towards 0, the nearest end beyond the range, 0 for NaN; no conversion is made that C leaves open."""
    bits = number(target).bits
    end = 2.0 ** (bits - 1)
    above = body.compare("oge", source, value, body.constant(repr(end), source))
    below = body.compare("olt", source, value, body.constant(repr(-end), source))
    zero = body.constant("0.0", source)
    inside = body.compare("ord", source, value, value)
    for outside in (above, below):
        inside = body.compute("arith.andi", "bool", inside, body.compute(
            "arith.xori", "bool", outside, body.constant("1", "bool")))  # fmt: skip
    whole = body.convert("arith.fptosi", body.select(inside, source, value, zero), source, target)
    low = body.select(below, target, body.constant(str(-(1 << bits - 1)), target), whole)
    return body.select(above, target, body.constant(str((1 << bits - 1) - 1), target), low)


_MAXIMUM = _numbered("arith.maxsi", "arith.maximumf", "arith.ori", "arith.maxui")
_MINIMUM = _numbered("arith.minsi", "arith.minimumf", "arith.andi", "arith.minui")
SCALARS: dict[str, Scalar] = {
    "add": _numbered("arith.addi", "arith.addf", "arith.ori"),
    "subtract": _numbered("arith.subi", "arith.subf"),
    "multiply": _numbered("arith.muli", "arith.mulf", "arith.andi"),
    "divide": _divide,
    "maximum": _MAXIMUM,
    "minimum": _MINIMUM,
    "and": _numbered("arith.andi", "", "arith.andi"),
    "or": _numbered("arith.ori", "", "arith.ori"),
    "xor": _numbered("arith.xori", "", "arith.xori"),
    "shift_left": _shift("arith.shli"),
    "shift_right_arithmetic": _shift("arith.shrsi"),
    "shift_right_logical": _shift("arith.shrui"),
    "negate": _negate,
    "abs": _abs,
    "not": _not,
    "floor": _function("floor"),
    "ceil": _function("ceil"),
    "exponential": _function("exp"),
    "log": _function("log"),
    "tanh": _function("tanh"),
    "logistic": _logistic,
    "sqrt": _function("sqrt"),
    "rsqrt": _function("rsqrt"),
    "erf": _function("erf"),
    "compare": _compare,
    "select": _select,
    "clamp": _clamp,
    "convert": _convert,
}
"""Operation to its body; values are the operands' elements."""


def _elementwise(text: Text, node: Node) -> str:
    """One generic. An operand that is one number everywhere is a constant of the body."""
    body = Body(text)
    inputs = list(dict.fromkeys(operand for operand in node.operands if operand.op != "splat"))
    arguments = {id(operand): f"%a{number}" for number, operand in enumerate(inputs)}
    values = [
        arguments[id(operand)]
        if id(operand) in arguments
        else body.constant(str(operand.attributes["value"]), operand.type.number)
        for operand in node.operands
    ]
    result = SCALARS[node.op](body, node, values)
    return text.generic(
        [text.operand(operand) for operand in inputs],
        text.into(node.type),
        body.lines,
        rank=len(node.type.shape),
        result=result,
    )


for _name in SCALARS:
    register(_name, _elementwise)
