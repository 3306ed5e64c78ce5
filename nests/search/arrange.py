"""Which nests take turns in a pipe, and the text of a point.

Nests that depend on each other follow each other anyway: they share a pipe, so that each has all operators.
Those that do not can share it too, or run at the same time, each pipe with a part of the operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.search.forecast import Chosen, copies
from axiloom.nests.search.shapes import Shape
from axiloom.nests.search.structures import Structure

MOST_COMPONENTS = 4
"""Components whose partitions are all tried; more: one pipe for all, or one each."""

Pipes = tuple[tuple[int, ...], ...]
"""Numbers of nests, a tuple a pipe."""


def arrangements(structure: Structure) -> list[Pipes]:
    """All ways of components into pipes."""
    parts = structure.components
    if len(parts) > MOST_COMPONENTS:
        every = tuple(sorted(n for each in parts for n in each))
        return [(every,), parts]
    return [
        tuple(tuple(sorted(n for part in group for n in part)) for group in groups)
        for groups in _partitions(parts)
    ]


def _partitions(parts: Sequence[tuple[int, ...]]) -> Iterator[list[list[tuple[int, ...]]]]:
    if not parts:
        yield []
        return
    first, *rest = parts
    for groups in _partitions(rest):
        yield [[first], *groups]
        for position, group in enumerate(groups):
            yield [*groups[:position], [first, *group], *groups[position + 1 :]]


def together(schedule: Schedule, pipes: Pipes) -> Schedule | None:
    """The nests of each pipe next to each other; None if their order does not allow that, or if a nest of
    several statements had to be moved."""
    wanted = [n for pipe in pipes for n in pipe]
    names = {each.number: [one.statement.name for one in each.statements] for each in schedule.nests}
    at_end = [names[n] for n in wanted]
    for previous, mine in zip(at_end, at_end[1:], strict=False):
        order = [[one.statement.name for one in each.statements] for each in schedule.nests]
        if order.index(mine) == order.index(previous) + 1:
            continue
        if len(mine) > 1:
            return None
        try:
            schedule = schedule.fuse(mine[0], previous[0])
        except ScheduleError:
            return None
    return schedule


def text(base: Schedule, chosen: Sequence[Chosen]) -> str:
    """The schedule of a point, as lines. `base` has its nests in their places."""
    lines = list(base.log)
    for array, group in copies(chosen, base.program):
        readers = [name for each in group for name in each.shape.readers(array)]
        lines.append(" ".join(["duplicate", array, *readers]))
    for each in chosen:
        lines += unrolls(each.shape, each.lanes.factors)
    for pipe in dict.fromkeys(each.pipe for each in chosen):
        mine = [each.shape for each in chosen if each.pipe == pipe]
        if len(mine) > 1:
            lines.append(" ".join(["share", *(shape.statements[0] for shape in mine)]))
    return "".join(f"{line}\n" for line in lines)


def unrolls(shape: Shape, factors: tuple[int, ...]) -> list[str]:
    found = []
    for name, factor in zip(shape.loops, factors, strict=True):
        if factor >= shape.extents[name] > 1:
            found.append(f"unroll {shape.statements[0]} {name}")
        elif factor > 1:
            found.append(f"unroll {shape.statements[0]} {name} {factor}")
    return found
