"""What each primitive ends with: is the result legal, and if not, what near it would be."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar

from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.legality import incomplete, swap
from axiloom.nests.schedule.schedule import Placed, Schedule, primitives

Alternative = list[tuple[str | int, ...]]
"""Primitives to be applied one after the other, each with its arguments: ``[("skew", "S", "j", "i", 1)]``."""

_searching: ContextVar[bool] = ContextVar("searching", default=False)


def legal(before: Schedule, after: Schedule, what: str, alternatives: Iterable[Alternative] = ()) -> Schedule:
    """`after`, if it computes what the program computes. LegalityError else: what would swap, and the first
    of `alternatives` that is legal."""
    fault = swap(after)
    if fault is None:
        lost = incomplete(after)
        assert lost is None, f"{what}: {lost} is not executed once for each point of its domain"
        return after
    lines = () if _searching.get() else _first_legal(before, alternatives)
    hint = f"; legal: {', then '.join(lines)}" if lines else ""
    raise LegalityError(f"{what}: {fault}{hint}", lines, after)


def _first_legal(before: Schedule, alternatives: Iterable[Alternative]) -> tuple[str, ...]:
    token = _searching.set(True)
    try:
        for alternative in alternatives:
            attempt = before
            try:
                for name, *args in alternative:
                    attempt = primitives()[str(name)](attempt, *args)
            except ScheduleError:
                continue
            return attempt.log[len(before.log) :]
    finally:
        _searching.reset(token)
    return ()


def innermost(schedule: Schedule, what: str) -> Schedule:
    """Refuses a loop within an unrolled one that is not unrolled."""
    for statement in schedule.statements:
        outer = None
        for name in statement.loops:
            if name in schedule.unrolled:
                outer = name
            elif outer is not None:
                raise ScheduleError(
                    f"{what}: loop {name} of {statement.statement.name} would stand within loop {outer}, "
                    f"which is unrolled: unrolled loops are innermost"
                )
    return schedule


def not_unrolled(schedule: Schedule, what: str, *loops: str) -> None:
    for loop in loops:
        if loop in schedule.unrolled:
            raise ScheduleError(f"{what}: loop {loop} is unrolled already: do this before it is unrolled")


def together(placed: Placed, inside: Iterable[Placed], loops: Iterable[str], what: str) -> None:
    """Refuses if a statement stands in the first of the loops, but not in all of them."""
    wanted = list(loops)
    deepest = max(placed.loops.index(loop) for loop in wanted)
    prefix = placed.order[: 2 * deepest + 2]
    for member in inside:
        if member.order[: len(prefix)] != prefix:
            name, outer = member.statement.name, placed.loops[min(placed.loops.index(w) for w in wanted)]
            raise ScheduleError(
                f"{what}: {name} stands in loop {outer} too, but not in loop {placed.loops[deepest]}: part "
                f"them first (fission {_later(placed, member).statement.name} {outer}), or put it into all "
                f"these loops (sink)"
            )


def _later(first: Placed, second: Placed) -> Placed:
    for a, b in zip(first.order, second.order, strict=False):
        if a != b and isinstance(a, int) and isinstance(b, int):
            return first if a > b else second
    return second


def positive(value: object, what: str, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ScheduleError(f"{what}: {name} is a whole number from 1, not {value!r}")
    return value


def whole(value: object, what: str, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScheduleError(f"{what}: {name} is a whole number, not {value!r}")
    return value
