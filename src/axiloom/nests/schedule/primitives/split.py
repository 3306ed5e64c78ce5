"""split and tile. The domain is kept as it is: a factor that does not divide leaves points that are not
executed, by the forms of the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from axiloom.base.affine import Affine
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import (
    depth_of,
    fresh,
    new_name,
    place_of,
    replaced,
    span,
    substituted,
    within,
)
from axiloom.nests.schedule.primitives.check import Alternative, innermost, legal, not_unrolled, positive
from axiloom.nests.schedule.primitives.reorder import arranged
from axiloom.nests.schedule.registry import line, primitive
from axiloom.nests.schedule.schedule import Schedule


@primitive
def split(
    schedule: Schedule, statement: str, loop: str, factor: int, outer: str = "", inner: str = ""
) -> Schedule:
    """`loop` becomes ``least + factor * outer + inner`` with 0 <= inner < factor, for all statements in it.

    `least` is the least value the loop has. The new loops are named as `outer` and `inner` say, else
    ``io`` and ``ii`` for a loop i.
    """
    what = f"split {statement} {loop} {factor}"
    not_unrolled(schedule, what, loop)
    positive(factor, what, "a factor")
    placed = place_of(schedule, statement)
    depth_of(placed, loop)
    outer = new_name(schedule, outer) if outer else fresh(schedule, f"{loop}o")
    inner = new_name(schedule, inner) if inner else fresh(schedule, f"{loop}i", (outer,))
    if outer == inner:
        raise ScheduleError(f"{what}: both new loops would be {outer}: choose two names")
    return cut(schedule, statement, loop, factor, outer, inner)


def cut(schedule: Schedule, statement: str, loop: str, factor: int, outer: str, inner: str) -> Schedule:
    placed = place_of(schedule, statement)
    depth = depth_of(placed, loop)
    inside = within(schedule, placed, depth)
    least, _ = span(inside, loop)
    value = Affine.sum([(outer, factor), (inner, 1)], least)
    point = Affine.name(inner)
    limits = (Affine.name(outer), point, factor - 1 - point)
    changed = []
    for member in inside:
        order = (*member.order[: 2 * depth + 1], outer, 0, inner, *member.order[2 * depth + 2 :])
        changed.append(replace(substituted(member, {loop: value}, limits), order=order))
    return replaced(schedule, changed)


@primitive
def tile(
    schedule: Schedule, statement: str, /, *loops_then_sizes: str | int, **size_of_loop: str | int
) -> Schedule:
    """Splits any number of loops, and moves the loops within the tiles into those over the tiles:
    ``tile S1 i j 4 16``, or ``tile S1 i=4 j=16``, gives io, jo, ii, ji. A size of 1 leaves its loop whole,
    among those over tiles."""
    what = line("tile", (statement, *loops_then_sizes), size_of_loop)
    count = len(loops_then_sizes) // 2
    loops = [name for name in loops_then_sizes[:count] if isinstance(name, str)] + [*size_of_loop]
    sizes = [positive(size, what, "a size") for size in (*loops_then_sizes[count:], *size_of_loop.values())]
    if not loops or len(loops) != len(sizes):
        raise ScheduleError(f"{what}: give as many sizes as loops: tile S1 i j 4 16")
    if len(set(loops)) != len(loops):
        raise ScheduleError(f"{what}: a loop is named twice")
    not_unrolled(schedule, what, *loops)
    placed = place_of(schedule, statement)
    loops_in_order = sorted(loops, key=lambda loop: depth_of(placed, loop))
    size = dict(zip(loops, sizes, strict=True))
    tiled, over, points = schedule, [], []
    for loop in loops_in_order:
        if size[loop] == 1:
            over.append(loop)
            continue
        outer = fresh(tiled, f"{loop}o")
        inner = fresh(tiled, f"{loop}i", (outer,))
        tiled = cut(tiled, statement, loop, size[loop], outer, inner)
        over.append(outer)
        points.append(inner)
    tiled = arranged(tiled, statement, [*over, *points], what)
    return legal(schedule, innermost(tiled, what), what, _skewed(statement, loops_in_order, size))


def _skewed(statement: str, loops: list[str], size: dict[str, int]) -> Iterator[Alternative]:
    """Tiles are legal if no dependence goes backwards in any of the loops: skew the inner ones."""
    first, *others = loops
    last: tuple[str | int, ...] = ("tile", statement, *loops, *(size[loop] for loop in loops))
    for factor in (1, 2, 3, 4, -1, -2):
        for other in others:
            yield [("skew", statement, other, first, factor), last]
    if len(others) != 2:
        return
    for a, b, c in product((1, 2), (1, 2, 3), (0, 1, 2)):
        skews: Alternative = [
            ("skew", statement, others[0], first, a),
            ("skew", statement, others[1], first, b),
        ]
        yield [*skews, *([("skew", statement, others[1], others[0], c)] if c else []), last]
