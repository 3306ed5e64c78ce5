"""`Phase`: a nest within a pipe, which may have others: its iterations, its blocks, and who uses what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from axiloom.base.errors import CompileError
from axiloom.nests.lower.iteration.space import Member
from axiloom.nests.lower.pipe import Built
from axiloom.nests.poly import sets
from axiloom.nests.program import loads


@dataclass(frozen=True)
class Phase:
    """Nest `number` of a pipe."""

    built: Built
    number: int

    @property
    def name(self) -> str:
        return f"nest{self.number}"

    @cached_property
    def members(self) -> tuple[Member, ...]:
        return tuple(
            member for member in self.built.draft.space.members if member.placed.order[0] == self.number
        )

    @cached_property
    def points(self) -> isl.Set:
        """All its iterations."""
        space = self.built.draft.space
        if len(self.built.draft.nests.numbers) == 1:
            return space.reached
        return self._union(list(self.members))

    @cached_property
    def outer(self) -> str:
        """The counter of its outermost loop; there are several blocks."""
        for member in self.members:
            counter = member.counters.get(member.placed.loops[0]) if member.placed.loops else None
            if counter is not None and counter.terms:
                return counter.terms[0][0]
        raise CompileError(f"{self.name} has no loop over blocks")

    @property
    def depth(self) -> int:
        """Counters down to that of its outermost loop."""
        return self.built.draft.space.names.index(self.outer) + 1

    def down_to(self, loop: str, array: str) -> int:
        """Counters down to `loop`, of the statement that uses `array`."""
        for member in self._users(array):
            counter = member.counters.get(loop)
            if counter is not None and counter.terms:
                return self.built.draft.space.names.index(counter.terms[0][0]) + 1
        raise CompileError(f"{self.name} has no loop {loop}")

    def uses(self, array: str) -> isl.Set:
        """The iterations that use an array."""
        return self._union(self._users(array))

    def in_each_block(self, array: str) -> isl.Set:
        """The iterations that use an array; all of them if there are blocks that do not."""
        used = self.uses(array)
        blocks = [
            points.project_out(isl.dim_type.set, self.depth, points.dim(isl.dim_type.set) - self.depth)
            for points in (used, self.points)
        ]
        return used if blocks[0].is_equal(blocks[1]) else self.points

    def block(self, last: bool) -> isl.Set:
        """The iterations of the last block, or of the first."""
        at = self.depth - 1
        value = self.points.dim_max_val(at) if last else self.points.dim_min_val(at)
        return self.points.fix_val(isl.dim_type.set, at, value)

    def _users(self, array: str) -> list[Member]:
        members = []
        for member in self.members:
            statement = member.placed.statement
            if array in (access.array for access in (statement.target, *loads(statement.value))):
                members.append(member)
        return members

    def _union(self, members: list[Member]) -> isl.Set:
        space = self.built.draft.space
        total = isl.Set.empty(space.reached.get_space())
        for member in members:
            points = sets.domain((*space.names, *member.unrolled), member.domain)
            total = total.union(points.project_out(isl.dim_type.set, len(space.names), len(member.unrolled)))
        return total.intersect(space.reached).coalesce()


def extremes(points: isl.Set, outer: int, last: bool) -> isl.Set:
    """For each value of the first `outer` dimensions the last (or first) point."""
    within = isl.Map.from_range(points).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, outer)
    extreme = within.lexmax() if last else within.lexmin()
    return extreme.wrap().flatten()
