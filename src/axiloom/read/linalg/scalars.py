"""What stands in bodies: ``arith`` and ``math``, on values over loops.

Integers have no sign in MLIR: they are signed here, and ops without sign convert.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from axiloom.graph.numbers import number
from axiloom.read.linalg.values import Space, Value

Rule: TypeAlias = Callable[[Space, Any, list[Value], str], Value]
"""Space, the op, its operands and the number of its result."""


def _plain(name: str) -> Rule:
    return lambda space, _, operands, __: space.apply(name, *operands)


def _converted(space: Space, _: Any, operands: list[Value], of: str) -> Value:
    return space.convert(operands[0], of)


def _signed(space: Space, _: Any, operands: list[Value], of: str) -> Value:
    """A bit counts as -1."""
    converted = space.convert(operands[0], of)
    return space.apply("negate", converted) if operands[0].node.type.number == "bool" else converted


def _unsigned(space: Space, _: Any, operands: list[Value], of: str) -> Value:
    return space.convert(_bits(space, operands[0]), of)


def _bits(space: Space, value: Value) -> Value:
    """The same bits as a number without sign."""
    of = number(value.node.type.number)
    return value if of.kind == "bool" else space.convert(value, f"uint{of.bits}")


def _truncated(space: Space, _: Any, operands: list[Value], of: str) -> Value:
    (x,) = operands
    if of == "bool":
        x = space.apply("and", x, space.splat(1, x.node.type.number))
    return space.convert(x, of)


def _without_sign(name: str) -> Rule:
    def rule(space: Space, _: Any, operands: list[Value], of: str) -> Value:
        return space.convert(space.apply(name, *(_bits(space, operand) for operand in operands)), of)

    return rule


_INTEGER = ("EQ", "NE", "LT", "LE", "GT", "GE", "LT", "LE", "GT", "GE")
_SIGNLESS_FROM = 6


def _compare_integers(space: Space, op: Any, operands: list[Value], _: str) -> Value:
    predicate = int(op.predicate.value.data)
    if predicate >= _SIGNLESS_FROM:
        operands = [_bits(space, operand) for operand in operands]
    return space.apply("compare", *operands, direction=_INTEGER[predicate])


_ORDERED = {1: "EQ", 2: "GT", 3: "GE", 4: "LT", 5: "LE", 13: "NE"}
_NEGATED = {8: 6, 9: 5, 10: 4, 11: 3, 12: 2, 14: 7, 15: 0}
"""Predicate to the one that it is the opposite of."""


def _compare_floats(space: Space, op: Any, operands: list[Value], _: str) -> Value:
    return _float_predicate(space, int(op.predicate.value.data), operands)


def _float_predicate(space: Space, predicate: int, operands: list[Value]) -> Value:
    if predicate in _ORDERED:
        return space.apply("compare", *operands, direction=_ORDERED[predicate])
    if predicate in _NEGATED:
        return space.apply("not", _float_predicate(space, _NEGATED[predicate], operands))
    if predicate == 0:
        return space.splat(0, "bool")
    if predicate == 6:  # ordered and not equal
        sides = (_float_predicate(space, strict, operands) for strict in (2, 4))
        return space.apply("or", *sides)
    known = (space.apply("compare", operand, operand, direction="EQ") for operand in operands)
    return space.apply("and", *known)


def _of_numbers(name: str) -> Rule:
    """maxnumf and minnumf: the other operand where one is NaN."""

    def rule(space: Space, _: Any, operands: list[Value], __: str) -> Value:
        a, b = operands
        chosen = space.apply(name, a, b)
        for operand, other in ((a, b), (b, a)):
            chosen = space.apply(
                "select", space.apply("compare", operand, operand, direction="NE"), other, chosen
            )
        return chosen

    return rule


RULES: Mapping[str, Rule] = {
    **{f"arith.{name}": _plain("add") for name in ("addf", "addi")},
    **{f"arith.{name}": _plain("subtract") for name in ("subf", "subi")},
    **{f"arith.{name}": _plain("multiply") for name in ("mulf", "muli")},
    **{f"arith.{name}": _plain("divide") for name in ("divf", "divsi")},
    **{f"arith.{name}": _plain("remainder") for name in ("remf", "remsi")},
    **{f"arith.{name}": _plain("maximum") for name in ("maximumf", "maxsi")},
    **{f"arith.{name}": _plain("minimum") for name in ("minimumf", "minsi")},
    **{f"arith.{name}": _converted for name in ("extf", "truncf", "fptosi", "index_cast")},
    **{f"arith.{name}": _signed for name in ("extsi", "sitofp")},
    **{f"arith.{name}": _unsigned for name in ("extui", "uitofp")},
    "arith.maxui": _without_sign("maximum"), "arith.minui": _without_sign("minimum"),
    "arith.divui": _without_sign("divide"), "arith.remui": _without_sign("remainder"),
    "arith.maxnumf": _of_numbers("maximum"), "arith.minnumf": _of_numbers("minimum"),
    "arith.negf": _plain("negate"), "arith.andi": _plain("and"), "arith.ori": _plain("or"),
    "arith.xori": _plain("xor"), "arith.shli": _plain("shift_left"),
    "arith.shrsi": _plain("shift_right_arithmetic"), "arith.shrui": _plain("shift_right_logical"),
    "arith.select": _plain("select"), "arith.trunci": _truncated, "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats, "math.exp": _plain("exponential"), "math.log": _plain("log"),
    "math.tanh": _plain("tanh"), "math.sqrt": _plain("sqrt"), "math.rsqrt": _plain("rsqrt"),
    "math.erf": _plain("erf"), "math.absf": _plain("abs"), "math.absi": _plain("abs"),
    "math.floor": _plain("floor"), "math.ceil": _plain("ceil"), "math.powf": _plain("power"),
}  # fmt: skip
