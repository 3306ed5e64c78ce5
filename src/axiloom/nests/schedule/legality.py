"""Whether a schedule keeps the order of all accesses that depend on each other, and all instances, once each.

Two instances are compared by the orders of their statements: up to where these part, equal loops must have
equal values. So a dependence is broken if an outer common loop runs backwards, or if all common loops are
equal and the sink stands first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.dependences import Dependence, Kind, dependences
from axiloom.nests.poly.sets import domain, function
from axiloom.nests.poly.vectors import Vector, vector
from axiloom.nests.schedule.schedule import Placed, Schedule


@dataclass(frozen=True)
class Swap:
    """Two instances in the wrong order. `element` is what they both touch, `source` must come first."""

    kind: Kind
    array: str
    element: tuple[int, ...]
    source: str
    source_at: tuple[int, ...]
    sink: str
    sink_at: tuple[int, ...]

    def __str__(self) -> str:
        source, sink = _instance(self.source, self.source_at), _instance(self.sink, self.sink_at)
        what = {
            Kind.RAW: f"{sink} would read {self._what} before {source} has written it",
            Kind.WAR: f"{sink} would write {self._what} before {source} has read it",
            Kind.WAW: f"{sink} would write {self._what} before {source} does, which must come first",
        }
        return f"{what[self.kind]} ({self.kind})"

    @property
    def _what(self) -> str:
        return self.array + "".join(f"[{index}]" for index in self.element)


def _instance(statement: str, at: tuple[int, ...]) -> str:
    return f"{statement}({', '.join(map(str, at))})"


def swap(schedule: Schedule) -> Swap | None:
    """The first dependence that the schedule breaks, with the instances in which it does; None if it is
    legal."""
    placed = {statement.statement.name: statement for statement in schedule.statements}
    for dependence in dependences(schedule.program).all:
        source, sink = placed[dependence.source.name], placed[dependence.sink.name]
        common, after = common_loops(source.order, sink.order)
        backwards = _broken(
            _Key(dependence.pairs), source.loops, source.instance, source.domain,
            sink.loops, sink.instance, sink.domain, common, after,
        )  # fmt: skip
        if backwards is not None:
            return _witness(dependence, backwards)
    return None


def is_legal(schedule: Schedule) -> bool:
    return swap(schedule) is None and incomplete(schedule) is None


def incomplete(schedule: Schedule) -> str | None:
    """The first statement that is not executed exactly once for each point of its domain. No primitive
    should ever give such a schedule."""
    for statement in schedule.statements:
        if not _is_complete(statement.statement.iterators, statement.statement.domain, statement.loops,
                            statement.instance,
                            statement.domain):  # fmt: skip
            return statement.statement.name
    return None


@dataclass(frozen=True)
class Carried:
    """A dependence in the loops of a schedule. `vector`: a distance for each loop that both share."""

    kind: Kind
    array: str
    source: str
    sink: str
    loops: tuple[str, ...]
    vector: Vector


def distances(schedule: Schedule) -> tuple[Carried, ...]:
    """All dependences, in the loops of the schedule."""
    placed = {statement.statement.name: statement for statement in schedule.statements}
    carried = []
    for dependence in dependences(schedule.program).all:
        source, sink = placed[dependence.source.name], placed[dependence.sink.name]
        common, _ = common_loops(source.order, sink.order)
        pairs = in_loops(dependence, source, sink)
        carried.append(
            Carried(
                dependence.kind, dependence.array, source.statement.name, sink.statement.name,
                source.loops[:common], vector(pairs, common),
            )
        )  # fmt: skip
    return tuple(carried)


def in_loops(dependence: Dependence, source: Placed, sink: Placed) -> isl.Map:
    """The pairs of a dependence, in values of the loops of both statements."""
    at = [_times(side.loops, side.instance, side.domain) for side in (source, sink)]
    return at[0].apply_range(dependence.pairs).apply_range(at[1].reverse())


def common_loops(first: tuple[int | str, ...], second: tuple[int | str, ...]) -> tuple[int, bool]:
    """How many loops two orders share from outside, and whether `first` does not come before `second` where
    these are equal."""
    for position in range(0, min(len(first), len(second)), 2):
        a, b = int(first[position]), int(second[position])
        if a != b:
            return position // 2, a > b
    return min(len(first), len(second)) // 2, True


class _Key:
    """The pairs of a dependence, compared by identity: they are computed once."""

    def __init__(self, pairs: isl.Map) -> None:
        self.pairs = pairs

    def __hash__(self) -> int:
        return id(self.pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.pairs is self.pairs


@lru_cache(maxsize=4096)
def _broken(
    key: _Key,
    source_loops: tuple[str, ...],
    source_instance: tuple[Affine, ...],
    source_domain: tuple[Affine, ...],
    sink_loops: tuple[str, ...],
    sink_instance: tuple[Affine, ...],
    sink_domain: tuple[Affine, ...],
    common: int,
    after: bool,
) -> isl.Map | None:
    """Pairs of instances that are in the wrong order, or None."""
    source = _times(source_loops, source_instance, source_domain)
    sink = _times(sink_loops, sink_instance, sink_domain)
    pairs = source.apply_range(key.pairs).apply_range(sink.reverse())
    wrong = pairs.intersect(_backwards(len(source_loops), len(sink_loops), common, after))
    if wrong.is_empty():
        return None
    return source.reverse().apply_range(wrong).apply_range(sink)


def _times(loops: tuple[str, ...], instance: tuple[Affine, ...], points: tuple[Affine, ...]) -> isl.Map:
    """Values of loops to the instance they stand for."""
    return function(loops, instance).intersect_domain(domain(loops, points))


@lru_cache(maxsize=1024)
def _backwards(source: int, sink: int, common: int, after: bool) -> isl.Map:
    """All pairs of loop values at which the second is executed before the first, or at the same time."""
    a, b = ([f"{side}{k}" for k in range(count)] for side, count in (("a", source), ("b", sink)))
    cases = []
    for k in range(common + 1):
        equal = [f"{a[e]} = {b[e]}" for e in range(k)]
        if k < common:
            cases.append(" and ".join([*equal, f"{a[k]} > {b[k]}"]))
        elif after:
            cases.append(" and ".join(equal) or "true")
    condition = " or ".join(f"({case})" for case in cases) or "false"
    return isl.Map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {condition} }}")


def _witness(dependence: Dependence, wrong: isl.Map) -> Swap:
    at = _first(dependence.pairs.intersect(wrong).wrap())
    source, sink = at[: len(dependence.source.iterators)], at[len(dependence.source.iterators) :]
    element = _element(dependence, source, sink)
    return Swap(
        dependence.kind, dependence.array, element, dependence.source.name, source, dependence.sink.name, sink
    )


def _first(points: isl.Set) -> tuple[int, ...]:
    """The least point, number by number; or any one. Where divisions depend on each other, isl's `lexmin`
    loses points or fails, and so may `dim_min_val`."""
    count = points.dim(isl.dim_type.set)
    least = points
    for k in range(count):
        value = least.dim_min_val(k)
        if not value.is_int():
            break
        least = least.fix_val(isl.dim_type.set, k, value)
    point = (points if least.is_empty() else least).sample_point()
    return tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count))


def _element(dependence: Dependence, source: tuple[int, ...], sink: tuple[int, ...]) -> tuple[int, ...]:
    """What is written by the one that writes."""
    writer, at = (dependence.sink, sink) if dependence.kind is Kind.WAR else (dependence.source, source)
    values = dict(zip(writer.iterators, at, strict=True))
    return tuple(subscript.value(values) for subscript in writer.target.subscripts)


@lru_cache(maxsize=4096)
def _is_complete(
    iterators: tuple[str, ...],
    points: tuple[Affine, ...],
    loops: tuple[str, ...],
    instance: tuple[Affine, ...],
    scheduled: tuple[Affine, ...],
) -> bool:
    times = _times(loops, instance, scheduled)
    return bool(times.is_injective() and times.range().is_equal(domain(iterators, points)))
