"""The iterations of a statement in its pipe, and what they access, as isl maps.

An iteration is a point of the loops that are not unrolled, outermost first; the pipe issues them in
lexicographic order. All lanes of an iteration are issued together, so that lanes are projected out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.sets import Condition, conditions, domain, function
from axiloom.nests.program import Load, loads
from axiloom.nests.schedule import Nest, Placed, Schedule


@dataclass(frozen=True)
class Visits:
    """A statement in its nest. `nest` is the nest's number."""

    nest: int
    placed: Placed
    unrolled: frozenset[str]

    @property
    def name(self) -> str:
        return self.placed.statement.name

    @cached_property
    def loops(self) -> tuple[str, ...]:
        return tuple(loop for loop in self.placed.loops if loop not in self.unrolled)

    @cached_property
    def lanes(self) -> tuple[str, ...]:
        return tuple(loop for loop in self.placed.loops if loop in self.unrolled)

    @cached_property
    def instances(self) -> isl.Set:
        """Over loops, then lanes."""
        return domain((*self.loops, *self.lanes), self.placed.domain)

    @cached_property
    def iterations(self) -> isl.Set:
        """Those in which any lane executes an instance."""
        return self.instances.project_out(isl.dim_type.set, len(self.loops), len(self.lanes)).coalesce()

    def touches(self, access: Load) -> isl.Map:
        """Loops, then lanes, to the element's subscripts."""
        names = (*self.loops, *self.lanes)
        return function(names, self.placed.subscripts(access.subscripts)).intersect_domain(self.instances)

    def reads(self, array: str) -> list[Load]:
        distinct = dict.fromkeys(loads(self.placed.statement.value))
        return [load for load in distinct if load.array == array]

    def writes(self, array: str) -> list[Load]:
        target = self.placed.statement.target
        return [target] if target.array == array else []

    def by_iteration(self, touched: isl.Map) -> isl.Map:
        return touched.project_out(isl.dim_type.in_, len(self.loops), len(self.lanes)).coalesce()

    @cached_property
    def iteration_to_instance(self) -> isl.Map:
        """To the values of the statement's iterators."""
        names = (*self.loops, *self.lanes)
        return self.by_iteration(function(names, self.placed.instance).intersect_domain(self.instances))

    def times(self, length: int) -> isl.Map:
        """Instances (loops, then lanes) to the program's usual time: static numbers and loops in turn, made
        `length` long by zeros; lanes left out."""
        vector: list[Affine] = []
        for part in self.placed.order:
            if part not in self.unrolled:
                vector.append(Affine.of(part))
        vector += [Affine.of(0)] * (length - len(vector))
        return function((*self.loops, *self.lanes), tuple(vector)).intersect_domain(self.instances)


def visits(schedule: Schedule, nest: Nest) -> tuple[Visits, ...]:
    return tuple(Visits(nest.number, statement, schedule.unrolled) for statement in nest.statements)


def forms(points: isl.Set, names: tuple[str, ...], within: isl.Set) -> list[Condition]:
    """`points`, a part of `within`, as disjoint conditions that need not repeat what holds in `within`.
    Raises ValueError if a part needs a division."""
    points = points.coalesce()
    short = points.gist(within).coalesce()
    if short.n_basic_set() <= points.n_basic_set():
        return conditions(short, names)
    return conditions(points, names)
