"""buffer_at: a local copy of the slice of an array that one iteration of a loop uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.dependences import Kind, dependences
from axiloom.nests.poly.sets import Condition, bounds, conditions, domain, function
from axiloom.nests.program import Array, Load, Role, Statement, loads
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import depth_of, fresh, place_of, within
from axiloom.nests.schedule.primitives.check import not_unrolled
from axiloom.nests.schedule.primitives.layout import array_of
from axiloom.nests.schedule.primitives.rebase import (
    in_loops,
    local,
    mapped,
    rebased,
    room_for,
    with_arrays,
    with_statements,
)
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Placed, Schedule


@primitive
def buffer_at(schedule: Schedule, array: str, statement: str, loop: str) -> Schedule:
    """What one iteration of `loop` reads of `array` is copied into a local array at its start, what it writes
    is copied back at its end; statements in the loop use the copy.

    This changes the program: it gets an array ``A_io`` and statements ``A_io_in``, ``A_io_out``. Legal
    always: all that stands in the loop uses the copy. Refused if the slice is not a box that moves with the
    loops outside. A local array whose contents no other iteration reads is not copied back: it is gone.
    """
    what = f"buffer_at {array} {statement} {loop}"
    original = array_of(schedule, array)
    not_unrolled(schedule, what, loop)
    depth = depth_of(place_of(schedule, statement), loop)
    based = rebased(schedule)
    placed = place_of(based, statement)
    inside = within(based, placed, depth)
    outer = placed.loops[: depth + 1]
    read = [(e, use) for e in inside for use in loads(e.statement.value) if use.array == array]
    written = [(e, e.statement.target) for e in inside if e.statement.target.array == array]
    if not read and not written:
        raise ScheduleError(f"{what}: nothing in loop {loop} uses {array}")
    start, shape = _box(outer, [*read, *written], what)
    copy = local(based, f"{array}_{loop}", shape, original.number)

    def use_copy(load: Load) -> Load:
        if load.array != array:
            return load
        places = tuple(x - low for x, low in zip(load.subscripts, start, strict=True))
        return Load(copy.name, places, load.number)

    prefix = placed.order[: 2 * depth + 2]
    first = min(int(member.order[len(prefix)]) for member in inside)
    unfed = [(reader, use) for reader, use in read if not _is_fed(based, reader, array, inside, depth + 1)]
    private = not unfed and original.role is Role.LOCAL and _only(based, array, inside)
    based = with_arrays(room_for(based, prefix, first, 1), copy)
    changed = [_using(place_of(based, member.statement.name), use_copy) for member in inside]
    last = max(int(member.order[len(prefix)]) for member in changed) + 1
    make = _Copies(based, original, copy, outer, start, prefix, what)
    added = make.of("in", unfed, first) + ([] if private else make.of("out", written, last))
    done = with_statements(based, changed, added)
    return _without(done, array) if private else done


def _only(schedule: Schedule, array: str, inside: Sequence[Placed]) -> bool:
    """Whether no other statement uses the array."""
    names = {member.statement.name for member in inside}
    return not any(
        array in (statement.target.array, *(use.array for use in loads(statement.value)))
        for statement in schedule.program.statements
        if statement.name not in names
    )


def _without(schedule: Schedule, array: str) -> Schedule:
    arrays = tuple(other for other in schedule.program.arrays if other.name != array)
    layouts = {name: layout for name, layout in schedule.layouts.items() if name != array}
    return replace(schedule, program=replace(schedule.program, arrays=arrays), layouts=layouts)


def _using(placed: Placed, use_copy: Callable[[Load], Load]) -> Placed:
    old = placed.statement
    statement = replace(old, target=use_copy(old.target), value=mapped(old.value, use_copy))
    return replace(placed, statement=statement)


def _box(
    outer: Sequence[str], uses: Sequence[tuple[Placed, Load]], what: str
) -> tuple[tuple[Affine, ...], tuple[int, ...]]:
    """The least element of the slice over the outer loops, and its extents."""
    start, shape = [], []
    for dimension in range(len(uses[0][1].subscripts)):
        bases: set[Affine] = set()
        low, high = 0, -1
        for placed, load in uses:
            form = load.subscripts[dimension]
            base = Affine.sum([(n, f) for n, f in form.terms if n in outer])
            least, most = bounds(placed.loops, placed.domain, form - base)
            low, high = (least, most) if not bases else (min(low, least), max(high, most))
            bases.add(base)
        if len(bases) != 1:
            raise ScheduleError(
                f"{what}: subscripts {' and '.join(sorted(map(str, bases)))} of dimension {dimension} move "
                f"differently with the loops outside: no one slice holds them"
            )
        start.append(bases.pop() + low)
        shape.append(high - low + 1)
    return tuple(start), tuple(shape)


def _is_fed(schedule: Schedule, placed: Placed, array: str, inside: Sequence[Placed], outer: int) -> bool:
    """Whether the same iteration of the loop has written all that the statement reads of the array."""
    names = {member.statement.name for member in inside}
    points = domain(placed.loops, placed.domain)
    if len({use for use in loads(placed.statement.value) if use.array == array}) != 1:
        return False  # a dependence does not say which of its reads is fed
    fed = points.subtract(points)
    for dependence in dependences(schedule.program).of(Kind.RAW):
        if (
            dependence.sink.name == placed.statement.name
            and dependence.source.name in names
            and dependence.array == array
        ):
            same = dependence.pairs
            for k in range(outer):
                same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
            fed = fed.union(same.range())
    return bool(points.is_subset(fed))


class _Copies:
    def __init__(
        self, schedule: Schedule, original: Array, copy: Array, outer: tuple[str, ...],
        start: tuple[Affine, ...], prefix: tuple[int | str, ...], what: str,
    ) -> None:  # fmt: skip
        self._original, self._copy, self._outer, self._start = original, copy, outer, start
        self._prefix, self._what = prefix, what
        names: list[str] = []
        for k, extent in enumerate(copy.shape):
            if extent > 1:
                names.append(fresh(schedule, f"{copy.name}_{k}", names))
        self._names = tuple(names)
        wide = iter(names)
        self._places = tuple(Affine.name(next(wide)) if n > 1 else Affine.of(0) for n in copy.shape)

    def of(self, way: str, uses: Sequence[tuple[Placed, Load]], static: int) -> list[Placed]:
        if not uses:
            return []
        parts = self._elements(way, uses)
        number = self._original.number
        inner = Load(self._copy.name, self._places, number)
        subscripts = tuple(low + place for low, place in zip(self._start, self._places, strict=True))
        outside = Load(self._original.name, subscripts, number)
        target, value = (inner, outside) if way == "in" else (outside, inner)
        statements = []
        for k, part in enumerate(parts):
            name = f"{self._copy.name}_{way}{k if len(parts) > 1 else ''}"
            iterators = (*self._outer, *self._names)
            order = [*self._prefix, static]
            for n, loop in enumerate(self._names):
                order += [loop, k if n == len(self._names) - 1 else 0]
            statement = Statement(name, iterators, part, target, value, (), self._original.name)
            statements.append(in_loops(statement, order))
        return statements

    def _elements(self, way: str, uses: Sequence[tuple[Placed, Load]]) -> list[Condition]:
        """The elements used, by the outer loops and the place in the slice."""
        total = None
        for placed, load in uses:
            outer = tuple(Affine.name(name) for name in self._outer)
            sizes = zip(load.subscripts, self._start, self._copy.shape, strict=True)
            places = tuple(x - low for x, low, extent in sizes if extent > 1)
            points = domain(placed.loops, placed.domain).apply(function(placed.loops, (*outer, *places)))
            total = points if total is None else total.union(points)
        assert total is not None
        try:
            parts = conditions(total.coalesce(), (*self._outer, *self._names))
            if len(parts) <= (2 if self._names else 1):
                return parts
        except ValueError:
            pass
        if way == "out" or not self._original.role.is_given:
            raise ScheduleError(
                f"{self._what}: the elements used are no box, and others may not be initialised: {total}"
            )
        hull = total.simple_hull() if not isinstance(total, isl.BasicSet) else total
        inside = [low + place for low, place in zip(self._start, self._places, strict=True)]
        limits = [
            form
            for index, extent in zip(inside, self._original.shape, strict=True)
            for form in (index, extent - 1 - index)
        ]
        names = (*self._outer, *self._names)
        plain = isl.Set.from_basic_set(hull.remove_divs())
        boxes = conditions(plain.intersect(domain(names, tuple(limits))), names)
        return boxes[:1]
