"""ATen's arithmetic, element by element, with broadcasting and promotion."""

from __future__ import annotations

import math
from typing import Any

from axiloom.graph.graph import Node
from axiloom.graph.numbers import NUMBERS, number
from axiloom.read.aten.call import Call, Rule


def _binary(op: str) -> Rule:
    def rule(call: Call) -> Node:
        call.only(rounding_mode=None)
        b = _scaled(call, call.given["other"])
        sides = [call.operand(side, call.number, call.shape) for side in (call.given["self"], b)]
        return call.make(op, *sides)

    return rule


def _scaled(call: Call, value: Any) -> Any:
    """``alpha`` of add and sub."""
    alpha = call.given.get("alpha", 1)
    if alpha == 1:
        return value
    if not isinstance(value, Node):
        return value * alpha
    wide = call.context.convert(value, call.number)
    return call.make("multiply", wide, call.context.like(wide, alpha))


def _reversed(op: str) -> Rule:
    def rule(call: Call) -> Node:
        call.only(alpha=1)
        sides = [call.operand(call.given[name], call.number, call.shape) for name in ("other", "self")]
        return call.make(op, *sides)

    return rule


def _unary(op: str) -> Rule:
    return lambda call: call.make(op, call.operand(call.given["self"], call.number, call.shape))


def _compare(direction: str) -> Rule:
    def rule(call: Call) -> Node:
        a, b = call.given["self"], call.given["other"]
        of = promoted(a, b)
        sides = [call.operand(side, of, call.shape) for side in (a, b)]
        return call.make("compare", *sides, direction=direction)

    return rule


def promoted(a: Any, b: Any) -> str:
    """The number that two operands are compared in: the wider tensor's, of the stronger kind."""
    numbers = [number(operand.type.number) for operand in (a, b) if isinstance(operand, Node)]
    rank = {"bool": 0, "integer": 1, "float": 2}
    strongest = max(numbers, key=lambda of: (rank[of.kind], of.bits))
    whole = all(isinstance(operand, Node | int) for operand in (a, b))
    return strongest.name if whole or strongest.kind == "float" else NUMBERS["float32"].name


def _power(call: Call) -> Node:
    base, exponent = call.operand(call.given["self"], call.number, call.shape), call.given["exponent"]
    if exponent == 2:
        return call.make("multiply", base, base)
    if exponent == 0.5:
        return call.make("sqrt", base)
    if exponent == -0.5:
        return call.make("rsqrt", base)
    return call.make("power", base, call.operand(exponent, call.number, call.shape))


def _clamp(call: Call) -> Node:
    ends = [call.given.get(name) for name in ("min", "max")]
    return clamped(call, call.node("self"), *ends)


def clamped(call: Call, x: Node, low: Any, high: Any) -> Node:
    """Between numbers or tensors, either of which may be missing."""
    sides = [None if end is None else call.operand(end, x.type.number, x.type.shape) for end in (low, high)]
    if sides[0] is not None and sides[1] is not None:
        return call.make("clamp", sides[0], x, sides[1])
    if sides[0] is not None:
        return call.make("maximum", x, sides[0])
    return x if sides[1] is None else call.make("minimum", x, sides[1])


def _where(call: Call) -> Node:
    condition = call.spread(call.node("condition"), call.shape)
    sides = [call.operand(call.given[name], call.number, call.shape) for name in ("self", "other")]
    return call.make("select", condition, *sides)


def _masked_fill(call: Call) -> Node:
    sides = [call.operand(call.given[name], call.number, call.shape) for name in ("value", "self")]
    return call.make("select", call.spread(call.node("mask"), call.shape), *sides)


def _relu(call: Call) -> Node:
    return call.make("relu", call.node("self"))


def _silu(call: Call) -> Node:
    x = call.node("self")
    return call.make("multiply", x, call.make("logistic", x))


def _gelu(call: Call) -> Node:
    x, context = call.node("self"), call.context
    if call.given.get("approximate", "none") == "none":
        return call.make("gelu", x)
    cube = call.make("multiply", call.make("multiply", x, x), x)
    inner = call.make("add", x, call.make("multiply", cube, context.like(x, 0.044715)))
    bent = call.make("tanh", call.make("multiply", inner, context.like(x, math.sqrt(2 / math.pi))))
    half = call.make("multiply", x, context.like(x, 0.5))
    return call.make("multiply", half, call.make("add", bent, context.like(x, 1)))


def _hard(call: Call) -> Node:
    """clamp(x + 3, 0, 6) / 6"""
    x, context = call.node("self"), call.context
    return call.make(
        "divide", clamped(call, call.make("add", x, context.like(x, 3)), 0, 6), context.like(x, 6)
    )


def _reciprocal(call: Call) -> Node:
    sides = (call.operand(side, call.number, call.shape) for side in (1, call.given["self"]))
    return call.make("divide", *sides)


def _hardtanh(call: Call) -> Node:
    return clamped(call, call.node("self"), call.given["min_val"], call.given["max_val"])


def _logical(op: str) -> Rule:
    def rule(call: Call) -> Node:
        names = [name for name in ("self", "other") if name in call.given]
        sides = [call.operand(call.given[name], "bool", call.shape) for name in names]
        return call.make(op, *sides)

    return rule


RULES: dict[str, Rule] = {
    "add": _binary("add"), "sub": _binary("subtract"), "mul": _binary("multiply"), "div": _binary("divide"),
    "maximum": _binary("maximum"), "minimum": _binary("minimum"), "rsub": _reversed("subtract"),
    **dict.fromkeys(("bitwise_and", "__and__"), _binary("and")),
    **dict.fromkeys(("bitwise_or", "__or__"), _binary("or")),
    **dict.fromkeys(("bitwise_xor", "__xor__"), _binary("xor")),
    "eq": _compare("EQ"), "ne": _compare("NE"), "lt": _compare("LT"), "le": _compare("LE"),
    "gt": _compare("GT"), "ge": _compare("GE"), "pow": _power, "clamp": _clamp, "clamp_min": _clamp,
    "clamp_max": _clamp, "where": _where, "masked_fill": _masked_fill,
    "neg": _unary("negate"), "abs": _unary("abs"), "exp": _unary("exponential"), "log": _unary("log"),
    "sqrt": _unary("sqrt"), "rsqrt": _unary("rsqrt"), "tanh": _unary("tanh"), "sigmoid": _unary("logistic"),
    "erf": _unary("erf"), "floor": _unary("floor"), "ceil": _unary("ceil"), "sign": _unary("sign"),
    "bitwise_not": _unary("not"), "relu": _relu, "silu": _silu, "gelu": _gelu, "hardsigmoid": _hard,
    "hardtanh": _hardtanh, "relu6": lambda call: clamped(call, call.node("self"), 0, 6),
    "hardswish": lambda call: call.make("multiply", call.node("self"), _hard(call)),
    "reciprocal": _reciprocal,
    "logical_not": _logical("not"), "logical_and": _logical("and"), "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
}  # fmt: skip
