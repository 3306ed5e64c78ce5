"""Which nests take turns in a pipe, and the text of a point.

Nests that depend on each other follow each other anyway: they share a pipe, so that each has all operators.
Those that do not can share it too, or run at the same time, each pipe with a part of the operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from axiloom.nests.poly.counting import count
from axiloom.nests.program import Role
from axiloom.nests.schedule import Nest, Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.search.forecast import Chosen, copies
from axiloom.nests.search.shapes import Shape
from axiloom.nests.search.structures import Structure

MOST_COMPONENTS = 4
"""Components whose partitions are all tried; more: one pipe for all, or one each."""

LIGHT = 32
"""A component with a smaller part of the most work of a nest is not worth a pipe of its own."""

Pipes = tuple[tuple[int, ...], ...]
"""Numbers of nests, a tuple a pipe."""


def arrangements(structure: Structure) -> Iterator[tuple[Schedule, Pipes]]:
    """All ways of the components that work long into pipes, each with its nests in their places. The others
    go with the first, if their order allows that."""
    work = {nest.number: _work(nest) for nest in structure.schedule.nests}
    most = max(work.values())
    heavy = [part for part in structure.components if sum(work[n] for n in part) * LIGHT >= most]
    light = [part for part in structure.components if part not in heavy]
    if len(heavy) > MOST_COMPONENTS:
        ways = [[heavy], [[part] for part in heavy]]
    else:
        ways = list(_partitions(heavy))
    some = False
    for groups in ways:
        first, *rest = groups
        for way in ([[*first, *light], *rest], [*groups, *([component] for component in light)]):
            pipes = tuple(tuple(sorted(n for part in group for n in part)) for group in way)
            base = together(structure.schedule, pipes)
            if base is not None:
                some = True
                yield base, pipes
                break
    if not some:
        yield structure.schedule, _runs(structure)


def _runs(structure: Structure) -> Pipes:
    """Nests that stand next to each other and depend on each other share a pipe."""
    pipes: list[list[int]] = []
    for nest in structure.schedule.nests:
        mates = next(part for part in structure.components if nest.number in part)
        if pipes and pipes[-1][-1] in mates:
            pipes[-1].append(nest.number)
        else:
            pipes.append([nest.number])
    return tuple(map(tuple, pipes))


def _work(nest: Nest) -> int:
    """Instances of its statements."""
    return sum(count(statement.loops, statement.domain) for statement in nest.statements)


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
    names = {
        nest.number: [statement.statement.name for statement in nest.statements] for nest in schedule.nests
    }
    at_end = [names[n] for n in wanted]
    for previous, mine in pairwise(at_end):
        order = [[statement.statement.name for statement in nest.statements] for nest in schedule.nests]
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
        readers = [name for choice in group for name in choice.shape.readers(array)]
        lines.append(" ".join(["duplicate", array, *readers]))
    lines += _ports(base, chosen)
    for choice in chosen:
        lines += unrolls(choice.shape, choice.lanes.factors)
    for pipe in dict.fromkeys(choice.pipe for choice in chosen):
        mine = [choice.shape for choice in chosen if choice.pipe == pipe]
        if len(mine) > 1:
            lines.append(" ".join(["share", *(shape.statements[0] for shape in mine)]))
    return "".join(f"{line}\n" for line in lines)


def _ports(base: Schedule, chosen: Sequence[Chosen]) -> list[str]:
    """Arrays of the caller that an iteration reads in two ways (``A[i][k]`` and ``A[j][k]``) are read by both
    ports of their block RAM."""
    moved = {
        (array, name): "_".join([array, *(n for user in group for n in user.shape.readers(array))])
        for array, group in copies(chosen, base.program)
        for choice in group
        for name in choice.shape.statements
    }
    twice: dict[str, None] = {}
    for choice in chosen:
        for array in base.program.arrays:
            if array.role is not Role.LOCAL and array.shape and choice.shape.ways(array.name) > 1:
                twice[moved.get((array.name, choice.shape.statements[0]), array.name)] = None
    return [f"storage {name} block 2" for name in twice]


def unrolls(shape: Shape, factors: tuple[int, ...]) -> list[str]:
    lines = []
    for name, factor in zip(shape.loops, factors, strict=True):
        if factor >= shape.extents[name] > 1:
            lines.append(f"unroll {shape.statements[0]} {name}")
        elif factor > 1:
            lines.append(f"unroll {shape.statements[0]} {name} {factor}")
    return lines
