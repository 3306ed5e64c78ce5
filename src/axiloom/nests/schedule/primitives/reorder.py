"""reorder and interchange."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations

from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import depth_of, place_of, replaced, within
from axiloom.nests.schedule.primitives.check import Alternative, innermost, legal, together
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Schedule

_TRIED = 119
"""Other orders that are looked at for one that is legal: all of five loops."""


@primitive
def reorder(schedule: Schedule, statement: str, *loops: str) -> Schedule:
    """The loops that are named, in this order from outside, in the places that they have together."""
    what = " ".join(["reorder", statement, *loops])
    after = innermost(arranged(schedule, statement, loops, what), what)
    return legal(schedule, after, what, _nearest(schedule, statement, loops))


@primitive
def interchange(schedule: Schedule, statement: str, first: str, second: str) -> Schedule:
    """The two loops change places; those between them stay."""
    what = f"interchange {statement} {first} {second}"
    after = exchanged(schedule, statement, first, second, what)
    return legal(schedule, after, what, _skewed(schedule, statement, first, second))


def exchanged(schedule: Schedule, statement: str, first: str, second: str, what: str) -> Schedule:
    placed = place_of(schedule, statement)
    low, high = sorted((depth_of(placed, first), depth_of(placed, second)))
    loops = list(placed.loops[low : high + 1])
    loops[0], loops[-1] = loops[-1], loops[0]
    return innermost(arranged(schedule, statement, loops, what), what)


def arranged(schedule: Schedule, statement: str, loops: Sequence[str], what: str) -> Schedule:
    """As :func:`reorder`, whatever it does to the program."""
    placed = place_of(schedule, statement)
    depths = sorted(depth_of(placed, loop) for loop in loops)
    if len(set(depths)) != len(depths):
        raise ScheduleError(f"{what}: a loop is named twice")
    if len(depths) < 2:
        return schedule
    inside = within(schedule, placed, depths[0])
    together(placed, inside, loops, what)
    changed = []
    for member in inside:
        order = list(member.order)
        for depth, name in zip(depths, loops, strict=True):
            order[2 * depth + 1] = name
        changed.append(replace(member, order=tuple(order)))
    return replaced(schedule, changed)


def _nearest(schedule: Schedule, statement: str, loops: Sequence[str]) -> Iterator[Alternative]:
    """Other orders of the same loops, from the one with the fewest pairs exchanged."""
    wanted = {name: k for k, name in enumerate(loops)}

    def distance(order: Sequence[str]) -> int:
        return sum(wanted[a] > wanted[b] for k, a in enumerate(order) for b in order[k + 1 :])

    now = tuple(loop for loop in place_of(schedule, statement).loops if loop in wanted)
    others = [order for order in islice(permutations(loops), 1, 1 + _TRIED) if order != now]
    for other in sorted(others, key=distance):
        yield [("reorder", statement, *other)]


def _skewed(schedule: Schedule, statement: str, first: str, second: str) -> Iterator[Alternative]:
    loops = place_of(schedule, statement).loops
    outer, inner = sorted((first, second), key=loops.index)
    for factor in (1, -1, 2, -2, 3, -3, 4, -4):
        yield [("skew", statement, inner, outer, factor), ("interchange", statement, first, second)]
