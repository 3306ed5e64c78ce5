"""Values of C's expressions as expressions of a program, with C's conversions.

A ``double`` is computed as a float32 where converting it to float then gives what float arithmetic gives:
``x = 0.5``, ``x * 2.0f``, ``y = fabs(x)``, and one operation of two values that float holds (its result
rounded to double and then to float is the one rounded at once, as double has more than twice the digits).
Elsewhere it is a float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program.expressions import BOOL, Expression, Literal
from axiloom.nests.program.typed import apply, convert, index, literal, select

DOUBLE, FLOAT, INT = "float64", "float32", "int32"
STORED_BOOL = "uint1"
"""What an array of bool holds."""
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
INTEGER = {"%": "rem", "&": "and", "|": "or", "^": "xor"}
SHIFTS = {"<<": "shl", ">>": "shr"}
RELATIONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_COMPARED = dict(zip(RELATIONS, (lt, le, gt, ge, eq, ne), strict=True))
FUNCTIONS = {
    **{f"{name}f": (op, FLOAT) for name, op in (("sqrt", "sqrt"), ("exp", "exp"), ("fabs", "abs"))},
    "fmaxf": ("max", FLOAT),
    "fminf": ("min", FLOAT),
    **{name: (op, DOUBLE) for name, op in (("sqrt", "sqrt"), ("exp", "exp"), ("fabs", "abs"))},
    "fmax": ("max", DOUBLE),
    "fmin": ("min", DOUBLE),
    "abs": ("abs", INT),
}


@dataclass(frozen=True)
class Value:
    """`number`: C's type, ``bool`` too; the expression is of that format, or BOOL (what comparisons give).
    `narrow`: of a double, the float32 that it is once it is converted to float; `exact`: and it has the same
    value."""

    expression: Expression
    number: str
    narrow: Expression | None = None
    exact: bool = False


def is_float(number: str) -> bool:
    return number in (FLOAT, DOUBLE)


def number(value: int | float, kind: str) -> Value:
    """A constant."""
    if kind == DOUBLE:
        with np.errstate(over="ignore"):
            same = float(np.float32(value)) == value
        return Value(Literal(float(value), DOUBLE), DOUBLE, literal(value, FLOAT), same)
    return Value(literal(value, BOOL if kind == "bool" else kind), kind)


def counted(form: Affine, kind: str) -> Value:
    """What a form of counters gives."""
    return number(form.constant, kind) if form.is_constant else Value(index(form, kind), kind)


def loaded(expression: Expression, kind: str) -> Value:
    """What an array holds, as C's type."""
    if kind == "bool":
        return Value(apply("ne", expression, literal(0, STORED_BOOL)), kind)
    return Value(expression, kind)


def cast(value: Value, kind: str) -> Value:
    """The value converted to another of C's types."""
    if value.number == kind:
        return value
    expression = value.expression
    if kind == "bool":
        return Value(truth(value), kind)
    if is_float(value.number) and isinstance(expression, Literal) and not is_float(kind):
        return number(int(expression.value), kind)
    if value.number == DOUBLE:
        if value.narrow is not None and (value.exact or kind == FLOAT):
            return cast(Value(value.narrow, FLOAT), kind)
        return Value(convert(expression, kind), kind)
    if kind == DOUBLE:
        if isinstance(expression, Literal) and expression.number != BOOL:
            return number(float(expression.value), DOUBLE)
        truth_value = expression.number == BOOL
        plain = convert(expression, INT) if truth_value else expression
        if truth_value or value.number == FLOAT or format_of(value.number).bits <= 16:
            return Value(convert(plain, DOUBLE), DOUBLE, convert(plain, FLOAT), exact=True)
        return Value(convert(plain, DOUBLE), DOUBLE)
    return Value(convert(expression, kind), kind)


def is_beyond(value: Value, kind: str) -> bool:
    """Whether it is a float constant whose conversion to the integer type `kind` C leaves undefined."""
    if not (is_float(value.number) and isinstance(value.expression, Literal)) or kind == "bool":
        return False
    format = format_of(kind)
    return format.kind is Kind.INTEGER and not format.lowest - 1 < value.expression.value < format.highest + 1


def stored(value: Value, kind: str) -> Expression:
    """As an element of an array of C's type `kind`."""
    return convert(cast(value, kind).expression, STORED_BOOL if kind == "bool" else kind)


