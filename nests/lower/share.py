"""Sharing: operations that exclude each other become one, whose operands are chosen.

Statements of different phases of a pipe (the two products of ``2mm``) never stand in one iteration. Their
operations are paired by their way to the store (the sum before it, the product before that), and lane by
lane: so operands that lanes have in common stay common, and the choice stands once, behind the loads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from axiloom.hw.nest.circuit import Choose, Condition, Operate
from axiloom.nests.lower.graph import Access, Vertex
from axiloom.nests.lower.guards import Guards

Role = tuple[int, ...]
Worth = Callable[[Operate], bool]
"""Whether an operator is larger than the choice of its operands."""


@dataclass
class _Unit:
    """Operations that exclude each other."""

    members: list[int] = field(default_factory=list)


def shared(vertices: Sequence[Vertex], guards: Guards, worth: Worth) -> list[Vertex]:
    """The same vertices with fewer operations; in an order in which operands come first."""
    unit_of = _units(vertices, guards, worth)
    if all(len(each.members) == 1 for each in unit_of.values()):
        return list(vertices)
    return _Merger(vertices, guards, unit_of).vertices()


def _units(vertices: Sequence[Vertex], guards: Guards, worth: Worth) -> dict[int, _Unit]:
    """Each operation that is worth it, and its unit."""
    roles = _roles(vertices)
    found: dict[int, _Unit] = {}
    kinds: dict[tuple[str, str, str, Role], list[_Unit]] = {}
    after: list[set[int]] = [set() for _ in vertices]
    for number, vertex in enumerate(vertices):
        for each in vertex.operands:
            after[each].add(number)
    for number, vertex in enumerate(vertices):
        what = vertex.what
        if not isinstance(what, Operate) or not worth(what) or not vertex.guard:
            continue
        units = kinds.setdefault((what.operator, what.number, what.result, roles[number]), [])
        for unit in units:
            if all(guards.excludes(vertices[each].guard, vertex.guard) for each in unit.members):
                unit.members.append(number)
                found[number] = unit
                if not _circular(after, found, number):
                    break
                unit.members.pop()
        else:
            found[number] = _Unit([number])
            units.append(found[number])
    return found


def _roles(vertices: Sequence[Vertex]) -> list[Role]:
    """For each vertex the shortest way to a store, as positions of operands; choices do not count."""
    roles: list[Role | None] = [None] * len(vertices)
    for number in reversed(range(len(vertices))):
        vertex = vertices[number]
        role = roles[number] or ()
        for position, each in enumerate(vertex.operands):
            way = (*role, position) if isinstance(vertex.what, Operate) else role
            known = roles[each]
            if known is None or (len(way), way) < (len(known), known):
                roles[each] = way
    return [each or () for each in roles]


def _circular(after: Sequence[set[int]], units: dict[int, _Unit], start: int) -> bool:
    """Whether the unit of `start` would wait for itself."""
    members = units[start].members
    waiting = [each for member in members for each in after[member]]
    seen: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number in members:
            return True
        if number in seen:
            continue
        seen.add(number)
        mates = units[number].members if number in units else [number]
        waiting += [each for mate in mates for each in after[mate]]
    return False


class _Merger:
    """Vertices with their units in the place of operations."""

    def __init__(self, old: Sequence[Vertex], guards: Guards, units: dict[int, _Unit]) -> None:
        self.old = old
        self.guards = guards
        self.units = units
        self.found: list[Vertex] = []
        self._new: dict[int, int] = {}
        self._same: dict[object, int] = {}

    def vertices(self) -> list[Vertex]:
        for number, vertex in enumerate(self.old):
            if isinstance(vertex.what, Access) and vertex.what.is_store:
                self._vertex(number)
        return self.found

    def _vertex(self, number: int) -> int:
        if number in self._new:
            return self._new[number]
        unit = self.units.get(number)
        if unit is not None and len(unit.members) > 1:
            new = self._operation(unit.members)
            self._new.update((each, new) for each in unit.members)
            return new
        vertex = self.old[number]
        names = {each: self._vertex(each) for each in vertex.operands}
        moved = vertex.renamed([names.get(each, -1) for each in range(number)])
        self._new[number] = self._add(moved)
        return self._new[number]

    def _add(self, vertex: Vertex) -> int:
        if isinstance(vertex.what, Access):
            self.found.append(vertex)
            return len(self.found) - 1
        known = self._same.get(vertex.what)
        if known is None:
            self.found.append(vertex)
            known = self._same[vertex.what] = len(self.found) - 1
        else:
            one = self.found[known]
            one.guard = self.guards.weaker(one.guard, vertex.guard)
            one.statements |= vertex.statements
        return known

    def _operation(self, members: list[int]) -> int:
        """One operation for members that exclude each other."""
        first = self.old[members[0]]
        assert isinstance(first.what, Operate)
        keys = self._keys(members)
        operands = []
        for position in range(len(first.operands)):
            values = [self._vertex(self.old[each].operands[position]) for each in members]
            operands.append(self._choice(keys, values, members))
        guard, statements = first.guard, set(first.statements)
        for each in members[1:]:
            guard = self.guards.weaker(guard, self.old[each].guard)
            statements |= self.old[each].statements
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
        for each in members[1:]:
            guard = self.guards.weaker(guard, self.old[each].guard)
        what = Choose(tuple(options), 0)
        return self._add(Vertex(what, self.found[values[0]].bits, guard))

    def _keys(self, members: list[int]) -> list[Condition]:
        """For each member a condition that holds where it matters, and for none of those after it."""
        found: list[Condition] = []
        for position, member in enumerate(members):
            rest = [self.old[each].guard for each in members[position + 1 :]]
            guard = self.old[member].guard
            keys: list[Condition] = [(), *((form,) for form in guard), guard]
            found.append(next(key for key in keys if all(self.guards.excludes(key, each) for each in rest)))
        return found
