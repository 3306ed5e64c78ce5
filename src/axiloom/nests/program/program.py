"""`Program`: arrays, and statements with a place in time. It says what is computed, and one order of doing
so.

A statement is executed once for each integer point of its domain. The order of instances is the usual one of
polyhedral compilers (2d+1): a statement's `place` are integers c0, c1, ..., cd, and instance (i1, ..., id)
stands at time (c0, i1, c1, i2, ..., id, cd); times are compared lexicographically. Statements that share c0
and the names of their first loops stand in the same loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from axiloom.base.affine import Affine
from axiloom.nests.program.expressions import Expression, Load

Contents = TypeVar("Contents")


class Role(StrEnum):
    """What an array is to the caller."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    LOCAL = "local"

    @property
    def is_given(self) -> bool:
        """Whether the caller fills it before the run."""
        return self in (Role.IN, Role.INOUT)

    @property
    def is_result(self) -> bool:
        return self in (Role.OUT, Role.INOUT)


@dataclass(frozen=True)
class Array:
    """A dense array, row major. A scalar has the shape ``()``."""

    name: str
    shape: tuple[int, ...]
    number: str
    role: Role
    copy_of: str = ""
    """The array of the caller that this one always equals: a copy for statements of their own."""


@dataclass(frozen=True)
class Statement:
    """``target = value`` at each point of `domain`: all forms in it, over `iterators`, are at least 0."""

    name: str
    iterators: tuple[str, ...]
    domain: tuple[Affine, ...]
    target: Load
    value: Expression
    place: tuple[int, ...]
    where: str = ""
    """The source's place, for messages: ``gemm.c:12``."""


@dataclass(frozen=True)
class Program:
    """Arrays and statements. `statements` are in the order of their places."""

    name: str
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]

    def array(self, name: str) -> Array:
        return next(array for array in self.arrays if array.name == name)

    def statement(self, name: str) -> Statement:
        return next(statement for statement in self.statements if statement.name == name)

    def with_copies(self, arrays: Mapping[str, Contents]) -> dict[str, Contents]:
        """`arrays` by name, and under the name of each copy what it is a copy of."""
        copies = {array.name: arrays[array.copy_of] for array in self.arrays if array.copy_of in arrays}
        return {**arrays, **copies}
