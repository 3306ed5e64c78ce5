"""Expressions of C as expressions of a program, with C's conversions.

``double`` is no number of programs. A double is accepted where converting it to float gives what float
arithmetic gives: ``x = 0.5``, ``x * 2.0f``, ``y = fabs(x)``, and one operation of two values that float holds
(its result rounded to double and then to float is the one rounded at once, as double has more than twice the
digits). Elsewhere it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pycparser import c_ast

from axiloom.isa.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program.expressions import BOOL, Expression, Index, Literal, Load
from axiloom.nests.program.typed import apply, convert, index, literal, select
from axiloom.nests.read.c_affine import NotAffineError, condition, form
from axiloom.nests.read.c_types import DOUBLE, FLOAT, INT, common, constant, promoted
from axiloom.nests.read.c_types import number as number_of


@dataclass(frozen=True)
class Value:
    """`type`: a number, ``bool`` (in C: int), or ``double``: then the expression is a float32 one, or a
    literal of a double. `exact`: converted to float, it has the same value."""

    expression: Expression
    type: str
    exact: bool = True


@dataclass(frozen=True)
class Variable:
    """What a name stands for: the array, and its shape."""

    array: str
    shape: tuple[int, ...]
    number: str
    constant: bool = False


@dataclass(frozen=True)
class Names:
    """What names stand for at a place: iterators (their value and their type) and variables."""

    iterators: Mapping[str, Affine]
    types: Mapping[str, str]
    variables: Mapping[str, Variable]
    typedefs: dict[str, str]


ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
INTEGER = {"%": "rem", "&": "and", "|": "or", "^": "xor"}
SHIFTS = {"<<": "shl", ">>": "shr"}
COMPARISONS = {"<": ("lt", False), "<=": ("le", False), ">": ("lt", True), ">=": ("le", True)}
EQUALITIES = {"==": "eq", "!=": "ne"}
FUNCTIONS = {
    **{f"{name}f": (op, FLOAT) for name, op in (("sqrt", "sqrt"), ("exp", "exp"), ("fabs", "abs"))},
    "fmaxf": ("max", FLOAT),
    "fminf": ("min", FLOAT),
    **{
        name: (op, DOUBLE)
        for name, op in (("sqrt", "sqrt"), ("fabs", "abs"), ("fmax", "max"), ("fmin", "min"))
    },
    "abs": ("abs", INT),
}


def to(value: Value, number: str) -> Expression:
    """The value converted to a number. Raises ValueError."""
    expression = value.expression
    if value.type != DOUBLE:
        return convert(expression, number)
    if isinstance(expression, Literal) and expression.number == DOUBLE:
        if format_of(number).kind is Kind.INTEGER:
            return literal(int(expression.value), number)
        return literal(expression.value, number)
    if number != FLOAT:
        raise ValueError(f"a double is converted to {number}; convert it to float first")
    return expression


@dataclass(frozen=True)
class Translator:
    """`choices`: for ternaries with affine conditions, by the id of the node, whether they hold here."""

    names: Names
    choices: Mapping[int, bool]

    def __call__(self, node: Any) -> Value:
        """Raises ValueError."""
        known: Mapping[type, Callable[[Any], Value]] = {
            c_ast.Constant: self._constant,
            c_ast.ID: self._name,
            c_ast.ArrayRef: lambda node: Value(load := self.load(node), load.number),
            c_ast.UnaryOp: self._unary,
            c_ast.BinaryOp: self._binary,
            c_ast.TernaryOp: self._ternary,
            c_ast.Cast: self._cast,
            c_ast.FuncCall: self._call,
        }
        if type(node) not in known:
            raise ValueError(f"`{type(node).__name__}` in an expression is not supported")
        return known[type(node)](node)

    def condition(self, node: Any) -> Expression:
        """As `bool`: whether the expression is not zero."""
        value = self(node)
        if value.type == BOOL:
            return value.expression
        if value.type == DOUBLE:
            return apply("ne", to(value, FLOAT), literal(0, FLOAT))
        return apply("ne", value.expression, literal(0, value.type))

    def load(self, node: Any) -> Load:
        """An element, or a scalar. Raises ValueError."""
        subscripts: list[Affine] = []
        base = node
        while isinstance(base, c_ast.ArrayRef):
            subscripts.insert(0, form(base.subscript, self.names.iterators))
            base = base.name
        if not isinstance(base, c_ast.ID):
            raise ValueError("only arrays with a name are indexed")
        if base.name in self.names.iterators:
            raise ValueError(f"`{base.name}` is the iterator of a loop")
        if base.name not in self.names.variables:
            raise ValueError(
                f"`{base.name}` is not declared (a size? give it by #define or -D {base.name}=VALUE)"
            )
        variable = self.names.variables[base.name]
        if len(subscripts) != len(variable.shape):
            raise ValueError(f"`{base.name}` has {len(variable.shape)} dimensions, not {len(subscripts)}")
        return Load(variable.array, tuple(subscripts), variable.number)

    def _constant(self, node: Any) -> Value:
        found = constant(node.value)
        if found.number != DOUBLE:
            return Value(literal(found.value, found.number), found.number)
        return _double(float(found.value))

    def _name(self, node: Any) -> Value:
        if node.name in self.names.iterators:
            number = self.names.types[node.name]
            return Value(index(self.names.iterators[node.name], number), number)
        found = self.load(node)
        return Value(found, found.number)

    def _unary(self, node: Any) -> Value:
        if node.op == "!":
            return Value(apply("not", self.condition(node.expr)), BOOL)
        value = _integer(self(node.expr))
        if node.op == "+":
            return _promoted(value)
        if node.op == "-":
            if isinstance(value.expression, Literal) and value.type in (DOUBLE, FLOAT):
                return Value(Literal(-float(value.expression.value), value.type), value.type, value.exact)
            value = _promoted(value)
            if (found := _affine("-", value, None)) is not None:
                return found
            return Value(apply("neg", value.expression), value.type, value.exact)
        if node.op == "~" and value.type not in (DOUBLE, FLOAT):
            value = _promoted(value)
            return Value(apply("not", value.expression), value.type)
        raise ValueError(f"`{node.op}` in an expression is not supported")

    def _binary(self, node: Any) -> Value:
        if node.op in ("&&", "||"):
            both = self.condition(node.left), self.condition(node.right)
            return Value(apply("and" if node.op == "&&" else "or", *both), BOOL)
        return binary(node.op, self(node.left), self(node.right))

    def _ternary(self, node: Any) -> Value:
        yes, no = _integer(self(node.iftrue)), _integer(self(node.iffalse))
        number = common(yes.type, no.type)
        if number == DOUBLE:
            pair, exact = _floats("?:", yes, no), yes.exact and no.exact
        else:
            pair, exact = (to(yes, number), to(no, number)), True
        if id(node) in self.choices:
            return Value(pair[0 if self.choices[id(node)] else 1], number, exact)
        return Value(select(self.condition(node.cond), *pair), number, exact)

    def _cast(self, node: Any) -> Value:
        kind = node.to_type.type
        if not isinstance(kind, c_ast.TypeDecl):
            raise ValueError("a cast to a pointer")
        number = number_of(kind.type.names, self.names.typedefs)
        value = self(node.expr)
        if number == DOUBLE:
            raise ValueError("a cast to double; write float")
        return Value(to(value, number), number)

    def _call(self, node: Any) -> Value:
        name = getattr(node.name, "name", "?")
        if name not in FUNCTIONS:
            raise ValueError(f"call of `{name}`; there are {', '.join(FUNCTIONS)}")
        operator, number = FUNCTIONS[name]
        operands = [_integer(self(each)) for each in (node.args.exprs if node.args else ())]
        if number == DOUBLE:
            if any(each.type not in (FLOAT, DOUBLE) or not each.exact for each in operands):
                raise ValueError(f"`{name}` computes in double; write `{name}f`")
            return Value(apply(operator, *(to(each, FLOAT) for each in operands)), DOUBLE, operator != "sqrt")
        return Value(apply(operator, *(to(each, number) for each in operands)), number)


def binary(op: str, left: Value, right: Value) -> Value:
    """`left op right` with the usual arithmetic conversions. Raises ValueError."""
    left, right = _integer(left), _integer(right)
    if op in SHIFTS:
        left = _promoted(left)
        return Value(apply(SHIFTS[op], to(left, left.type), to(right, left.type)), left.type)
    number = common(left.type, right.type)
    if number == DOUBLE:
        left, right = _whole(left), _whole(right)
    if op in COMPARISONS or op in EQUALITIES:
        pair = _floats(op, left, right) if number == DOUBLE else (to(left, number), to(right, number))
        name, swapped = COMPARISONS.get(op) or (EQUALITIES[op], False)
        return Value(apply(name, *(reversed(pair) if swapped else pair)), BOOL)
    if number == DOUBLE:
        return _in_double(op, left, right)
    operands = Value(to(left, number), number), Value(to(right, number), number)
    if (found := _affine(op, *operands)) is not None:
        return found
    name = {**ARITHMETIC, **INTEGER}[op]
    a, b = (each.expression for each in operands)
    if number == FLOAT and isinstance(a, Literal) and isinstance(b, Literal) and op in ARITHMETIC:
        folded = _folded(op, np.float32(a.value), np.float32(b.value))
        return Value(literal(float(folded), FLOAT), FLOAT)
    return Value(apply(name, a, b), number)


def _in_double(op: str, left: Value, right: Value) -> Value:
    a, b = left.expression, right.expression
    if op not in ARITHMETIC:
        raise ValueError(f"`{op}` of a double")
    if a.number == DOUBLE and b.number == DOUBLE and isinstance(a, Literal) and isinstance(b, Literal):
        return _double(float(_folded(op, np.float64(a.value), np.float64(b.value))))
    return Value(apply(ARITHMETIC[op], *_floats(op, left, right)), DOUBLE, exact=False)


def _floats(op: str, *values: Value) -> tuple[Expression, Expression]:
    """Two operands of which one is a double, as float32 ones, where that changes nothing."""
    for each in values:
        if each.type not in (DOUBLE, FLOAT):
            raise ValueError(f"`{op}` of {each.type} and double; convert to float, write 0.5f for 0.5")
        if not each.exact:
            shown = each.expression.value if isinstance(each.expression, Literal) else None
            what = "an operand is computed in double" if shown is None else f"{shown} is a double"
            raise ValueError(f"`{op}` in double: {what}; write 0.5f for 0.5, sqrtf for sqrt")
    a, b = (to(each, FLOAT) for each in values)
    return a, b


def _folded(op: str, a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        return {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op](a, b)


def _double(value: float) -> Value:
    with np.errstate(over="ignore"):
        return Value(Literal(value, DOUBLE), DOUBLE, float(np.float32(value)) == value)


def _whole(value: Value) -> Value:
    """An integer literal beside a double is one."""
    if isinstance(value.expression, Literal) and value.type not in (DOUBLE, FLOAT):
        return _double(float(value.expression.value))
    return value


def _integer(value: Value) -> Value:
    """What a comparison gives is an int in C."""
    return Value(convert(value.expression, INT), INT) if value.type == BOOL else value


def _promoted(value: Value) -> Value:
    number = promoted(value.type)
    return value if number in (DOUBLE, value.type) else Value(to(value, number), number)


def _affine(op: str, left: Value, right: Value | None) -> Value | None:
    """The result as one form of iterators, if both sides are such forms and the type has a sign (overflow is
    then no behaviour of C at all)."""
    if format_of(left.type).kind is not Kind.INTEGER or not format_of(left.type).signed:
        return None
    forms = [_form(each.expression) for each in (left, right) if each is not None]
    if any(each is None for each in forms):
        return None
    a, b = forms[0], forms[-1]
    assert a is not None
    assert b is not None
    if right is None:
        result = -a
    elif op in ("+", "-"):
        result = a + b if op == "+" else a - b
    elif op == "*" and (a.is_constant or b.is_constant):
        result = a * b.constant if b.is_constant else b * a.constant
    else:
        return None
    return Value(index(result, left.type), left.type)


def _form(expression: Expression) -> Affine | None:
    if isinstance(expression, Index):
        return expression.value
    return Affine((), int(expression.value)) if isinstance(expression, Literal) else None


def affine_ternary(node: Any, names: Names, choices: Mapping[int, bool]) -> tuple[Any, Any] | None:
    """The first undecided ternary with an affine condition in what is evaluated, and its condition."""
    if isinstance(node, c_ast.TernaryOp):
        if id(node) in choices:
            return affine_ternary(node.iftrue if choices[id(node)] else node.iffalse, names, choices)
        try:
            return node, condition(node.cond, names.iterators)
        except (NotAffineError, ValueError):
            pass
    for _, child in node.children():
        found = affine_ternary(child, names, choices)
        if found is not None:
            return found
    return None
