"""fission: the statements of a loop's body in two loops, one after the other."""

from __future__ import annotations

from dataclasses import replace

from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import depth_of, make_room, place_of, replaced, within
from axiloom.nests.schedule.primitives.check import legal
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Placed, Schedule


@primitive
def fission(schedule: Schedule, statement: str, loop: str) -> Schedule:
    """`statement` and what comes after it in `loop` get a loop of their own, directly behind.

    Unrolled loops of both parts keep their names and stay unrolled.
    """
    what = f"fission {statement} {loop}"
    placed = place_of(schedule, statement)
    depth = depth_of(placed, loop)
    inside = within(schedule, placed, depth)
    later = [member.statement.name for member in inside if not _before(member, placed)]
    if len(later) == len(inside):
        raise ScheduleError(
            f"{what}: nothing stands before {statement} in loop {loop}: name a later statement"
        )
    prefix, number = placed.order[: 2 * depth], int(placed.order[2 * depth])
    roomy = make_room(schedule, prefix, number + 1)
    moved = []
    for member in (place_of(roomy, name) for name in later):
        moved.append(replace(member, order=(*prefix, number + 1, *member.order[2 * depth + 1 :])))
    after = replaced(roomy, moved)
    if not prefix and number in after.intervals:
        after = replace(after, intervals={**after.intervals, number + 1: after.intervals[number]})
    return legal(schedule, after, what)


def _before(first: Placed, second: Placed) -> bool:
    """Whether `first` stands before `second` in the body that they share."""
    for a, b in zip(first.order, second.order, strict=False):
        if isinstance(a, int) and isinstance(b, int) and a != b:
            return a < b
    return False
