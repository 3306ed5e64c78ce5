"""`Builder`: programs in Python. There is no global state: a builder is a program in the making.

::

    p = Builder("gemm")
    A, B = p.input("A", (200, 240)), p.input("B", (240, 220))
    C = p.inout("C", (200, 220))
    beta = p.input("beta")
    with p.loop("i", 0, 200) as i:
        with p.loop("j", 0, 220) as j:
            C[i, j] *= beta
        with p.loop("k", 0, 240) as k, p.loop("j", 0, 220) as j:
            C[i, j] += A[i, k] * B[k, j]
    program = p.program()

Loops are half open, as Python's ``range``. A second loop ``j`` beside the first in one nest is called ``j1``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.program.expressions import BOOL, Literal, Load
from axiloom.nests.program.names import caller, fault, fresh
from axiloom.nests.program.program import Array, Program, Role, Statement
from axiloom.nests.program.values import Form, Guard, Operand, Value, value_of

Bound = Form | int
Bounds = Bound | Sequence[Bound]


class ArrayOf:
    """An array of a builder. ``A[i, j]`` is an element; assigned to, it is a statement. ``s[()]`` is the only
    element of a scalar, and a scalar itself may stand in expressions."""

    def __init__(self, builder: Builder, array: Array) -> None:
        self._builder, self.array = builder, array

    def _load(self, key: Bound | tuple[Bound, ...]) -> Load:
        subscripts = key if isinstance(key, tuple) else (key,)
        if len(subscripts) != len(self.array.shape):
            raise fault(f"`{self.array.name}` has {len(self.array.shape)} dimensions, not {len(subscripts)}")
        return Load(
            self.array.name,
            tuple(_form(subscript, "subscript") for subscript in subscripts),
            self.array.number,
        )

    def __getitem__(self, key: Bound | tuple[Bound, ...]) -> Value:
        return Value(self._load(key))

    def __setitem__(self, key: Bound | tuple[Bound, ...], value: Operand) -> None:
        self.set(key, value)

    def set(self, key: Bound | tuple[Bound, ...], value: Operand, name: str = "") -> None:
        """``A[key] = value``, as a statement called `name`."""
        self._builder._assign(self._load(key), value, name)

    def axiloom_value(self) -> Value:
        """What the array is as an operand: a scalar's element. Raises TypeError for others."""
        if self.array.shape:
            raise TypeError(f"`{self.array.name}` is an array of {self.array.shape}; give subscripts")
        return Value(self._load(()))

    def __repr__(self) -> str:
        return f"{self.array.name}{list(self.array.shape)} {self.array.number} {self.array.role}"


def _delegated(name: str) -> None:
    """Operators of a scalar are those of its element."""

    def operator(self: ArrayOf, *others: Operand) -> Value:
        try:
            result: Value = getattr(self.axiloom_value(), name)(*others)
        except TypeError as error:
            raise fault(str(error)) from None
        return result

    setattr(ArrayOf, name, operator)


for _name in Value.OPERATORS:
    _delegated(_name)


