"""First stage: which statements stand in a nest, and the order of its loops.

A nest is fast if many other sums come between two additions to the same one: loops that carry a sum go
outside. Statements are separated as far as that is legal (`apart`), or as far as each nest is perfect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from axiloom.nests.poly.dependences import Kind, dependences
from axiloom.nests.schedule import Nest, Placed, Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.legality import Carried, common_loops, distances
from axiloom.nests.schedule.loops import bounds

ORDERS = 5
"""Loops of a nest, of which all orders are tried; of more, only orders of the inner ones."""


@dataclass(frozen=True)
class Structure:
    """`schedule` has nests and their orders, without lanes. `components`: numbers of nests that depend on
    each other, directly or not."""

    name: str
    schedule: Schedule
    components: tuple[tuple[int, ...], ...]


def structures(start: Schedule) -> list[Structure]:
    """Those that differ."""
    by_log: dict[tuple[str, ...], Structure] = {}
    for name, whole in (("perfect", False), ("apart", True), ("as written", None)):
        schedule = start if whole is None else _ordered(_separated(start, whole))
        by_log.setdefault(schedule.log, Structure(name, schedule, _components(schedule)))
    return list(by_log.values())


def is_perfect(nest: Nest) -> bool:
    """Whether all statements stand in all loops."""
    return len({statement.loops for statement in nest.statements}) == 1


# --- separating ---------------------------------------------------------------------------------------------


def _separated(schedule: Schedule, whole: bool) -> Schedule:
    """Each statement a nest of its own where that is legal; or only those that share not all loops."""
    for statement in schedule.program.statements:
        placed = schedule.placed(statement.name)
        if not placed.loops:
            continue
        before = _before(schedule, placed)
        if before is None:
            continue
        together, _ = common_loops(before.order, placed.order)
        if not whole and together == len(placed.loops) == len(before.loops):
            continue
        try:
            schedule = schedule.fission(statement.name, placed.loops[0])
        except ScheduleError:
            continue
    return schedule


def _before(schedule: Schedule, placed: Placed) -> Placed | None:
    """The statement before it in its nest."""
    order = [statement for statement in schedule.statements if statement.order[0] == placed.order[0]]
    order.sort(key=lambda other: tuple(p for p in other.order if isinstance(p, int)))
    position = [other.statement.name for other in order].index(placed.statement.name)
    return order[position - 1] if position else None


# --- orders -------------------------------------------------------------------------------------------------


def _ordered(schedule: Schedule) -> Schedule:
    for nest in schedule.nests:
        if is_perfect(nest) and len(nest.statements[0].loops) > 1:
            schedule = _best_order(schedule, nest)
    return schedule


def _best_order(schedule: Schedule, nest: Nest) -> Schedule:
    first = nest.statements[0]
    loops = first.loops
    spans = extents(first)
    mine = {statement.statement.name for statement in nest.statements}
    carried = [e for e in distances(schedule) if e.kind is Kind.RAW and e.source in mine and e.sink in mine]
    orders = list(permutations(loops[-ORDERS:]))
    apart = {order: least_distance(carried, loops[:-ORDERS] + order, spans) for order in orders}
    # Stable: of equal orders the one that is nearest to what is written.
    for order in sorted(orders, key=lambda order: -apart[order]):
        if order == loops[-ORDERS:]:
            return schedule
        if apart[order] <= apart[loops[-ORDERS:]]:
            return schedule
        try:
            changed: Schedule = schedule.reorder(first.statement.name, *order)
        except ScheduleError:
            continue
        return changed
    return schedule


def extents(placed: Placed) -> dict[str, int]:
    """The most values of each loop."""
    sizes = {}
    for name in placed.loops:
        both = bounds(placed, name)
        sizes[name] = both[1] - both[0] + 1 if both else 0
    return sizes


FAR = 1 << 30


def least_distance(carried: list[Carried], order: tuple[str, ...], spans: dict[str, int]) -> int:
    """Iterations of a nest from a result to its use, at least: of the box that its loops span."""
    least = FAR
    for dependence in carried:
        near = dict(zip(dependence.loops, dependence.vector, strict=True))
        total, inside = 0, 1
        for name in reversed(order):
            low, high = near.get(name, (None, None))
            if low is None or high is None:
                if low is not None and low > 0:
                    total += low * inside
                else:
                    total = 1 if total <= 0 else total
            else:
                total += low * inside
            inside *= max(1, spans[name])
        least = min(least, max(1, total))
    return least


# --- components ---------------------------------------------------------------------------------------------


def _components(schedule: Schedule) -> tuple[tuple[int, ...], ...]:
    number = {statement.statement.name: int(statement.order[0]) for statement in schedule.statements}
    group = {nest.number: {nest.number} for nest in schedule.nests}
    for source, other in _pairs(schedule):
        a, b = group[number[source]], group[number[other]]
        if a is not b:
            a |= b
            group.update((member, a) for member in b)
    return tuple(tuple(sorted(members)) for members in {id(g): g for g in group.values()}.values())


def _pairs(schedule: Schedule) -> Iterator[tuple[str, str]]:
    for dependence in dependences(schedule.program).all:
        yield dependence.source.name, dependence.sink.name
