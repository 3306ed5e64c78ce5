"""What primitives are made of: finding loops, giving them names, replacing them, making room in orders.

Nothing here looks at dependences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.base.wording.names import free_name
from axiloom.nests.poly.sets import domain
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.schedule import Placed, Schedule


def place_of(schedule: Schedule, statement: str) -> Placed:
    """The statement in its loops. Raises ScheduleError with the names there are."""
    for placed in schedule.statements:
        if placed.statement.name == statement:
            return placed
    raise ScheduleError(unknown("statement", statement, [e.statement.name for e in schedule.statements]))


def unknown(what: str, name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names) or 'none'}"
    return f"no {what} {name!r}: {hint}"


def depth_of(placed: Placed, loop: str) -> int:
    """The number of loops around `loop`."""
    if loop not in placed.loops:
        raise ScheduleError(unknown(f"loop of {placed.statement.name}", loop, placed.loops))
    return placed.loops.index(loop)


def within(schedule: Schedule, placed: Placed, depth: int) -> tuple[Placed, ...]:
    """All statements that stand in the loop of `placed` with `depth` loops around it."""
    prefix = placed.order[: 2 * depth + 2]
    return tuple(statement for statement in schedule.statements if statement.order[: len(prefix)] == prefix)


def replaced(schedule: Schedule, changed: Sequence[Placed]) -> Schedule:
    """With statements of the same names in the place of others."""
    new = {placed.statement.name: placed for placed in changed}
    return replace(
        schedule,
        statements=tuple(new.get(statement.statement.name, statement) for statement in schedule.statements),
    )


def substituted(placed: Placed, values: Mapping[str, Affine], extra: Sequence[Affine] = ()) -> Placed:
    """Loops written as forms of new loops; `extra` are forms of the domain. The order is the caller's."""
    return replace(
        placed,
        instance=tuple(form.substitute(values) for form in placed.instance),
        domain=(*(form.substitute(values) for form in placed.domain), *extra),
    )


def renamed(placed: Placed, names: Mapping[str, str]) -> Placed:
    order = tuple(names.get(part, part) if isinstance(part, str) else part for part in placed.order)
    return replace(substituted(placed, {old: Affine.name(new) for old, new in names.items()}), order=order)


def names_of(schedule: Schedule) -> set[str]:
    return {name for statement in schedule.statements for name in statement.loops}


def fresh(schedule: Schedule, wanted: str, also: Sequence[str] = ()) -> str:
    """`wanted`, or with the least number after it that no loop has."""
    return free_name(wanted, names_of(schedule) | set(also), lambda count: str(count + 1))


def new_name(schedule: Schedule, wanted: str) -> str:
    """A name that the user chose for a new loop."""
    if not wanted.isidentifier():
        raise ScheduleError(f"{wanted!r} is not a name for a loop: a letter, then letters and digits")
    if wanted in names_of(schedule):
        raise ScheduleError(f"there is a loop {wanted} already: choose another name")
    return wanted


def bounds(placed: Placed, loop: str) -> tuple[int, int] | None:
    """Least and largest value that the loop ever has for this statement; None if it has no instance."""
    points = domain(placed.loops, placed.domain)
    if points.is_empty():
        return None
    depth = placed.loops.index(loop)
    return (
        points.dim_min_val(depth).to_python(),
        points.dim_max_val(depth).to_python(),
    )


def span(members: Iterable[Placed], loop: str) -> tuple[int, int]:
    """The same of several statements; 0 to 0 if none has an instance."""
    limits = [limit for member in members if (limit := bounds(member, loop)) is not None] or [(0, 0)]
    return min(low for low, _ in limits), max(high for _, high in limits)


def is_independent(placed: Placed, loop: str) -> bool:
    """Whether the loop has the same values at each point of all other loops, inner ones too."""
    both = bounds(placed, loop)
    points, depth = domain(placed.loops, placed.domain), placed.loops.index(loop)
    if both is None:
        return False
    full = points.project_out(isl.dim_type.set, depth, 1).insert_dims(isl.dim_type.set, depth, 1)
    full = full.lower_bound_val(isl.dim_type.set, depth, isl.Val(both[0]))
    return bool(full.upper_bound_val(isl.dim_type.set, depth, isl.Val(both[1])).is_subset(points))


