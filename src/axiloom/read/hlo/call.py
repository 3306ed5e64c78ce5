"""`Call`: a statement with its operands as nodes, as rules see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from axiloom.graph.graph import Attribute, Node
from axiloom.read.context import Context, ReadError
from axiloom.read.hlo.program import Function, Statement

Made: TypeAlias = tuple[Node, ...]
Rule: TypeAlias = "Callable[[Call], Node]"


@dataclass
class Call:
    """A statement with its operands as nodes. Rules `take` attributes; what they leave is refused."""

    context: Context
    statement: Statement
    operands: tuple[Node, ...]
    functions: Mapping[str, Function]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.statement.types[0].shape

    @property
    def number(self) -> str:
        return self.statement.types[0].number

    def make(self, op: str, *operands: Node, **attributes: Attribute) -> Node:
        return self.context.make(op, *operands, **attributes)

    def refuse(self, reason: str) -> ReadError:
        return self.context.error(f"{self.statement.op}: {reason}")

    def take(self, name: str, default: Any = None) -> Any:
        return self.statement.attributes.pop(name, default)

    def first(self, *names: str, default: Any = None) -> Any:
        """The attribute under one of the names that versions of the texts have given it."""
        for name in names:
            if name in self.statement.attributes:
                return self.take(name)
        return default

    def ints(self, *names: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """A list of integers. Raises ReadError."""
        value = self.first(*names, default=default)
        if value is None:
            raise self.refuse(f"the attribute {names[0]} is missing")
        return self.plain(value, names[0])

    def plain(self, value: Any, name: str) -> tuple[int, ...]:
        """The value as integers. Raises ReadError."""
        if not isinstance(value, list | tuple) or not all(type(integer) is int for integer in value):
            raise self.refuse(f"{name}={str(value)[:60]} is no list of integers")
        return tuple(value)

    def numbers(self, text: Any, name: str, between: str) -> tuple[int, ...]:
        """Integers in a text such as ``1x2`` or ``1_2``. Raises ReadError."""
        parts = str(text).split(between)
        if not all(re.fullmatch(r"-?\d{1,18}", part) for part in parts):
            raise self.refuse(f"{name}={str(text)[:60]} is no list of integers")
        return tuple(map(int, parts))

    def integer(self, *names: str, default: int | None = None) -> int:
        value = self.first(*names, default=default)
        if type(value) is not int:
            raise self.refuse(f"{names[0]}={str(value)[:60]} is no integer")
        return value

    def text(self, *names: str) -> str:
        value = self.first(*names)
        if not isinstance(value, str):
            raise self.refuse(f"the attribute {names[0]} is missing")
        return value

    def only(self, name: str, *accepted: Any) -> None:
        """Takes an attribute that changes nothing as long as it is one of these."""
        value = self.take(name, accepted[0])
        if value not in accepted:
            raise self.refuse(f"{name}={str(value)[:60]} is not read; only {accepted[0]} is")

    def count(self, wanted: int) -> None:
        if len(self.operands) != wanted:
            raise self.refuse(f"takes {wanted} operands, not {len(self.operands)}")
