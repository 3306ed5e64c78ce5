"""A function of Python on NumPy arrays, read as loops: what `ax.nest` decorates.

::

    Image = Annotated[npt.NDArray[np.int16], 64, 64]

    def smooth(x: Image, y: Image) -> None:
        for i in range(1, 63):
            for j in range(64):
                y[i, j] = (x[i - 1, j] + 2 * x[i, j] + x[i + 1, j]) >> 2

Types and shapes stand in the annotations; a parameter that is a scalar is ``beta: np.float32``. Python's and
NumPy's meaning is kept or refused: operands have one type (``np.int32(x[i])`` converts), integers wrap,
``//`` and ``%`` are refused. Variables begin with a type (``total = np.int32(0)``), arrays from outside are
constants. The function itself, called on NumPy arrays, is the referee.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import textwrap
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from axiloom.base.errors import MismatchError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.poly import sets
from axiloom.nests.poly.checks import check
from axiloom.nests.poly.counting import count
from axiloom.nests.poly.liveness import with_roles
from axiloom.nests.program import Program
from axiloom.nests.program.builder import ArrayOf, Builder
from axiloom.nests.program.expressions import BOOL
from axiloom.nests.program.loaded import Arrays, Loaded, Original
from axiloom.nests.program.names import at, fault
from axiloom.nests.program.values import Form, Guard, Value, convert, exp, max_, min_, select, sqrt, value_of

MOST_STEPS = 5_000_000
"""Statements that the referee executes: Python takes about a microsecond for each."""
_FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    **dict.fromkeys((max, np.maximum), max_),
    **dict.fromkeys((min, np.minimum), min_),
    **dict.fromkeys((abs, np.abs), abs),
    np.sqrt: sqrt,
    np.exp: exp,
    np.where: select,
}
_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_OF_INTEGERS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
"""Before anything runs only: of sizes."""
_ACCEPTED = (
    "accepted are Annotated[npt.NDArray[np.int16], 64, 64] for an array of 64 rows and columns, np.float32 "
    "for a scalar, and integers of 8 to 64 bits"
)
Parameters: TypeAlias = dict[str, tuple[str, tuple[int, ...]]]


def is_loops(function: object) -> bool:
    """Whether it is a function of arrays and scalars of NumPy: a parameter is annotated as one. What builds a
    program or a model can be called without any."""
    if not isinstance(function, FunctionType):
        return False
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # annotations are code; `read` says what is wrong with them
        parameters = inspect.signature(function).parameters.values()
        return any(parameter.default is parameter.empty for parameter in parameters)
    return any(_number(hint) for name, hint in hints.items() if name != "return")


def read(function: FunctionType) -> Loaded:
    """The program, with the function itself as its `original` where Python executes it in reasonable time.

    Raises CompileError, with file and line, for what is no nest of loops, or reads beside an array.
    """
    reader = _Reader(function)
    program = with_roles(reader.program(), reader.parameters)
    check(program)
    steps = sum(count(statement.iterators, statement.domain) for statement in program.statements)
    name = f"{function.__name__} in Python"
    original = Original(name, _called(function, reader.parameters, program)) if steps <= MOST_STEPS else None
    return Loaded(program, reader.contents, original=original)


def _parameters(function: FunctionType) -> Parameters:
    """Of each parameter its format and its shape. Raises CompileError."""
    with at(_place(function)):
        try:
            hints = get_type_hints(function, include_extras=True)
        except Exception as error:  # they are a person's code
            raise fault(f"annotations of {function.__name__}: {error}; {_ACCEPTED}") from None
        parameters = inspect.signature(function).parameters.values()
        return {parameter.name: _parameter(parameter, hints.get(parameter.name)) for parameter in parameters}


def _parameter(parameter: inspect.Parameter, hint: Any) -> tuple[str, tuple[int, ...]]:
    name = parameter.name
    if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
        raise fault(f"`{name}`: parameters are given by place or name alike: leave `*` and `/` out")
    sizes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if not (number := _number(hint)):
        raise fault(f"`{name}` is annotated as {hint}; {_ACCEPTED}")
    if not all(type(size) is int and size > 0 for size in sizes):
        raise fault(f"`{name}`: sizes are integers of at least 1, not {', '.join(map(str, sizes))}")
    return number, tuple(sizes)


def _number(hint: Any) -> str:
    """Of an array's elements, or of a scalar; empty if it is neither."""
    kind = hint
    if get_origin(hint) is Annotated:
        array = get_args(hint)[0]
        # NDArray[T] is ndarray[..., dtype[T]]
        kind = get_args(get_args(array)[-1])[0] if get_origin(array) is np.ndarray else None
    return np.dtype(kind).name if isinstance(kind, type) and issubclass(kind, np.integer | np.float32) else ""