def truth(value: Value) -> Expression:
    """As BOOL: whether the value is not zero."""
    if value.expression.number == BOOL:
        return value.expression
    if isinstance(value.expression, Literal):
        return literal(value.expression.value != 0, BOOL)
    if value.narrow is not None and value.exact:
        return apply("ne", value.narrow, literal(0, FLOAT))
    return apply("ne", value.expression, literal(0, value.number))


def promoted(kind: str) -> str:
    """What an operand of arithmetic becomes: what is narrower than int becomes int."""
    if kind == "bool":
        return INT
    return INT if not is_float(kind) and format_of(kind).bits < 32 else kind


def common(a: str, b: str) -> str:
    """The type in which C computes with operands of types `a` and `b` (C11, 6.3.1.8)."""
    a, b = promoted(a), promoted(b)
    for floating in (DOUBLE, FLOAT):
        if floating in (a, b):
            return floating
    first, second = format_of(a), format_of(b)
    if first.bits != second.bits:
        return a if first.bits > second.bits else b
    return a if not first.signed else b


def unary(op: str, value: Value, kind: str) -> Value:
    """`kind`: C's type of the result."""
    if op == "!":
        return Value(apply("not", truth(value)), kind)
    value = _plain(cast(value, kind))
    if op == "+":
        return value
    if op == "~":
        return Value(apply("not", value.expression), kind)
    if isinstance(value.expression, Literal) and is_float(kind):
        return number(-float(value.expression.value), kind)
    narrow = None if value.narrow is None else apply("neg", value.narrow)
    return Value(apply("neg", value.expression), kind, narrow, value.exact)


def binary(op: str, left: Value, right: Value, kind: str) -> Value:
    """``left op right``, of operands that C's conversions have made alike. `kind`: the result's type."""
    if op in ("&&", "||"):
        return Value(apply("and" if op == "&&" else "or", truth(left), truth(right)), kind)
    left, right = _plain(left), _plain(right)
    if op in SHIFTS:
        amount = cast(right, kind)
        return Value(apply(SHIFTS[op], left.expression, amount.expression), kind)
    if op in RELATIONS:
        a, b = left.expression, right.expression
        if left.number == DOUBLE and left.narrow and right.narrow and left.exact and right.exact:
            a, b = left.narrow, right.narrow
        if isinstance(a, Literal) and isinstance(b, Literal):
            return Value(literal(_COMPARED[op](a.value, b.value), BOOL), kind)
        if op in (">", ">="):
            a, b, op = b, a, {">": "<", ">=": "<="}[op]
        return Value(apply(RELATIONS[op], a, b), kind)
    name = {**ARITHMETIC, **INTEGER}[op]
    if is_float(kind):
        a, b = left.expression, right.expression
        if isinstance(a, Literal) and isinstance(b, Literal):
            return number(_folded(op, a.value, b.value, kind), kind)
        narrow = None
        if left.narrow is not None and right.narrow is not None and left.exact and right.exact:
            narrow = apply(name, left.narrow, right.narrow)
        return Value(apply(name, a, b), kind, narrow)
    return Value(apply(name, left.expression, right.expression), kind)


def call(name: str, operands: list[Value]) -> Value:
    """A function of `FUNCTIONS`."""
    operator, kind = FUNCTIONS[name]
    values = [_plain(cast(operand, kind)) for operand in operands]
    narrow = None
    exact = [value.narrow for value in values if value.narrow is not None and value.exact]
    if len(exact) == len(values) and operator != "exp":
        narrow = apply(operator, *exact)
    return Value(apply(operator, *(value.expression for value in values)), kind, narrow, operator != "sqrt")


def chosen(condition: Expression, yes: Value, no: Value, kind: str) -> Value:
    """``condition ? yes : no``."""
    a, b = _plain(cast(yes, kind)), _plain(cast(no, kind))
    narrow = None
    if a.narrow is not None and b.narrow is not None:
        narrow = select(condition, a.narrow, b.narrow)
    return Value(select(condition, a.expression, b.expression), kind, narrow, a.exact and b.exact)


def _plain(value: Value) -> Value:
    """What a comparison gives is an int in C."""
    if value.expression.number == BOOL and value.number != "bool":
        return Value(convert(value.expression, value.number), value.number)
    return value


def _folded(op: str, a: float, b: float, kind: str) -> float:
    of: Any = np.float32 if kind == FLOAT else np.float64
    with np.errstate(all="ignore"):
        operator = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
        return float(operator(of(a), of(b)))
