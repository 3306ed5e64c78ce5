"""skew and shift: a loop counts something else, one to one."""

from __future__ import annotations

from collections.abc import Iterator

from axiloom.base.affine import Affine
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import depth_of, place_of, replaced, substituted, within
from axiloom.nests.schedule.primitives.check import Alternative, legal, not_unrolled, together, whole
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Schedule

_FACTORS = (1, -1, 2, -2, 3, -3, 4, -4)
_NEAR = 16
"""The most that a shift is moved in search of one that is legal."""


@primitive
def skew(schedule: Schedule, statement: str, loop: str, by: str, factor: int) -> Schedule:
    """`loop` counts ``loop + factor * by`` from now on, for all statements in it.

    With `by` further out this is always legal, and makes an interchange legal that was not: the wavefront
    2i+j of a loop over i and one over j is ``skew S j i 2``, then ``interchange S i j``.
    """
    what = f"skew {statement} {loop} {by} {factor}"
    whole(factor, what, "a factor")
    not_unrolled(schedule, what, loop, by)
    if loop == by:
        raise ScheduleError(f"{what}: a loop is skewed by another one")
    placed = place_of(schedule, statement)
    inside = within(schedule, placed, min(depth_of(placed, loop), depth_of(placed, by)))
    outside = depth_of(placed, by) < depth_of(placed, loop)
    if outside:
        inside = within(schedule, placed, depth_of(placed, loop))
    else:
        together(placed, inside, (loop, by), what)
    value = Affine.sum([(loop, 1), (by, -factor)])
    after = replaced(schedule, [substituted(member, {loop: value}) for member in inside])
    return legal(schedule, after, what, () if outside else _wavefronts(statement, loop, by, factor))


@primitive
def shift(schedule: Schedule, statement: str, loop: str, amount: int) -> Schedule:
    """This statement is executed `amount` iterations of `loop` later than now; other statements stay."""
    what = f"shift {statement} {loop} {amount}"
    whole(amount, what, "an amount")
    not_unrolled(schedule, what, loop)
    placed = place_of(schedule, statement)
    depth_of(placed, loop)
    moved = substituted(placed, {loop: Affine.name(loop) - amount})
    return legal(schedule, replaced(schedule, [moved]), what, _amounts(statement, loop, amount))


def _wavefronts(statement: str, loop: str, by: str, wanted: int) -> Iterator[Alternative]:
    """The outer loop was to be skewed by the inner one: the inner one by the outer one, then exchanged."""
    for factor in dict.fromkeys((wanted, *_FACTORS)):
        yield [("skew", statement, by, loop, factor), ("interchange", statement, loop, by)]


def _amounts(statement: str, loop: str, amount: int) -> Iterator[Alternative]:
    for distance in range(1, _NEAR + 1):
        for candidate in (amount - distance, amount + distance):
            if candidate:
                yield [("shift", statement, loop, candidate)]