def _place(function: FunctionType, line: int = 0) -> str:
    """``model.py:12``, where it begins or in this line behind."""
    code = function.__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno + line}"


def _called(function: FunctionType, parameters: Parameters, program: Program) -> Callable[[Arrays], Arrays]:
    results = {array.name for array in program.arrays if array.role.is_result}

    def call(arrays: Arrays) -> Arrays:
        values = {
            name: np.array(arrays[name]) if name in arrays else np.zeros(shape, number)
            for name, (number, shape) in parameters.items()
        }
        try:
            with np.errstate(all="ignore"):
                function(*(value if value.ndim else value[()] for value in values.values()))
        except Exception as error:
            raise MismatchError(f"{function.__name__} in Python: {type(error).__name__}: {error}") from error
        return {name: value for name, value in values.items() if name in results}

    return call


class _Reader:
    """Executes the statements of a function on a builder."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.parameters = _parameters(function)
        self.contents: dict[str, np.ndarray[Any, Any]] = {}
        self.builder = Builder(function.__name__)
        self.scope: dict[str, Any] = {
            name: self.builder.array(name, shape, number) for name, (number, shape) in self.parameters.items()
        }
        self.outside = ChainMap(function.__globals__, vars(builtins))
        self.conditions: list[Value] = []
        """On data, of the branches around a statement."""
        self.flags = 0

    def program(self) -> Program:
        with at(_place(self.function)):
            try:
                lines, _ = inspect.getsourcelines(self.function)
            except OSError:
                raise fault(f"no text of {self.function.__name__}: write it into a file") from None
            tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
            if not isinstance(tree, ast.FunctionDef):
                raise fault(f"{self.function.__name__} does not begin with `def`")
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        stores = [node.id for node in names if isinstance(node.ctx, ast.Store)]
        self.bound_once = {name for name in stores if stores.count(name) == 1}
        self._statements(tree.body)
        with self._at(tree):
            if not (program := self.builder.program()).statements:
                raise fault(f"{tree.name} assigns nothing")
        return program

    @contextmanager
    def _at(self, node: ast.stmt | ast.expr) -> Iterator[None]:
        """Faults of what is built inside are of this line."""
        with at(_place(self.function, node.lineno - 1)):
            try:
                yield
            except (TypeError, ValueError, OverflowError) as error:
                raise fault(str(error)) from None

    # --- statements

    def _statements(self, statements: list[ast.stmt]) -> None:
        """Names that stand for iterators and numbers mean nothing behind the block that binds them."""
        before = dict(self.scope)
        for statement in statements:
            with self._at(statement):
                self._statement(statement)
        locals_ = {name: value for name, value in self.scope.items() if isinstance(value, ArrayOf)}
        self.scope = {**locals_, **before}

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.For(target=ast.Name(name), iter=ast.Call() as loop, orelse=[]):
                self._loop(name, loop, statement.body)
            case ast.If():
                self._branch(statement)
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
                if statement.value is not None:
                    self._assign(target, self._value(statement.value), statement.value)
            case ast.AugAssign(target=target):
                loaded = ast.copy_location(ast.parse(ast.unparse(target), mode="eval").body, target)
                value = self._two(statement.op, self._value(loaded), self._value(statement.value))
                self._assign(target, value, statement.value)
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                pass
            case _:
                line = ast.unparse(statement).partition("\n")[0]
                raise fault(
                    f"`{line}` is no part of loops; accepted are `for` over range(...), `if`, and assignments"
                )

    def _loop(self, name: str, loop: ast.Call, body: list[ast.stmt]) -> None:
        if self._value(loop.func) is not range or loop.keywords or not 1 <= len(loop.args) <= 3:
            raise fault(f"`for {name} in {ast.unparse(loop)}`: loops are over range(...)")
        low, high = loop.args[:2] if len(loop.args) > 1 else (ast.Constant(0), loop.args[0])
        step = self._value(loop.args[2]) if len(loop.args) > 2 else 1
        if type(step) is not int:
            raise fault(f"the step of `{name}` is {ast.unparse(loop.args[2])}: it is an integer")
        ends = (max, min) if step > 0 else (min, max)
        with self.builder.loop(
            name, self._bounds(low, ends[0]), self._bounds(high, ends[1]), step
        ) as iterator:
            outer = self.scope
            self.scope = {**outer, name: iterator}
            self._statements(body)
            self.scope = {**self.scope, **outer}
            if name not in outer:
                del self.scope[name]

    def _bounds(self, node: ast.expr, of_several: Callable[..., Any]) -> Any:
        """``max(0, i - 2)`` at the lower end are two bounds, as ``min`` is at the upper."""
        if isinstance(node, ast.Call) and self._value(node.func) is of_several:
            return [self._value(argument) for argument in node.args]
        return self._value(node)

    def _branch(self, statement: ast.If) -> None:
        parts = [statement.test]
        if isinstance(statement.test, ast.BoolOp) and isinstance(statement.test.op, ast.And):
            parts = statement.test.values
        tests = [self._value(part) for part in parts]
        if all(isinstance(test, bool) for test in tests):
            self._statements(statement.body if all(tests) else statement.orelse)
            return
        tests = [test for test in tests if test is not True]
        if any(test is False for test in tests):
            self._statements(statement.orelse)
            return
        guards = [test for test in tests if isinstance(test, Guard) and test.forms is not None]
        negated = _negated(guards) if statement.orelse else []
        if len(guards) == len(tests) and negated is not None:
            with self.builder.where(*guards):
                self._statements(statement.body)
            if statement.orelse:
                with self.builder.where(*negated):
                    self._statements(statement.orelse)
            return
        flag = self.builder.local(f"if{self.flags}", (), "uint8")
        self.flags += 1
        flag.set((), select(_all(tests), convert(1, "uint8"), convert(0, "uint8")))
        for taken, body in ((1, statement.body), (0, statement.orelse)):
            self.conditions.append(flag.axiloom_value() == taken)
            self._statements(body)
            self.conditions.pop()

    def _assign(self, target: ast.expr, value: Any, node: ast.expr) -> None:
        match target:
            case ast.Name(name):
                array = self.scope.get(name)
                if name in self.parameters or (isinstance(array, ArrayOf) and array.array.shape):
                    raise fault(
                        f"`{name}` is an array or a parameter: assign to its elements, or to a new name"
                    )
                if isinstance(array, ArrayOf):
                    self._store(array, (), value)
                elif isinstance(value, _Zeros):
                    self._local(name, value)
                elif isinstance(value, (Value, Guard)):
                    self.scope[name] = local = self.builder.local(name, (), value_of(value).number)
                    self._store(local, (), value)
                elif name in self.bound_once:
                    self.scope[name] = value
                else:
                    raise fault(
                        f"`{name}` is assigned more than once and begins without a type: "
                        f"{name} = np.int32({ast.unparse(node)})"
                    )
            case ast.Subscript():
                array = self._name(target.value)
                if not isinstance(array, ArrayOf) or array.array.name in self.contents:
                    raise fault(f"`{ast.unparse(target.value)}` is no array that the function may write")
                self._store(array, self._value(target.slice), value)
            case _:
                raise fault(f"`{ast.unparse(target)}`: assignments are to one element, or one name")

    def _local(self, name: str, zeros: _Zeros) -> None:
        if self.conditions:
            raise fault(f"`{name}` is made in a branch on data: make it before")
        self.scope[name] = array = self.builder.local(name, zeros.shape, zeros.number)
        if zeros.filled:
            self._fill(array, ())

    def _fill(self, array: ArrayOf, at_: tuple[Form, ...]) -> None:
        if len(at_) == len(array.array.shape):
            array.set(at_, 0)
            return
        with self.builder.loop(f"z{len(at_)}", 0, array.array.shape[len(at_)]) as iterator:
            self._fill(array, (*at_, iterator))

    def _store(self, array: ArrayOf, key: Any, value: Any) -> None:
        if isinstance(value, float) and format_of(array.array.number).kind is not Kind.FLOAT:
            raise fault(f"{value} is no {array.array.number}")
        if isinstance(value, Form):
            value = self._data(value, array.array.number)
        for condition in self.conditions:
            value = select(condition, value, array[key])
        array.set(key, value)

    # --- expressions

    def _value(self, node: ast.expr) -> Any:
        """A number of Python, a form, a guard, a value; or whatever a name from outside is."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.Name():
                value = self._name(node)
                return (
                    value.axiloom_value() if isinstance(value, ArrayOf) and not value.array.shape else value
                )
            case ast.Attribute():
                owner = self._value(node.value)
                return getattr(owner.array if isinstance(owner, ArrayOf) else owner, node.attr)
            case ast.Tuple():
                return tuple(self._value(part) for part in node.elts)
            case ast.Subscript():
                return self._value(node.value)[self._value(node.slice)]
            case ast.BinOp():
                return self._two(node.op, self._value(node.left), self._value(node.right))
            case ast.UnaryOp(op=ast.USub()):
                return -self._value(node.operand)
            case ast.UnaryOp(op=ast.Invert()):
                return ~self._value(node.operand)
            case ast.UnaryOp(op=ast.Not()):
                operand = self._value(node.operand)
                return not operand if isinstance(operand, bool) else ~_as_bool(operand)
            case ast.Compare():
                values = [self._value(part) for part in (node.left, *node.comparators)]
                tests = [
                    self._two(op, left, right)
                    for op, left, right in zip(node.ops, values, values[1:], strict=False)
                ]
                return tests[0] if len(tests) == 1 else _all(tests)
            case ast.BoolOp(op=ast.And()):
                return _all([self._value(part) for part in node.values])
            case ast.BoolOp():
                return ~_all([~_as_bool(self._value(part)) for part in node.values])
            case ast.IfExp():
                test = self._value(node.test)
                if isinstance(test, bool):
                    return self._value(node.body if test else node.orelse)
                yes, no = self._value(node.body), self._value(node.orelse)
                if isinstance(yes, (int, float)) and isinstance(no, (int, float)):
                    raise fault(
                        f"`{ast.unparse(node)}` has no type: np.int32({ast.unparse(node.body)}) if ..."
                    )
                return select(_as_bool(test), yes, no)
            case ast.Call(keywords=[] | [ast.keyword(arg="dtype")]):
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                return self._call(self._value(node.func), [self._value(part) for part in arguments], node)
        raise fault(f"`{ast.unparse(node)}` is no expression of loops")

    def _name(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Name):
            return self._value(node)
        if node.id in self.scope:
            return self.scope[node.id]
        code = self.function.__code__
        if node.id in code.co_freevars:
            value = (self.function.__closure__ or ())[code.co_freevars.index(node.id)].cell_contents
        elif node.id in self.outside and node.id not in code.co_varnames:
            value = self.outside[node.id]
        else:
            raise fault(f"`{node.id}` has no value here; names that a block binds end with it")
        if isinstance(value, np.generic):
            return convert(value.item(), value.dtype.name)
        if isinstance(value, np.ndarray):
            self.contents[node.id] = np.ascontiguousarray(value)
            self.scope[node.id] = self.builder.array(node.id, value.shape, value.dtype.name, "in")
            return self.scope[node.id]
        return value

    def _two(self, op: ast.operator | ast.cmpop, left: Any, right: Any) -> Any:
        """NumPy's meaning: a number of Python, and an iterator, take the type of the value beside them."""
        name = _OPERATORS.get(type(op))
        if not any(isinstance(side, (Value, Guard, Form)) for side in (left, right)):
            name = name or _OF_INTEGERS.get(type(op))
        if name is None:
            raise fault("operators are + - * / & | ^ << >> and comparisons; of sizes // % ** too")
        pair = [left, right]
        if isinstance(op, ast.Mult) and all(isinstance(side, Form) and side.form.terms for side in pair):
            raise fault("a product of iterators is data: np.int32(i) * j")
        for mine, other in ((0, right), (1, left)):
            if not isinstance(other, Value) or other.number == BOOL:
                continue
            if isinstance(pair[mine], Form):
                pair[mine] = self._data(pair[mine], other.number)
            elif isinstance(pair[mine], float) and format_of(other.number).kind is not Kind.FLOAT:
                raise fault(f"{pair[mine]} beside {other.number}: convert one of them, as np.float32(x[i])")
        return name(*pair)

    def _data(self, form: Form, number: str) -> Value:
        """An iterator as a number of a program, which has to hold it: Python's have no end."""
        format, (low, high) = format_of(number), sets.bounds(*self.builder.around, form.form)
        if format.kind is Kind.INTEGER and (low < format.lowest or high > format.highest):
            raise fault(f"{form.form} is {low} to {high}, and {number} does not hold that")
        return convert(form, number)

    def _call(self, function: Any, operands: list[Any], node: ast.Call) -> Any:
        if function in (np.zeros, np.empty) and len(operands) == 2:
            shape = operands[0] if isinstance(operands[0], tuple) else (operands[0],)
            return _Zeros(shape, np.dtype(operands[1]).name, function is np.zeros)
        if isinstance(function, type) and issubclass(function, np.generic) and len(operands) == 1:
            number = np.dtype(function).name
            return (
                self._data(operands[0], number)
                if isinstance(operands[0], Form)
                else convert(operands[0], number)
            )
        if function is len and isinstance(operands[0], ArrayOf):
            return operands[0].array.shape[0]
        if not any(isinstance(operand, (Value, Guard, Form, ArrayOf)) for operand in operands):
            return function(*operands)
        if function not in _FUNCTIONS:
            raise fault(
                f"`{ast.unparse(node.func)}` of data; functions are max, min, abs, np.sqrt, np.exp, np.where"
            )
        return _FUNCTIONS[function](*operands)


class _Zeros:
    """A local array that is about to have a name."""

    def __init__(self, shape: tuple[int, ...], number: str, filled: bool) -> None:
        self.shape, self.number, self.filled = shape, number, filled


def _as_bool(test: Any) -> Value:
    """Raises TypeError where it is a number: Python asks whether it is 0."""
    value = value_of(test)
    if value.number != BOOL:
        raise TypeError(f"{value.number} is no condition: compare it with 0")
    return value


def _all(tests: list[Any]) -> Any:
    """Conditions on iterators and on data together."""
    if all(isinstance(test, bool) for test in tests):
        return all(tests)
    together = _as_bool(tests[0])
    for test in tests[1:]:
        together = together & _as_bool(test)
    return together


def _negated(guards: list[Guard]) -> list[Guard] | None:
    """What holds where the guard does not; None where that is more than a conjunction."""
    if len(guards) != 1 or guards[0].name not in ("lt", "le"):
        return None
    (guard,) = guards
    return [Guard({"lt": "le", "le": "lt"}[guard.name], guard.right, guard.left)]