def make_room(schedule: Schedule, prefix: tuple[int | str, ...], at: int) -> Schedule:
    """What stands at static number `at` or later behind `prefix` is moved on by one."""
    length = len(prefix)

    def moved(order: tuple[int | str, ...]) -> tuple[int | str, ...]:
        if order[:length] != prefix or int(order[length]) < at:
            return order
        return (*prefix, int(order[length]) + 1, *order[length + 1 :])

    changed = replace(
        schedule,
        statements=tuple(
            replace(statement, order=moved(statement.order)) for statement in schedule.statements
        ),
    )
    return changed if prefix else renumbered(changed, lambda n: n + 1 if n >= at else n)


def renumbered(schedule: Schedule, number: Callable[[int], int]) -> Schedule:
    """What is kept by the number of a nest, under its new number."""
    return replace(
        schedule,
        intervals={number(n): interval for n, interval in schedule.intervals.items()},
        shared=tuple(frozenset(number(n) for n in group) for group in schedule.shared),
    )


def tidy(schedule: Schedule) -> Schedule:
    """Without what is kept for loops and nests that have gone; each loop of a nest has a name of its own, and
    static numbers within nests count from 0."""
    schedule = _distinct(schedule)
    numbers = {int(statement.order[0]) for statement in schedule.statements}
    shared = tuple(frozenset(group & numbers) for group in schedule.shared)
    orders = _dense([statement.order for statement in schedule.statements])
    placed = zip(schedule.statements, orders, strict=True)
    return replace(
        schedule,
        statements=tuple(
            statement if statement.order == order else replace(statement, order=order)
            for statement, order in placed
        ),
        unrolled=schedule.unrolled & names_of(schedule),
        intervals={n: interval for n, interval in schedule.intervals.items() if n in numbers},
        shared=tuple(group for group in shared if len(group) > 1),
    )


def _distinct(schedule: Schedule) -> Schedule:
    """Of two loops of one name in a nest the later one is renamed, with all statements in it."""
    seen: dict[tuple[int, str], tuple[int | str, ...]] = {}
    for statement in sorted(schedule.statements, key=lambda placed: statics(placed.order)):
        for depth, name in enumerate(statement.loops):
            loop = statement.order[: 2 * depth + 2]
            if seen.setdefault((int(statement.order[0]), name), loop) != loop:
                new = fresh(schedule, name)
                inside = within(schedule, statement, depth)
                unrolled = schedule.unrolled | ({new} if name in schedule.unrolled else set())
                changed = replaced(schedule, [_renamed_at(placed, depth, new) for placed in inside])
                return _distinct(replace(changed, unrolled=unrolled))
    return schedule


def _renamed_at(placed: Placed, depth: int, new: str) -> Placed:
    at = 2 * depth + 1
    named = substituted(placed, {str(placed.order[at]): Affine.name(new)})
    return replace(named, order=(*placed.order[:at], new, *placed.order[at + 1 :]))


def statics(order: Sequence[int | str]) -> tuple[int, ...]:
    """The static numbers of an order, which is its place in the text."""
    return tuple(part for part in order if isinstance(part, int))


def _dense(orders: Sequence[tuple[int | str, ...]]) -> list[tuple[int | str, ...]]:
    dense = list(orders)
    for at in range(2, max(map(len, dense), default=0), 2):
        used: dict[tuple[int | str, ...], set[int]] = {}
        for order in dense:
            if len(order) > at:
                used.setdefault(order[:at], set()).add(int(order[at]))
        rank = {prefix: {n: k for k, n in enumerate(sorted(numbers))} for prefix, numbers in used.items()}
        dense = [
            (*order[:at], rank[order[:at]][int(order[at])], *order[at + 1 :]) if len(order) > at else order
            for order in dense
        ]
    return dense
