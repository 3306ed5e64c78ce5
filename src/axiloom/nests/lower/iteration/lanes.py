"""Lanes: the instances of statements that are issued together, each under its guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Condition
from axiloom.nests.lower.iteration.guards import Guards
from axiloom.nests.lower.iteration.space import Member, Space
from axiloom.nests.poly import sets
from axiloom.nests.program import Statement


@dataclass(frozen=True)
class Lane:
    """An instance of `statement` whose iterators are `instance`, forms over counters. `number` counts the
    lanes of a statement; the same number in two statements need not mean the same lane."""

    member: Member
    number: int
    instance: dict[str, Affine]
    guard: Condition
    order: tuple[int, ...]

    @property
    def statement(self) -> Statement:
        return self.member.placed.statement

    def forms(self, subscripts: Sequence[Affine]) -> tuple[Affine, ...]:
        """Subscripts over the statement's iterators, over counters."""
        return tuple(subscript.substitute(self.instance) for subscript in subscripts)


def lanes(space: Space, guards: Guards) -> list[Lane]:
    """All lanes that are ever executed, in the order in which an iteration executes them."""
    executed: list[Lane] = []
    for member in space.members:
        names = (*space.names, *member.unrolled)
        domain = sets.domain(names, member.domain)
        if domain.is_empty():
            continue  # a statement that is never executed
        extents = []
        for position in range(len(space.names), len(names)):
            low, high = (
                domain.dim_min_val(position).to_python(),
                domain.dim_max_val(position).to_python(),
            )
            extents.append(range(low, high + 1))
        for number, values in enumerate(product(*extents)):
            lane = dict(zip(member.unrolled, values, strict=True))
            guard = guards.simple(tuple(form.substitute(lane) for form in member.domain))
            if guard is None:
                continue
            loops: dict[str, Affine | int] = {**member.counters, **lane}
            instance = {
                name: form.substitute(loops)
                for name, form in zip(member.placed.statement.iterators, member.placed.instance, strict=True)
            }
            order = tuple(lane[part] if isinstance(part, str) else part for part in member.inside)
            executed.append(Lane(member, number, instance, guard, order))
    return sorted(executed, key=lambda lane: lane.order)
