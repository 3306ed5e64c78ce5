"""Orders of loops in which nests agree: so that an array passes through a FIFO, not through a buffer.

Only the order of loops changes, and only where dependences allow it (``reorder`` says). What an order costs,
such as a reduction that becomes innermost, is for others to weigh: cycles of the circuit say it exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from axiloom.nests.dataflow.fifos import NoPassageError, passage
from axiloom.nests.dataflow.iterations import visits
from axiloom.nests.program import Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.primitives.reorder import reorder

MOST_LOOPS = 5
"""A statement with more loops that are not unrolled keeps its order."""


@dataclass(frozen=True)
class Agreement:
    """`schedule` with other orders, in which `array` passes through a FIFO from nest `producer` to nest
    `consumer`. `moved` counts pairs of loops that changed places; `orders` are those of statements that
    changed."""

    array: str
    producer: int
    consumer: int
    moved: int
    orders: tuple[tuple[str, tuple[str, ...]], ...]
    schedule: Schedule


def agreements(schedule: Schedule, array: str) -> list[Agreement]:
    """All pairs of orders in which `array` passes through a FIFO; the fewest moves first, and of those the
    ones that leave the producer as it is. None if it is not local to two nests."""
    ends = _ends(schedule, array)
    if ends is None:
        return []
    producer, consumer = ends
    found = []
    for moved, first, changed in _orders(schedule, producer, array):
        for more, both, then in _orders(first, consumer, array):
            if passes(both, array, producer, consumer):
                found.append(
                    (moved + more, moved, Agreement(array, *ends, moved + more, (*changed, *then), both))
                )
    return [each for *_, each in sorted(found, key=lambda each: each[:2])]


def agree(schedule: Schedule) -> Schedule:
    """`schedule` with as many arrays passing through FIFOs as orders of loops alone achieve, one array after
    the other in the order of the program: what passes already goes on passing."""
    kept: list[tuple[str, int, int]] = []
    for array in schedule.program.arrays:
        ends = _ends(schedule, array.name)
        if ends is None:
            continue
        for agreement in agreements(schedule, array.name):
            if all(passes(agreement.schedule, *one) for one in kept):
                schedule = agreement.schedule
                kept.append((array.name, *ends))
                break
    return schedule


def passes(schedule: Schedule, array: str, producer: int, consumer: int) -> bool:
    nests = {nest.number: nest for nest in schedule.nests}
    try:
        passage(array, visits(schedule, nests[producer]), visits(schedule, nests[consumer]))
    except NoPassageError:
        return False
    return True


def _ends(schedule: Schedule, array: str) -> tuple[int, int] | None:
    if schedule.program.array(array).role is not Role.LOCAL:
        return None
    users = [
        nest.number
        for nest in schedule.nests
        if any(visit.reads(array) or visit.writes(array) for visit in visits(schedule, nest))
    ]
    return (users[0], users[1]) if len(users) == 2 else None


def _orders(
    schedule: Schedule, number: int, array: str
) -> Iterator[tuple[int, Schedule, tuple[tuple[str, tuple[str, ...]], ...]]]:
    """Legal orders of the deepest statement of a nest that touches `array`: pairs of loops that changed
    places, the schedule, and the order if it is another."""
    nest = next(each for each in schedule.nests if each.number == number)
    touching = [visit for visit in visits(schedule, nest) if visit.reads(array) or visit.writes(array)]
    deepest = max(touching, key=lambda each: len(each.loops))
    yield 0, schedule, ()
    if len(deepest.loops) > MOST_LOOPS:
        return
    for order in permutations(deepest.loops):
        if order == deepest.loops:
            continue
        try:
            changed = reorder(schedule, deepest.name, *order)
        except ScheduleError:
            continue
        yield _inversions(deepest.loops, order), changed, ((deepest.name, order),)


def _inversions(before: Sequence[str], after: Sequence[str]) -> int:
    places = [before.index(each) for each in after]
    return sum(a > b for n, a in enumerate(places) for b in places[n + 1 :])
