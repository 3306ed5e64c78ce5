"""Sharing: operations that exclude each other become one, whose operands are chosen.

Statements of different phases of a pipe (the two products of ``2mm``) never stand in one iteration. Their
operations are paired by their way to the store (the sum before it, the product before that), and lane by
lane: so operands that lanes have in common stay common, and the choice stands once, behind the loads.

Nests that take turns share one pipe (``share``). They are phases of one counter, so that their operators,
ports and banks are chosen by the same modulo schedule as lanes are. Sharing between pipes that run at
once would need an arbiter, and cycles that nobody knows before. So the three products of 3mm use the same
64 multiply-adds, at the price of a choice of operands in front of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum

from axiloom.hw.nest.circuit import Choose, Condition, Operate
from axiloom.nests.lower.iteration.graph import Access, Vertex
from axiloom.nests.lower.iteration.guards import Guards

Role = tuple[int, ...]
Worth = Callable[[Operate], bool]
"""Whether an operator is larger than the choice of its operands."""


Unit = list[int]
"""Operations that exclude each other."""


class Sharing(IntEnum):
    NOTHING = 0
    ROLES = 1  # operations with the same way to the store
    ALL = 2


def shared(
    vertices: Sequence[Vertex], guards: Guards, worth: Worth, sharing: Sharing = Sharing.ALL
) -> list[Vertex]:
    """The same vertices with fewer operations; in an order in which operands come first."""
    if sharing is Sharing.NOTHING:
        return list(vertices)
    units = _Units(vertices, guards)
    families: dict[tuple[str, str, str, int], dict[Role, list[Unit]]] = {}
    for number, role in enumerate(_roles(vertices)):
        vertex = vertices[number]
        if isinstance(vertex.what, Operate) and vertex.guard and worth(vertex.what):
            what = vertex.what
            family = families.setdefault((what.operator, what.number, what.result, what.latency), {})
            units.pack([units.alone(number)], family.setdefault(role, []))
    for family in families.values() if sharing is Sharing.ALL else ():
        largest: list[Unit] = []
        for several in sorted(family.values(), key=len, reverse=True):
            units.pack(several, largest)
    if all(len(unit) == 1 for unit in units.of.values()):
        return list(vertices)
    return _Merger(vertices, guards, units.of).vertices()


class _Units:
    """Which unit an operation belongs to."""

    def __init__(self, vertices: Sequence[Vertex], guards: Guards) -> None:
        self.vertices = vertices
        self.guards = guards
        self.of: dict[int, Unit] = {}
        self.after: list[set[int]] = [set() for _ in vertices]
        for number, vertex in enumerate(vertices):
            for operand in vertex.operands:
                self.after[operand].add(number)

    def alone(self, number: int) -> Unit:
        self.of[number] = [number]
        return self.of[number]

    def pack(self, several: list[Unit], into: list[Unit]) -> None:
        """Each unit joins the first one that it excludes, else it is one more. Units that came together do
        not join each other."""
        there = list(into)
        for unit in several:
            mate = next((other for other in there if self._joins(other, unit)), None)
            if mate is None:
                into.append(unit)
                if len(several) == 1:
                    there.append(unit)
            else:
                there.remove(mate)

    def _joins(self, unit: Unit, other: Unit) -> bool:
        if not all(
            self.guards.excludes(self.vertices[a].guard, self.vertices[b].guard) for a in unit for b in other
        ):
            return False
        size = len(unit)
        unit += other
        self.of.update((member, unit) for member in other)
        if not self._circular(unit):
            return True
        del unit[size:]
        self.of.update((member, other) for member in other)
        return False

    def _circular(self, unit: Unit) -> bool:
        """Whether it would wait for itself."""
        waiting = [later for member in unit for later in self.after[member]]
        seen: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number in unit:
                return True
            if number not in seen:
                seen.add(number)
                waiting += [later for mate in self.of.get(number, [number]) for later in self.after[mate]]
        return False


def _roles(vertices: Sequence[Vertex]) -> list[Role]:
    """For each vertex the longest way to a store, as positions of operands; choices do not count. (A sum of
    several terms is stored before its last one where terms are left over: that way says nothing.)"""
    roles: list[Role | None] = [None] * len(vertices)
    for number in reversed(range(len(vertices))):
        vertex = vertices[number]
        role = roles[number] or ()
        for position, operand in enumerate(vertex.operands):
            way = (*role, position) if isinstance(vertex.what, Operate) else role
            known = roles[operand]
            if known is None or (-len(way), way) < (-len(known), known):
                roles[operand] = way
    return [role or () for role in roles]


class _Merger:
    """Vertices with their units in the place of operations."""

    def __init__(self, old: Sequence[Vertex], guards: Guards, units: dict[int, Unit]) -> None:
        self.old = old
        self.guards = guards
        self.units = units
        self.merged: list[Vertex] = []
        self._new: dict[int, int] = {}
        self._same: dict[object, int] = {}

    def vertices(self) -> list[Vertex]:
        for number, vertex in enumerate(self.old):
            if isinstance(vertex.what, Access) and vertex.what.is_store:
                self._vertex(number)
        return self.merged

    def _vertex(self, number: int) -> int:
        if number in self._new:
            return self._new[number]
        unit = self.units.get(number)
        if unit is not None and len(unit) > 1:
            new = self._operation(unit)
            self._new.update((member, new) for member in unit)
            return new
        vertex = self.old[number]
        names = {operand: self._vertex(operand) for operand in vertex.operands}
        moved = vertex.renamed([names.get(old, -1) for old in range(number)])
        self._new[number] = self._add(moved)
        return self._new[number]

    def _add(self, vertex: Vertex) -> int:
        if isinstance(vertex.what, Access):
            self.merged.append(vertex)
            return len(self.merged) - 1
        known = self._same.get(vertex.what)
        if known is None:
            self.merged.append(vertex)
            known = self._same[vertex.what] = len(self.merged) - 1
        else:
            twin = self.merged[known]
            twin.guard = self.guards.weaker(twin.guard, vertex.guard)
            twin.statements |= vertex.statements
        return known

    def _operation(self, members: list[int]) -> int:
        """One operation for members that exclude each other."""
        first = self.old[members[0]]
        assert isinstance(first.what, Operate)
        keys = self._keys(members)
        operands = []
        for position in range(len(first.operands)):
            values = [self._vertex(self.old[member].operands[position]) for member in members]
            operands.append(self._choice(keys, values, members))
        guard, statements = first.guard, set(first.statements)
        for member in members[1:]:
            guard = self.guards.weaker(guard, self.old[member].guard)
            statements |= self.old[member].statements
        what = replace(first.what, operands=tuple(operands))
        return self._add(Vertex(what, first.bits, guard, first.time, statements))

    def _choice(self, keys: list[Condition], values: list[int], members: list[int]) -> int:
        """The value of the member whose key holds; the last member has none."""
        options: list[tuple[Condition, int]] = []
        for key, value in zip(keys, values, strict=True):
            if options and options[-1][1] == value and key == ():
                options.pop()
            options.append((key, value))
        if len({value for _, value in options}) == 1:
            return values[0]
        guard = self.old[members[0]].guard
        for member in members[1:]:
            guard = self.guards.weaker(guard, self.old[member].guard)
        what = Choose(tuple(options), 0)
        return self._add(Vertex(what, self.merged[values[0]].bits, guard))

    def _keys(self, members: list[int]) -> list[Condition]:
        """For each member a condition that holds where it matters, and for none of those after it."""
        conditions: list[Condition] = []
        for position, member in enumerate(members):
            rest = [self.old[member].guard for member in members[position + 1 :]]
            guard = self.old[member].guard
            keys: list[Condition] = [(), *((form,) for form in guard), guard]
            conditions.append(
                next(key for key in keys if all(self.guards.excludes(key, guard) for guard in rest))
            )
        return conditions
