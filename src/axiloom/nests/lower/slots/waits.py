"""Waits: iterations that do nothing, between phases of a pipe of which one uses what the other has just
made."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.nests.lower.iteration.graph import Vertex
from axiloom.nests.lower.iteration.space import Member, Space
from axiloom.nests.lower.slots.carried import Dependence


def crossings(
    space: Space, vertices: Sequence[Vertex], dependences: Sequence[Dependence]
) -> dict[int, tuple[int, int]]:
    """Dependences from one phase to another one, by position, and the change of phase they cross: the level
    of the static number, and the rank of the phase that ends."""
    members = {member.placed.statement.name: member for member in space.members}
    changes: dict[int, tuple[int, int]] = {}
    for number, dependence in enumerate(dependences):
        ends = [_phases(vertices[end], members) for end in (dependence.before, dependence.after)]
        crossed = {_crossed(a, b, space) for a in ends[0] for b in ends[1]}
        if len(crossed) == 1:
            (transition,) = crossed
            if transition is not None:
                changes[number] = transition
    return changes


def _phases(vertex: Vertex, members: dict[str, Member]) -> list[Member]:
    return [members[statement] for statement in sorted(vertex.statements)]


def _crossed(before: Member, after: Member, space: Space) -> tuple[int, int] | None:
    """The outermost change of phase between two statements."""
    for level, rank in before.ranks.items():
        other = after.ranks.get(level)
        if other is None or rank == other:
            continue
        # Backwards: through the end of the last phase.
        return (level, rank) if rank < other else (level, space.phases[level] - 1)
    return None
