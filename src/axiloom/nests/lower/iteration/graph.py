"""`Graph`: what one iteration of a pipe does, as vertices that have no slots yet.

Statements are taken in the order in which an iteration executes them. Values pass from a store to a later
load of the same element without the memory, equal operations become one, and a store that another one covers
is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Choose, Condition, Constant, Operate, Position
from axiloom.nests.lower.iteration.guards import Guards
from axiloom.nests.lower.iteration.lanes import Lane
from axiloom.nests.lower.iteration.narrow import narrowed
from axiloom.nests.lower.iteration.numbers import literal, number_bits
from axiloom.nests.poly import sets
from axiloom.nests.program import Array, Expression, Index, Literal, Load, Program

Forms = tuple[Affine, ...]


class Latencies(Protocol):
    """Which latencies an operator can have; the first one is preferred."""

    def __call__(self, name: str, number: str, result: str) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Access:
    """A load, or a store of vertex `value`, of the element at `forms`, where `guard` holds."""

    array: str
    forms: Forms
    value: int | None = None

    @property
    def is_store(self) -> bool:
        return self.value is not None


@dataclass(frozen=True)
class Send:
    """A push of vertex `value`, where the guard holds."""

    fifo: str
    value: int


@dataclass(frozen=True)
class Receive:
    """A pop."""

    fifo: str


What = Constant | Position | Operate | Choose | Access | Send | Receive


@dataclass
class Vertex:
    """`guard`: where the value matters, or where the access happens. `time`: accesses of an iteration happen
    in this order. `statements`: names."""

    what: What
    bits: int
    guard: Condition
    time: float = 0
    statements: set[str] = field(default_factory=set)

    @property
    def operands(self) -> tuple[int, ...]:
        match self.what:
            case Operate():
                return self.what.operands
            case Choose():
                return tuple(node for _, node in self.what.options)
            case Access(value=int(value)) | Send(value=value):
                return (value,)
            case _:
                return ()

    def renamed(self, new: Sequence[int]) -> Vertex:
        """With other numbers for its operands."""
        what = self.what
        match what:
            case Operate():
                what = replace(what, operands=tuple(new[operand] for operand in what.operands))
            case Choose():
                what = replace(what, options=tuple((when, new[number]) for when, number in what.options))
            case Access(value=int(value)):
                what = replace(what, value=new[value])
            case Send(value=value):
                what = replace(what, value=new[value])
            case _:
                pass
        return Vertex(what, self.bits, self.guard, self.time, self.statements)


class Alias(Enum):
    NEVER = 0
    SAME = 1
    MAYBE = 2


class Graph:
    """`vertices` refer to earlier ones. After :meth:`add` of all lanes, :meth:`finish`."""

    def __init__(self, program: Program, guards: Guards, latencies: Latencies) -> None:
        self.program = program
        self.guards = guards
        self.latencies = latencies
        self.vertices: list[Vertex] = []
        self._same: dict[What, int] = {}
        self._stores: dict[str, list[int]] = {}
        self._loads: dict[tuple[str, Forms, float], list[int]] = {}
        self._latest: dict[str, float] = {}
        self._aliases: dict[tuple[Forms, Condition, Condition], bool] = {}
        self._time = 0

    # --- building ------------------------------------------------------------------------------------

    def add(self, lane: Lane) -> None:
        """The statement of `lane`, after all that were added before."""
        self._time += 1
        statement = lane.statement
        value = self.expression(narrowed(statement.value), lane)
        self._store(statement.target.array, lane.forms(statement.target.subscripts), lane, value)

    def expression(self, tree: Expression, lane: Lane) -> int:
        """The vertex of a value."""
        match tree:
            case Literal():
                bits = number_bits(tree.number)
                return self.vertex(Constant(literal(tree.value, tree.number), bits), bits, lane)
            case Index():
                bits = number_bits(tree.number)
                return self.vertex(Position(lane.forms([tree.value])[0], bits), bits, lane)
            case Load():
                array = self.program.array(tree.array)
                forms = lane.forms(tree.subscripts)
                return self._load(array, forms, lane.guard, len(self._stores.get(array.name, ())), lane)
            case _:
                operands = tuple(self.expression(operand, lane) for operand in tree.operands)
                number = tree.operands[-1].number
                latency = self.latencies(tree.name, number, tree.number)[0]
                what = Operate(tree.name, number, tree.number, operands, latency, 0)
                return self.vertex(what, number_bits(tree.number), lane)

    def vertex(self, what: What, bits: int, lane: Lane) -> int:
        """The vertex that does this; one that is there already if it does the same."""
        number = self._same.get(what)
        if number is None:
            number = self._same[what] = self._new(what, bits, lane.guard, self._time)
        else:
            self._widen(self.vertices[number], lane.guard)
        self.vertices[number].statements.add(lane.statement.name)
        return number

    def _new(self, what: What, bits: int, guard: Condition, time: float) -> int:
        self.vertices.append(Vertex(what, bits, guard, time))
        return len(self.vertices) - 1

    def _widen(self, vertex: Vertex, guard: Condition) -> None:
        """The vertex matters where `guard` holds, too."""
        if not self.guards.implies(guard, vertex.guard):
            vertex.guard = self.guards.weaker(vertex.guard, guard)

    # --- memory --------------------------------------------------------------------------------------

    def _load(self, array: Array, forms: Forms, guard: Condition, upto: int, lane: Lane) -> int:
        """The element's value after the first `upto` stores of the array."""
        time = -1.0
        for position in reversed(range(upto)):
            number = self._stores[array.name][position]
            store = self.vertices[number]
            assert isinstance(store.what, Access)
            assert store.what.value is not None
            alias = self._alias(store.what.forms, store.guard, forms, guard)
            if alias is Alias.NEVER:
                continue
            if alias is Alias.MAYBE:
                time = store.time
                break
            if self.guards.implies(guard, store.guard):
                return store.what.value
            earlier = self._load(array, forms, guard, position, lane)
            options = ((store.guard, store.what.value), ((), earlier))
            return self.vertex(Choose(options, 0), number_bits(array.number), lane)
        return self._read(array, forms, guard, time, lane)

    def _read(self, array: Array, forms: Forms, guard: Condition, time: float, lane: Lane) -> int:
        """A load from memory, between the stores up to `time` and those after it."""
        same = self._loads.setdefault((array.name, forms, time), [])
        for number in same:
            vertex = self.vertices[number]
            if self.guards.excludes(vertex.guard, guard):
                continue  # two phases: each has its own slot, if the ports allow it
            weak = self.guards.weaker(vertex.guard, guard)
            if weak in (vertex.guard, guard) or self._inside(array, forms, weak):
                vertex.guard = weak
                vertex.statements.add(lane.statement.name)
                return number
        self._latest[array.name] = max(time, self._latest.get(array.name, -1.0))
        same.append(self._new(Access(array.name, forms), number_bits(array.number), guard, time + 0.5))
        self.vertices[same[-1]].statements.add(lane.statement.name)
        return same[-1]

    def _inside(self, array: Array, forms: Forms, guard: Condition) -> bool:
        """Whether the element exists wherever `guard` holds."""
        bounds = [bound for n, x in zip(array.shape, forms, strict=True) for bound in (x, n - 1 - x)]
        return self.guards.implies(guard, tuple(bounds))

    def _store(self, array: str, forms: Forms, lane: Lane, value: int) -> None:
        stores = self._stores.setdefault(array, [])
        bits = self.vertices[value].bits
        guard = lane.guard
        statements = {lane.statement.name}
        between: list[
            Vertex
        ] = []  # stores that the new one never meets: one that takes an earlier one in may
        for number in reversed(list(stores)):
            before = self.vertices[number]
            assert isinstance(before.what, Access)
            assert before.what.value is not None
            alias = self._alias(before.what.forms, before.guard, forms, guard)
            if alias is Alias.NEVER:
                between.append(before)
                continue
            if alias is Alias.MAYBE or self._latest.get(array, -1.0) >= before.time:
                break
            if self.guards.implies(before.guard, guard):
                statements |= before.statements
                stores.remove(number)
            elif self.guards.implies(guard, before.guard) and not any(
                self._meet(other, before) for other in between
            ):
                options = ((guard, value), ((), before.what.value))
                value = self.vertex(Choose(options, 0), bits, lane)
                guard = before.guard
                self._widen(self.vertices[value], guard)
                statements |= before.statements
                stores.remove(number)
            else:
                break
        stores.append(self._new(Access(array, forms, value), bits, guard, self._time))
        self.vertices[stores[-1]].statements |= statements

    def _meet(self, store: Vertex, other: Vertex) -> bool:
        assert isinstance(store.what, Access)
        assert isinstance(other.what, Access)
        return self._alias(store.what.forms, store.guard, other.what.forms, other.guard) is not Alias.NEVER

    def _alias(self, forms: Forms, where: Condition, other: Forms, guard: Condition) -> Alias:
        """Whether two accesses of an array meet in an iteration that has both."""
        if self.guards.excludes(where, guard):
            return Alias.NEVER
        if forms == other:
            return Alias.SAME
        gaps = tuple(a - b for a, b in zip(forms, other, strict=True))
        for gap in gaps:
            low, high = gap.range(self.guards.ranges)
            if low > 0 or high < 0:
                return Alias.NEVER
        key = (gaps, where, guard)
        if key not in self._aliases:
            equal = sets.domain(self.guards.names, tuple(form for gap in gaps for form in (gap, -gap)))
            meet: isl.Set = self.guards.points(where).intersect(self.guards.points(guard)).intersect(equal)
            self._aliases[key] = not meet.is_empty()
        return Alias.MAYBE if self._aliases[key] else Alias.NEVER

    # --- the end -------------------------------------------------------------------------------------

    def finish(self) -> list[Vertex]:
        """The vertices that stores need, each after its operands."""
        needed: set[int] = set()
        waiting = [store for stores in self._stores.values() for store in stores]
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                waiting += self.vertices[number].operands
        new = [-1] * len(self.vertices)
        vertices: list[Vertex] = []
        for number in sorted(needed):
            new[number] = len(vertices)
            vertices.append(self.vertices[number].renamed(new))
        return vertices
