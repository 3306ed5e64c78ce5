"""`Schedule`: an immutable value. A primitive takes one and returns another, or raises.

Loops are written from the inside: a scheduled statement says, for its loops, which instance of the statement
they stand for. So ``split`` of i by 4 is ``i = 4*io + ii`` with 0 <= ii < 4, and addresses follow by
substitution.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Storage
from axiloom.nests.program import Program, Statement


@dataclass(frozen=True)
class Cyclic:
    """Element (x0, x1, ...) lies in bank (x0 mod f0, x1 mod f1, ...) at address (x0 div f0, x1 div f1, ...).

    A factor of 1 leaves a dimension whole; a factor of its extent gives each index a bank (``complete``).
    `block` names the dimensions that are cut into `f` pieces that follow each other instead: bank x div
    ceil(n/f).
    """

    factors: tuple[int, ...]
    block: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Hyperplane:
    """Element x lies in bank (coefficients . x) mod banks, at the address of the whole array's row-major
    order in which the last dimension is divided by `banks`, rounded up."""

    coefficients: tuple[int, ...]
    banks: int


@dataclass(frozen=True)
class Layout:
    """How an array is stored. `ports`: reads a cycle and bank (2 take both ports of a block RAM, or a
    copy)."""

    partition: Cyclic | Hyperplane | None = None
    storage: Storage | None = None
    ports: int = 1


@dataclass(frozen=True)
class Placed:
    """A statement in its loops.

    `order` is static, loop, static, loop, ..., static: integers and names. `instance` gives each of the
    statement's iterators as an affine form of loops, one to one on the domain. `domain`: forms over loops
    that are at least 0; it includes the statement's own domain, substituted.
    """

    statement: Statement
    order: tuple[int | str, ...]
    instance: tuple[Affine, ...]
    domain: tuple[Affine, ...]

    @property
    def loops(self) -> tuple[str, ...]:
        return tuple(part for part in self.order if isinstance(part, str))

    def subscripts(self, subscripts: tuple[Affine, ...]) -> tuple[Affine, ...]:
        """Subscripts over the statement's iterators, over loops."""
        values = dict(zip(self.statement.iterators, self.instance, strict=True))
        return tuple(subscript.substitute(values) for subscript in subscripts)


@dataclass(frozen=True)
class Nest:
    """Statements that share their first static number: one pipeline. `interval` is the II asked for."""

    number: int
    statements: tuple[Placed, ...]
    interval: int = 1


@dataclass(frozen=True)
class Schedule:
    """`unrolled` are names of loops: they stand innermost, from 0 to a constant, and their iterations are
    issued together (lanes). `streams` are arrays that pass from nest to nest through FIFOs. `shared` are sets
    of nests that take turns on the same operators, in one pipeline. `log` replays the schedule.
    """

    program: Program
    statements: tuple[Placed, ...]
    unrolled: frozenset[str] = frozenset()
    intervals: Mapping[int, int] = field(default_factory=dict)
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    streams: frozenset[str] = frozenset()
    shared: tuple[frozenset[int], ...] = ()
    log: tuple[str, ...] = ()

    @classmethod
    def of(cls, program: Program) -> Schedule:
        """The order of the program as it was written. Loops carry the names of the statements' iterators."""
        placed = []
        for statement in program.statements:
            order: list[int | str] = [statement.place[0]]
            for name, static in zip(statement.iterators, statement.place[1:], strict=True):
                order += [name, static]
            instance = tuple(Affine.name(name) for name in statement.iterators)
            placed.append(Placed(statement, tuple(order), instance, statement.domain))
        return cls(program, tuple(placed))

    @property
    def nests(self) -> tuple[Nest, ...]:
        """In order of time."""
        numbers = sorted({int(statement.order[0]) for statement in self.statements})
        return tuple(
            Nest(
                n,
                tuple(statement for statement in self.statements if statement.order[0] == n),
                self.intervals.get(n, 1),
            )
            for n in numbers
        )

    def placed(self, statement: str) -> Placed:
        return next(placed for placed in self.statements if placed.statement.name == statement)

    def __getattr__(self, name: str) -> Callable[..., Schedule]:
        """Primitives as methods: ``schedule.tile("S1", "i", "j", 4, 16)``."""
        if name.startswith("_") or name not in primitives():
            raise AttributeError(f"a schedule has no {name!r}; its primitives: {', '.join(primitives())}")
        return partial(primitives()[name], self)

    def with_(self, log: str, **changes: object) -> Schedule:
        """A copy with `changes`, and one more line in the log."""
        return replace(self, log=(*self.log, log), **changes)  # type: ignore[arg-type]


PRIMITIVES: dict[str, Callable[..., Schedule]] = {}
"""Filled by ``registry.primitive``."""


def primitives() -> Mapping[str, Callable[..., Schedule]]:
    """All primitives by name: functions from a schedule and plain values to a schedule."""
    importlib.import_module("axiloom.nests.schedule.primitives")  # each file there registers what it holds
    return PRIMITIVES
