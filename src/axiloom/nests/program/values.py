"""What stands in a builder's expressions: `Value` (typed), `Form` (affine, of iterators), `Guard` (a
comparison of forms), and the functions on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program.expressions import BOOL, Expression, Literal
from axiloom.nests.program.names import fault, located
from axiloom.nests.program.typed import apply, index, literal
from axiloom.nests.program.typed import convert as converted
from axiloom.nests.program.typed import select as selected

ITERATOR = "int32"
"""The number of an iterator's value."""


class Scalar(Protocol):
    """An array without dimensions."""

    def axiloom_value(self) -> Value: ...


@dataclass(frozen=True, eq=False)
class Form:
    """An affine form of iterators: bounds and subscripts; in expressions, an int32."""

    form: Affine

    def __add__(self, other: Form | int) -> Form:
        return Form(self.form + _affine(other))

    __radd__ = __add__

    def __sub__(self, other: Form | int) -> Form:
        return Form(self.form - _affine(other))

    def __rsub__(self, other: Form | int) -> Form:
        return Form(_affine(other) - self.form)

    def __mul__(self, other: Form | int) -> Form:
        factor = _affine(other)
        if self.form.is_constant:
            return Form(factor * self.form.constant)
        if not factor.is_constant:
            raise fault(f"({self.form}) * ({factor}) is not affine; as data: convert(i, 'int32') * j")
        return Form(self.form * factor.constant)

    __rmul__ = __mul__

    def __neg__(self) -> Form:
        return Form(-self.form)

    def __lt__(self, other: Form | int) -> Guard:
        return Guard("lt", self.form, _affine(other))

    def __le__(self, other: Form | int) -> Guard:
        return Guard("le", self.form, _affine(other))

    def __gt__(self, other: Form | int) -> Guard:
        return Guard("lt", _affine(other), self.form)

    def __ge__(self, other: Form | int) -> Guard:
        return Guard("le", _affine(other), self.form)

    def __eq__(self, other: object) -> Guard:  # type: ignore[override]
        return Guard("eq", self.form, _affine(other))

    def __ne__(self, other: object) -> Guard:  # type: ignore[override]
        return Guard("ne", self.form, _affine(other))

    __hash__ = None  # type: ignore[assignment]


@located
def _affine(other: object) -> Affine:
    if isinstance(other, Form):
        return other.form
    if isinstance(other, int) and not isinstance(other, bool):
        return Affine.of(other)
    raise TypeError(
        f"iterators go together with iterators and integers, not {type(other).__name__}: convert()"
    )


@dataclass(frozen=True)
class Guard:
    """`left` compared with `right`: for ``where``, and a bool in ``select``."""

    name: str
    left: Affine
    right: Affine

    def __bool__(self) -> bool:
        raise fault("a comparison of iterators is no Python bool; use where() or select()")

    @property
    def forms(self) -> tuple[Affine, ...] | None:
        """At least 0 where it holds; None for ``ne``, which is no conjunction."""
        difference = self.right - self.left
        return {"lt": (difference - 1,), "le": (difference,), "eq": (difference, -difference)}.get(self.name)


