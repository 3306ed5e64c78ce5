"""overlay: an array is kept in the memory of another one, whose contents nobody needs by then."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.dependences import Kind, dependences
from axiloom.nests.poly.sets import domain, function
from axiloom.nests.program import Load, Program, Role
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.primitives.layout import array_of
from axiloom.nests.schedule.primitives.rebase import mapped, rebased
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Schedule

_Flows = dict[tuple[str, str], isl.Map]


@primitive
def overlay(schedule: Schedule, array: str, other: str) -> Schedule:
    """`array`, a local one, has its elements in those of `other`, which has the same shape and number.

    This changes the program: nothing says `array` any more. Refused unless each read still gets the value of
    the same write, in the order of the schedule, and the caller gets the same results.
    """
    what = f"overlay {array} {other}"
    mine, its = array_of(schedule, array), array_of(schedule, other)
    if mine.role is not Role.LOCAL or mine == its:
        raise ScheduleError(f"{what}: name a local array and another array; {array} is {mine.role}")
    if its.role is Role.IN:
        raise ScheduleError(f"{what}: {other} is an input, which nothing may write to")
    if (mine.shape, mine.number) != (its.shape, its.number):
        raise ScheduleError(
            f"{what}: both must have one shape and number: {array} is {mine.number} {list(mine.shape)}, "
            f"{other} is {its.number} {list(its.shape)}"
        )
    based = rebased(schedule)

    def moved(load: Load) -> Load:
        return replace(load, array=other) if load.array == array else load

    placed = tuple(
        replace(
            statement,
            statement=replace(
                statement.statement,
                target=moved(statement.statement.target),
                value=mapped(statement.statement.value, moved),
            ),
        )
        for statement in based.statements
    )
    program = replace(
        based.program,
        arrays=tuple(declared for declared in based.program.arrays if declared.name != array),
        statements=tuple(member.statement for member in placed),
    )
    _same(based.program, program, array, other, what)
    layouts = {name: layout for name, layout in based.layouts.items() if name != array}
    return replace(
        based, program=program, statements=placed, layouts=layouts, streams=based.streams - {array}
    )


def _same(before: Program, after: Program, array: str, other: str, what: str) -> None:
    """Raises ScheduleError if a read, or the caller, would get something else."""
    old = _flows(before, {array, other})
    new = _flows(after, {other})
    for source, sink in sorted({*old, *new}):
        earlier, two = old.get((source, sink)), new.get((source, sink))
        if earlier is None or two is None or not earlier.is_equal(two):
            lost = (
                two
                if earlier is None
                else earlier
                if two is None
                else two.subtract(earlier).union(earlier.subtract(two))
            )
            assert lost is not None
            raise ScheduleError(
                f"{what}: {sink} would read the other array's contents: what {source} writes is needed "
                f"while both are in use, first at {source}{_first(lost.domain())} and "
                f"{sink}{_first(lost.range())}"
            )
    unwritten = [{read.statement.name: read for read in dependences(p).live_in} for p in (before, after)]
    for name, read in unwritten[0].items():
        now = unwritten[1].get(name)
        if read.array == other and (now is None or not now.elements.is_equal(read.elements)):
            raise ScheduleError(f"{what}: {name} would not read what the caller gives in {other}")
    if before.array(other).role.is_result and not _last(before, other).is_equal(_last(after, other)):
        raise ScheduleError(f"{what}: the caller would find elements of {array} in {other}")


def _flows(program: Program, arrays: set[str]) -> _Flows:
    """From each write to the reads of its value."""
    flows: _Flows = {}
    for dependence in dependences(program).of(Kind.RAW):
        if dependence.array in arrays:
            key = dependence.source.name, dependence.sink.name
            flows[key] = flows[key].union(dependence.pairs) if key in flows else dependence.pairs
    return flows


def _last(program: Program, array: str) -> isl.Map:
    """For each element the time of its last write, in the program's order."""
    writers = [statement for statement in program.statements if statement.target.array == array]
    length = max((len(statement.place) for statement in program.statements), default=1) * 2 - 1
    total: isl.Map | None = None
    for writer in writers:
        order = [Affine.of(writer.place[0])]
        for name, static in zip(writer.iterators, writer.place[1:], strict=True):
            order += [Affine.name(name), Affine.of(static)]
        order += [Affine.of(0)] * (length - len(order))
        points = domain(writer.iterators, writer.domain)
        time = function(writer.iterators, tuple(order)).intersect_domain(points)
        element = function(writer.iterators, writer.target.subscripts).intersect_domain(points)
        times = element.reverse().apply_range(time)
        total = times if total is None else total.union(times)
    assert total is not None
    return total.lexmax()


def _first(points: isl.Set) -> str:
    at = points.lexmin().sample_point()
    count = at.get_space().dim(isl.dim_type.set)
    values = [at.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count)]
    return f"({', '.join(map(str, values))})"
