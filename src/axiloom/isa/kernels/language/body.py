"""Scalar bodies of kernels: ``O + A * B``, ``max(A, 0)``; as text, as a tree, and on NumPy arrays.

A body names operands and has the operations of `OPERATIONS`, integers and floats. What it computes in (how it
wraps, how it rounds) is said by the arithmetic that :meth:`Body.evaluate` is given.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

MOST = 256
"""Nodes of a body; more are refused."""

COMMUTATIVE = ("add", "mul", "max", "min")
OPERATIONS = {"add": 2, "sub": 2, "mul": 2, "max": 2, "min": 2, "neg": 1, "abs": 1}
"""Operation to its number of arguments."""
_SIGNS = {"add": "+", "sub": "-", "mul": "*"}
_BINARY: Mapping[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}


class BodyError(Exception):
    """Why a text is no body, for the end of a sentence."""


@dataclass(frozen=True)
class Name:
    """The element of an operand."""

    operand: str

    def __str__(self) -> str:
        return self.operand


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int | float

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Apply:
    """One of `OPERATIONS` on other bodies."""

    operation: str
    arguments: tuple[Body, ...]

    def __str__(self) -> str:
        if self.operation == "neg":
            return f"-{_bracketed(self.arguments[0])}"
        if self.operation not in _SIGNS:
            return f"{self.operation}({', '.join(map(str, self.arguments))})"
        return f" {_SIGNS[self.operation]} ".join(map(_bracketed, self.arguments))


Body: TypeAlias = Name | Number | Apply


def _bracketed(body: Body) -> str:
    plain = not isinstance(body, Apply) or body.operation not in (*_SIGNS, "neg")
    return str(body) if plain else f"({body})"


def parse(text: str) -> Body:
    """The body that `text` is; raises BodyError."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BodyError(f"`{text}` is no expression such as `O + A * B` or `max(A, 0)`") from None
    if sum(1 for _ in ast.walk(tree)) > 3 * MOST:
        raise BodyError(f"it has more than {MOST} operations")
    return _body(tree.body)


def _body(node: ast.expr) -> Body:
    if isinstance(node, ast.Name):
        return Name(node.id)
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and type(node.value) is not bool
    ):
        return Number(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _body(node.operand)
        return Number(-inner.value) if isinstance(inner, Number) else Apply("neg", (inner,))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return Apply(_BINARY[type(node.op)], (_body(node.left), _body(node.right)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name in OPERATIONS and name not in _SIGNS and len(node.args) == OPERATIONS[name]:
            return Apply(name, tuple(_body(argument) for argument in node.args))
    known = "operands, numbers, `+`, `-`, `*`, `max(a, b)`, `min(a, b)`, `abs(a)`"
    raise BodyError(f"`{ast.unparse(node)}` is not known; a body has {known}")


def names(body: Body) -> Iterator[str]:
    """The operands that a body reads, in order, perhaps several times."""
    if isinstance(body, Name):
        yield body.operand
    elif isinstance(body, Apply):
        for argument in body.arguments:
            yield from names(argument)


def numbers(body: Body) -> Iterator[int | float]:
    """The constants of a body, in order."""
    if isinstance(body, Number):
        yield body.value
    elif isinstance(body, Apply):
        for argument in body.arguments:
            yield from numbers(argument)


def canonical(body: Body) -> Body:
    """The same body with the arguments of commutative operations in a fixed order, ``-1 * x`` as ``-x``."""
    if not isinstance(body, Apply):
        return body
    arguments = tuple(map(canonical, body.arguments))
    if body.operation in COMMUTATIVE:
        arguments = tuple(sorted(arguments, key=repr))
    return Apply(body.operation, arguments)


def renamed(body: Body, named: Mapping[str, str]) -> Body:
    """`body` with other names of operands."""
    if isinstance(body, Name):
        return Name(named.get(body.operand, body.operand))
    if isinstance(body, Number):
        return body
    return Apply(body.operation, tuple(renamed(argument, named) for argument in body.arguments))


def evaluate(body: Body, operands: Mapping[str, Any], operations: Mapping[str, Callable[..., Any]]) -> Any:
    """`body` on arrays that broadcast; `operations` has those of `OPERATIONS` and ``number``."""
    if isinstance(body, Name):
        return operands[body.operand]
    if isinstance(body, Number):
        return operations["number"](body.value)
    arguments = [evaluate(argument, operands, operations) for argument in body.arguments]
    return operations[body.operation](*arguments)
