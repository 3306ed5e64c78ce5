"""Loads move to the latest slot at which their value is in time: their addresses wait for free, values in
registers do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from axiloom.hw.nest.circuit import Choose, Constant, Position
from axiloom.nests.lower.iteration.graph import Access, Vertex
from axiloom.nests.lower.slots.modulo import Edge, Resource, Timing


def alap(
    vertices: Sequence[Vertex], edges: Sequence[Edge], resources: Sequence[Resource], timing: Timing
) -> Timing:
    """The same interval and length. Where accesses share a port they keep their slots modulo the
    interval, and those of one slot move together."""
    slots = list(timing.slots)
    out: list[list[Edge]] = [[] for _ in vertices]
    for edge in edges:
        out[edge.before].append(edge)
    free = [False] * len(vertices)
    for number, vertex in enumerate(vertices):
        match vertex.what:
            case Constant() | Position() | Access(value=None):
                free[number] = True
            case Choose():
                free[number] = all(free[operand] for operand in vertex.operands)
            case _:
                pass
    groups: dict[int, list[int]] = {}
    for resource in resources:
        for user in resource.users:
            groups.setdefault(user, []).extend(
                other for other in resource.users if slots[other] == slots[user]
            )
    interval = timing.interval
    for number in reversed(range(len(vertices))):
        group = sorted(set(groups.get(number, [number])))
        if not out[number] or number != group[0] or not all(free[member] for member in group):
            continue
        limit = min(
            slots[edge.after] + interval * edge.distance - edge.delay - slots[edge.before]
            for member in group
            for edge in out[member]
            if edge.after not in group
        )
        if len(group) > 1 or number in groups:
            limit -= limit % interval
        for member in group:
            slots[member] += max(limit, 0)
    return replace(timing, slots=tuple(slots))