class Value:
    """A typed expression. Python's numbers beside it become literals of its format."""

    OPERATORS: ClassVar[tuple[str, ...]] = (
        *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__"),
        *(
            "__rtruediv__",
            "__neg__",
            "__abs__",
            "__lt__",
            "__le__",
            "__gt__",
            "__ge__",
            "__and__",
            "__rand__",
        ),
        *("__or__", "__ror__", "__xor__", "__rxor__", "__lshift__", "__rshift__", "__invert__"),
    )

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    @property
    def number(self) -> str:
        return self.expression.number

    def __add__(self, other: Operand) -> Value:
        return _two("add", self, other)

    def __radd__(self, other: Operand) -> Value:
        return _two("add", other, self)

    def __sub__(self, other: Operand) -> Value:
        return _two("sub", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return _two("sub", other, self)

    def __mul__(self, other: Operand) -> Value:
        return _two("mul", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return _two("mul", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return _quotient(self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _quotient(other, self)

    def __neg__(self) -> Value:
        return _apply("neg", self)

    def __abs__(self) -> Value:
        return _apply("abs", self)

    def __lt__(self, other: Operand) -> Value:
        return _two("lt", self, other)

    def __le__(self, other: Operand) -> Value:
        return _two("le", self, other)

    def __gt__(self, other: Operand) -> Value:
        return _two("lt", other, self)

    def __ge__(self, other: Operand) -> Value:
        return _two("le", other, self)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return _two("eq", self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _two("ne", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Operand) -> Value:
        return _two("and", self, other)

    def __rand__(self, other: Operand) -> Value:
        return _two("and", other, self)

    def __or__(self, other: Operand) -> Value:
        return _two("or", self, other)

    def __ror__(self, other: Operand) -> Value:
        return _two("or", other, self)

    def __xor__(self, other: Operand) -> Value:
        return _two("xor", self, other)

    def __rxor__(self, other: Operand) -> Value:
        return _two("xor", other, self)

    def __lshift__(self, other: Operand) -> Value:
        return _two("shl", self, other)

    def __rshift__(self, other: Operand) -> Value:
        return _two("shr", self, other)

    def __invert__(self) -> Value:
        return _apply("not", self)

    def __bool__(self) -> bool:
        raise fault("a value of the program is no Python bool; use select()")


Operand = Value | Form | Guard | Scalar | int | float


def value_of(operand: Any, number: str = "") -> Value:
    """The operand as a value; a Python number as one of format `number`. Raises TypeError, ValueError."""
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, Form):
        return Value(index(operand.form, ITERATOR))
    if isinstance(operand, Guard):
        return Value(apply(operand.name, index(operand.left, ITERATOR), index(operand.right, ITERATOR)))
    if isinstance(operand, (int, float)) and not isinstance(operand, bool):
        if not number or number == BOOL:
            raise TypeError(f"{operand} has no format: convert({operand}, 'float32')")
        return Value(literal(operand, number))
    if hasattr(operand, "axiloom_value"):
        value: Value = operand.axiloom_value()
        return value
    raise TypeError(f"{operand!r} is no value of a program")


@located
def _two(name: str, *operands: Any) -> Value:
    return _apply(name, *_alike(*operands))


@located
def _apply(name: str, *operands: Value) -> Value:
    return Value(apply(name, *(operand.expression for operand in operands)))


def _alike(*operands: Any) -> list[Value]:
    """Operands as values; numbers of Python take the format of the first that has one."""
    first = next(
        (value_of(operand).number for operand in operands if not isinstance(operand, (int, float))), ""
    )
    return [value_of(operand, first) for operand in operands]


@located
def _quotient(a: Any, b: Any) -> Value:
    operands = _alike(a, b)
    if all(operand.number != BOOL and format_of(operand.number).kind is Kind.INTEGER for operand in operands):
        raise TypeError(f"`/` of {operands[0].number}: say div(a, b), which rounds towards zero")
    return _apply("div", *operands)


def _function(name: str, text: str) -> Callable[..., Value]:
    def function(*operands: Operand) -> Value:
        return _two(name, *operands)

    function.__name__, function.__doc__ = f"{name}_" if name in ("max", "min") else name, text
    return function


max_ = _function("max", "The larger of two.")
min_ = _function("min", "The smaller of two.")
sqrt = _function("sqrt", "The square root, rounded to the nearest.")
exp = _function("exp", "e to the power of a value.")
div = _function("div", "The quotient of two; of integers, rounded towards zero.")
rem = _function("rem", "What :func:`div` leaves; it has the sign of the first operand.")


@located
def select(condition: Operand, yes: Operand, no: Operand) -> Value:
    """`yes` where the condition holds, else `no`. Both are evaluated."""
    a, b = _alike(yes, no)
    return Value(selected(value_of(condition).expression, a.expression, b.expression))


@located
def convert(value: Operand, number: str) -> Value:
    """The value in another format; a Python number as a literal of it."""
    if isinstance(value, (int, float)):
        return Value(literal(value, number))
    return Value(converted(value_of(value).expression, number))


__all__ = [
    "Form",
    "Guard",
    "Literal",
    "Operand",
    "Value",
    "convert",
    "div",
    "exp",
    "max_",
    "min_",
    "rem",
    "select",
    "sqrt",
    "value_of",
]
