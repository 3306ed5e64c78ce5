"""What binds slots: ports of banks, and who is ready when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from axiloom.hw.nest.circuit import Memory, Operate, Place
from axiloom.nests.lower.banks.layouts import BankLayout, bounds
from axiloom.nests.lower.iteration.graph import Access, Vertex
from axiloom.nests.lower.iteration.guards import Guards
from axiloom.nests.lower.slots.modulo import Resource


def apart(
    places: Mapping[int, tuple[Place, Place]], ranges: Mapping[str, tuple[int, int]]
) -> Callable[[int, int], bool]:
    """Whether two accesses never touch the same bank, in whatever iterations."""
    ends = {number: bounds(bank, ranges) for number, (bank, _) in places.items()}

    def apart(a: int, b: int) -> bool:
        return ends[a][1] < ends[b][0] or ends[b][1] < ends[a][0]

    return apart


def accesses(
    guards: Guards,
    ranges: Mapping[str, tuple[int, int]],
    vertices: Sequence[Vertex],
    places: Mapping[int, tuple[Place, Place]],
    layouts: Mapping[str, BankLayout],
    counts: Mapping[str, int],
) -> list[Resource]:
    """What uses the ports of banks that may be the same: `counts` reads a cycle, one write."""
    resources: list[Resource] = []

    @cache  # each pair is asked about again for each slot and interval
    def together(a: int, b: int) -> bool:
        access, other = vertices[a].what, vertices[b].what
        assert isinstance(access, Access)
        assert isinstance(other, Access)
        if access.forms == other.forms and not access.is_store:
            return True
        return layouts[access.array].apart(access.forms, other.forms) or guards.excludes(
            vertices[a].guard, vertices[b].guard
        )

    for array in counts:
        for stores in (False, True):
            users = []
            for number in places:
                what = vertices[number].what
                assert isinstance(what, Access)
                if what.array == array and what.is_store is stores:
                    users.append((*bounds(places[number][0], ranges), number))
            count = 1 if stores else counts[array]
            kind = "writes to" if stores else "reads of"
            for low, high, group in _overlapping(users):
                banks = f"bank {low}" if low == high else f"banks {low} to {high}"
                resources.append(Resource(f"{kind} {array}, {banks}", tuple(group), count, together))
    return resources


def _overlapping(users: list[tuple[int, int, int]]) -> list[tuple[int, int, list[int]]]:
    """Users in groups whose ranges of banks do not meet."""
    groups: list[tuple[int, int, list[int]]] = []
    for low, high, number in sorted(users):
        if groups and low <= groups[-1][1]:
            first, last, group = groups[-1]
            groups[-1] = (first, max(last, high), [*group, number])
        else:
            groups.append((low, high, [number]))
    return [(low, high, sorted(group)) for low, high, group in groups]


def latency(vertex: Vertex, memories: Mapping[str, Memory]) -> int:
    match vertex.what:
        case Operate(latency=latency):
            return latency
        case Access(array=array, value=None):
            return memories[array].latency
        case _:
            return 0


def name(vertex: Vertex) -> str:
    match vertex.what:
        case Operate(operator=operator, latency=latency):
            return f"{operator} ({latency})"
        case Access(array=array, value=value):
            return f"{'read' if value is None else 'write'} {array}"
        case _:
            return ""
