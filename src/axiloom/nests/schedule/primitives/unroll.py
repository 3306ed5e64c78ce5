"""unroll, pipeline, share: what is executed at once, and on what. None of them changes the order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from axiloom.base.affine import Affine
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import (
    depth_of,
    fresh,
    place_of,
    replaced,
    span,
    substituted,
    within,
)
from axiloom.nests.schedule.primitives.check import (
    Alternative,
    innermost,
    legal,
    not_unrolled,
    positive,
    whole,
)
from axiloom.nests.schedule.primitives.reorder import arranged
from axiloom.nests.schedule.primitives.split import cut
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Schedule

LANES = 4096
"""The most iterations of one loop that are issued together."""


@primitive
def unroll(schedule: Schedule, statement: str, loop: str, factor: int = 0) -> Schedule:
    """The iterations of `loop` are issued together, as lanes; with a factor, so many of them.

    An unrolled loop is innermost: `loop` is moved there if that is legal. It counts from 0. Lanes of one
    iteration that depend on each other are executed in the program's order.
    """
    what = f"unroll {statement} {loop}" + (f" {factor}" if factor else "")
    whole(factor, what, "a factor")
    not_unrolled(schedule, what, loop)
    after, lanes = schedule, loop
    depth_of(place_of(schedule, statement), loop)
    if factor:
        positive(factor, what, "a factor")
        outer = fresh(schedule, f"{loop}o")
        lanes = fresh(schedule, f"{loop}i", (outer,))
        after = cut(schedule, statement, loop, factor, outer, lanes)
    after, lanes = _from_zero(after, statement, lanes, what)
    after = replace(_inwards(after, statement, lanes, what), unrolled=after.unrolled | {lanes})
    return legal(schedule, innermost(after, what), what, _inner_first(schedule, statement, loop, factor))


def _inner_first(schedule: Schedule, statement: str, loop: str, factor: int) -> Iterator[Alternative]:
    """The loops within it are unrolled before: then it need not be moved."""
    loops = place_of(schedule, statement).loops
    inner = [name for name in loops[loops.index(loop) + 1 :] if name not in schedule.unrolled]
    last: tuple[str | int, ...] = ("unroll", statement, loop, *([factor] if factor else []))
    if inner:
        yield [*(("unroll", statement, name) for name in reversed(inner)), last]


def _from_zero(schedule: Schedule, statement: str, loop: str, what: str) -> tuple[Schedule, str]:
    """The loop with a name of its own, from 0, with its last value in the domain; and the name."""
    placed = place_of(schedule, statement)
    inside = within(schedule, placed, depth_of(placed, loop))
    low, high = span(inside, loop)
    if high - low + 1 > LANES:
        raise ScheduleError(
            f"{what}: {high - low + 1} iterations at once, at most {LANES} can be: give a factor"
        )
    others = set(schedule.statements) - set(inside)
    name = fresh(schedule, loop) if any(loop in other.loops for other in others) else loop
    lane = Affine.name(name)
    limits = (lane, high - low - lane)
    changed = []
    for member in inside:
        order = tuple(name if part == loop else part for part in member.order)
        changed.append(replace(substituted(member, {loop: lane + low}, limits), order=order))
    return replaced(schedule, changed), name


def _inwards(schedule: Schedule, statement: str, loop: str, what: str) -> Schedule:
    """The loop within all that are not unrolled."""
    placed = place_of(schedule, statement)
    inner = placed.loops[placed.loops.index(loop) :]
    moved = [*(other for other in inner if other != loop and other not in schedule.unrolled), loop]
    if len(moved) == 1:
        return schedule
    return arranged(schedule, statement, moved, what)


@primitive
def pipeline(schedule: Schedule, statement: str, interval: int = 1) -> Schedule:
    """The nest of `statement` starts an iteration every `interval` cycles, if its recurrences allow that."""
    positive(interval, f"pipeline {statement} {interval}", "an interval")
    number = int(place_of(schedule, statement).order[0])
    return replace(schedule, intervals={**schedule.intervals, number: interval})


@primitive
def share(schedule: Schedule, *statements: str) -> Schedule:
    """The nests of these statements take turns on the same operators, in one pipeline."""
    what = " ".join(["share", *statements])
    numbers = frozenset(int(place_of(schedule, statement).order[0]) for statement in statements)
    if len(numbers) < 2:
        raise ScheduleError(f"{what}: name statements of two nests or more")
    for group in schedule.shared:
        if group & numbers:
            numbers |= group
    kept = tuple(group for group in schedule.shared if not group & numbers)
    return replace(schedule, shared=(*kept, numbers))
