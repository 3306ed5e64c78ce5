"""fuse and sink: a statement in the loops of another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from math import prod

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.sets import domain, pieces
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.legality import common_loops, distances
from axiloom.nests.schedule.loops import (
    depth_of,
    fresh,
    make_room,
    place_of,
    renamed,
    replaced,
)
from axiloom.nests.schedule.primitives.check import Alternative, innermost, legal
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Placed, Schedule

_WHERE = ("after", "before")
_SHIFTS = 256
"""The most combinations of shifts that are looked at for one that makes a fusion legal."""
_FAR = 64
"""The largest shift of a loop that is offered."""


@primitive
def fuse(schedule: Schedule, statement: str, other: str, loop: str = "", where: str = "after") -> Schedule:
    """`statement` shares the loops of `other` down to `loop`, and stands directly after it in that body.

    Without `loop` they share none: `statement` is a nest of its own, directly after that of `other`. The
    bounds need not agree: each statement is executed on its own domain. `where` can be ``before``.
    """
    what = " ".join(["fuse", statement, other, loop, *(() if where == "after" else (f"where={where}",))])
    target, placed = place_of(schedule, other), place_of(schedule, statement)
    count = depth_of(target, loop) + 1 if loop else 0
    _distinct(statement, other, where, what)
    if len(placed.loops) < count:
        raise ScheduleError(
            f"{what}: {statement} has {len(placed.loops)} loops, loop {loop} is the {count}th of {other}: "
            f"sink {statement} {other} {loop} puts it at one iteration of the others"
        )
    for mine, its in zip(placed.loops[:count], target.loops[:count], strict=True):
        if (mine in schedule.unrolled) != (its in schedule.unrolled):
            raise ScheduleError(f"{what}: of loops {mine} and {its} one is unrolled: fuse before you unroll")
    after = _joined(schedule, statement, other, count, where)
    alternatives = chain(
        _shifted(schedule, after, statement, other, loop, where),
        _further_out(target, statement, loop, where),
    )
    return legal(schedule, innermost(after, what), what, alternatives)


@primitive
def sink(schedule: Schedule, statement: str, other: str, loop: str, at: int | str = "first") -> Schedule:
    """`statement` goes into the loops of `other` down to `loop`, of which it has only the outer ones: it is
    executed at the first iteration of the others, before `other`, or at the last, after it.

    `at`: ``first``, ``last``, or a number for each of them, and then before `other`.
    """
    what = f"sink {statement} {other} {loop} {at}"
    target, placed = place_of(schedule, other), place_of(schedule, statement)
    count, own = depth_of(target, loop) + 1, len(placed.loops)
    _distinct(statement, other, "after", what)
    if own >= count:
        raise ScheduleError(
            f"{what}: {statement} has {own} loops of its own: fuse {statement} {other} {loop}"
        )
    if not isinstance(at, int) and at not in ("first", "last"):
        raise ScheduleError(f"{what}: at is first, last or a number, not {at!r}")
    values = [Affine.of(at)] * (count - own) if isinstance(at, int) else _ends(target, own, count, at, what)
    names = dict(zip(placed.loops, target.loops, strict=False))
    named = renamed(placed, names)
    fixed: list[Affine] = []
    for name, value in zip(target.loops[own:count], values, strict=True):
        difference = Affine.name(name) - value
        fixed += [difference, -difference]
    order = list(named.order)
    for name in target.loops[own:count]:
        order += [name, 0]
    deep = replace(named, order=tuple(order), domain=(*named.domain, *fixed))
    where = "after" if at == "last" else "before"
    after = _joined(replaced(schedule, [deep]), statement, other, count, where)
    ends: list[Alternative] = [
        [("sink", statement, other, loop, end)] for end in ("first", "last") if end != at
    ]
    return legal(schedule, innermost(after, what), what, ends)


def _further_out(target: Placed, statement: str, loop: str, where: str) -> Iterator[Alternative]:
    """The same with fewer loops shared."""
    for name in reversed(target.loops[: depth_of(target, loop)] if loop else ()):
        yield [_line(statement, target.statement.name, name, where)]


def _line(statement: str, other: str, loop: str, where: str) -> tuple[str | int, ...]:
    return ("fuse", statement, other, loop, *(() if where == "after" else (where,)))


def _distinct(statement: str, other: str, where: str, what: str) -> None:
    if statement == other:
        raise ScheduleError(f"{what}: a statement is put into the loops of another one")
    if where not in _WHERE:
        raise ScheduleError(f"{what}: where is after or before, not {where!r}")


def _joined(schedule: Schedule, statement: str, other: str, count: int, where: str) -> Schedule:
    """In the first `count` loops of `other`, next to it."""
    target, placed = place_of(schedule, other), place_of(schedule, statement)
    shared = target.loops[:count]
    names = dict(zip(placed.loops[:count], shared, strict=True))
    for loop in placed.loops[count:]:
        if loop in shared:
            names[loop] = fresh(schedule, loop)
    named = renamed(placed, names)
    prefix = target.order[: 2 * count]
    number = int(target.order[2 * count]) + (1 if where == "after" else 0)
    roomy = make_room(schedule, prefix, number)
    new = replace(named, order=(*prefix, number, *named.order[2 * count + 1 :]))
    return replaced(roomy, [new])


def _ends(target: Placed, own: int, count: int, at: str, what: str) -> list[Affine]:
    """The first or last values of the loops of `target` from number `own`, as forms of those outside."""
    points = domain(target.loops, target.domain)
    points = points.project_out(isl.dim_type.set, count, len(target.loops) - count)
    relation = isl.Map.from_range(points).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, own)
    ends = relation.lexmin_pw_multi_aff() if at == "first" else relation.lexmax_pw_multi_aff()
    forms = []
    for k, name in enumerate(target.loops[own:count]):
        try:
            values = {value for _, value in pieces(ends.get_at(k), target.loops[:own])}
        except ValueError:
            values = set()
        if len(values) != 1:
            raise ScheduleError(
                f"{what}: the {at} iteration of loop {name} is not one affine form of the loops around it: "
                f"give a number"
            )
        forms.append(values.pop())
    return forms


def _shifted(
    schedule: Schedule, after: Schedule, statement: str, other: str, loop: str, where: str
) -> Iterator[Alternative]:
    """The same after the statement was shifted in loops that it will share, as little as possible."""
    placed, target = place_of(after, statement), place_of(after, other)
    shared, _ = common_loops(placed.order, target.order)
    before = place_of(schedule, statement).loops[:shared]
    late, early = [0] * shared, [0] * shared
    for distance in distances(after):
        if distance.source == distance.sink or statement not in (distance.source, distance.sink):
            continue
        for k, (low, _) in enumerate(distance.vector[:shared]):
            need = _FAR + 1 if low is None else max(0, -low)
            which = late if distance.sink == statement else early
            which[k] = max(which[k], need)
    for needs, sign in ((late, 1), (early, -1)):
        if not any(needs) or any(need > _FAR for need in needs) or prod(e + 1 for e in needs) > _SHIFTS:
            continue
        for amounts in sorted(product(*(range(need + 1) for need in needs)), key=lambda e: (sum(e), e))[1:]:
            shifts = [
                ("shift", statement, name, sign * amount)
                for name, amount in zip(before, amounts, strict=True)
                if amount
            ]
            yield [*shifts, _line(statement, other, loop, where)]