class Builder:
    """A program in the making."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._arrays: dict[str, Array] = {}
        self._statements: list[Statement] = []
        self._names: set[str] = set()
        self._loops: tuple[str, ...] = ()
        self._domain: tuple[Affine, ...] = ()
        self._statics: tuple[int, ...] = ()
        self._counters = [0]
        self._taken: set[str] = set()

    # --- arrays ---------------------------------------------------------------------------------------

    def array(
        self, name: str, shape: Sequence[int] = (), number: str = "float32", role: str = "inout"
    ) -> ArrayOf:
        """A dense array; without a shape, a scalar. `role`: in, out, inout or local."""
        if name in self._arrays:
            raise fault(f"there is an array `{name}` already; give this one another name")
        try:
            format_of(number)
            array = Array(name, tuple(shape), number, Role(role))
        except ValueError as error:
            raise fault(f"array `{name}`: {error}") from None
        if any(size < 1 for size in array.shape):
            raise fault(f"array `{name}` has the shape {array.shape}; sizes are at least 1")
        self._arrays[name] = array
        return ArrayOf(self, array)

    def input(self, name: str, shape: Sequence[int] = (), number: str = "float32") -> ArrayOf:
        return self.array(name, shape, number, "in")

    def output(self, name: str, shape: Sequence[int] = (), number: str = "float32") -> ArrayOf:
        return self.array(name, shape, number, "out")

    def inout(self, name: str, shape: Sequence[int] = (), number: str = "float32") -> ArrayOf:
        return self.array(name, shape, number, "inout")

    def local(self, name: str, shape: Sequence[int] = (), number: str = "float32") -> ArrayOf:
        return self.array(name, shape, number, "local")

    # --- control --------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, name: str, low: Bounds, high: Bounds, step: int = 1) -> Iterator[Form]:
        """A loop around what stands in the ``with`` block; gives its iterator. Of several bounds the
        narrowest holds. A step other than 1 takes one lower bound."""
        if name in self._loops:
            raise fault(f"`{name}` is the iterator of a loop around this one already; give it another name")
        if not step:
            raise fault(f"loop `{name}` has the step 0")
        lows, highs = _bounds(low), _bounds(high)
        if not self._loops:
            self._taken = set()
        unique = fresh(name, self._taken)
        counter = Affine.name(unique)
        if step == 1:
            value, domain = counter, [counter - bound for bound in lows]
            domain += [bound - counter - 1 for bound in highs]
        else:
            if len(lows) != 1:
                raise fault(f"loop `{name}` has the step {step} and {len(lows)} lower bounds; give one")
            value, domain = lows[0] + counter * step, [counter]
            domain += [bound - value - 1 if step > 0 else value - bound - 1 for bound in highs]
        before = self._loops, self._domain, self._statics
        self._loops = (*self._loops, unique)
        self._domain = (*self._domain, *domain)
        self._statics = (*self._statics, self._next())
        self._counters.append(0)
        try:
            yield Form(value)
        finally:
            self._counters.pop()
            self._loops, self._domain, self._statics = before

    @contextmanager
    def where(self, *conditions: Guard) -> Iterator[None]:
        """What stands in the block is executed where all conditions (comparisons of iterators) hold."""
        before = self._domain
        for condition in conditions:
            if not isinstance(condition, Guard):
                raise fault("`where` takes comparisons of iterators, such as i < j; use select() for data")
            if condition.forms is None:
                raise fault("`where` of !=: two blocks, one with < and one with >")
            self._domain = (*self._domain, *condition.forms)
        try:
            yield
        finally:
            self._domain = before

    @property
    def around(self) -> tuple[tuple[str, ...], tuple[Affine, ...]]:
        """The iterators of the loops that are open, and what holds inside: all forms are at least 0."""
        return self._loops, self._domain

    def _next(self) -> int:
        self._counters[-1] += 1
        return self._counters[-1] - 1

    def _assign(self, target: Load, value: Operand, name: str) -> None:
        try:
            expression = value_of(value, target.number).expression
            if expression.number == BOOL:
                raise TypeError("a bool is assigned; use select(condition, 1, 0)")
            if expression.number != target.number:
                raise TypeError(f"{expression.number} is assigned to {target.number}: use convert()")
        except (TypeError, ValueError) as error:
            raise fault(f"`{target.array}`: {error}") from None
        if name and name in self._names:
            raise fault(f"there is a statement `{name}` already")
        unique = fresh(name or f"S{len(self._statements)}", self._names)
        domain = tuple(form for form in self._domain if not form.is_constant or form.constant < 0)
        place = (*self._statics, self._next())
        self._statements.append(Statement(unique, self._loops, domain, target, expression, place, caller()))

    def program(self) -> Program:
        """What was built so far. `nests.poly.checks.check` says what is wrong with it."""
        return Program(self.name, tuple(self._arrays.values()), tuple(self._statements))


def _bounds(bounds: Bounds) -> list[Affine]:
    return [_form(bound, "bound") for bound in (bounds if isinstance(bounds, (list, tuple)) else (bounds,))]


def _form(operand: object, what: str) -> Affine:
    if isinstance(operand, Form):
        return operand.form
    if isinstance(operand, int) and not isinstance(operand, bool):
        return Affine.of(operand)
    shown = "a number that is computed" if isinstance(operand, (Value, ArrayOf, Literal)) else repr(operand)
    raise fault(f"a {what} is {shown}; it is an affine form of iterators and integers, such as 2*i + j - 1")
