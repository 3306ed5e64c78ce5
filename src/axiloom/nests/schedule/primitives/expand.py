"""expand: each iteration of some loops gets an array of its own, so that iterations no longer wait for each
other to be done with it.

``temp2`` of ``symm``, a scalar that each (i, j) sets and sums up, becomes ``temp2[i][j]``::

    expand temp2 i j
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly.dependences import Kind, dependences
from axiloom.nests.program import Array, Load, Role, loads
from axiloom.nests.program.rewrite import with_loads
from axiloom.nests.schedule.errors import LegalityError, ScheduleError
from axiloom.nests.schedule.loops import depth_of, span
from axiloom.nests.schedule.primitives.check import not_unrolled
from axiloom.nests.schedule.primitives.layout import array_of
from axiloom.nests.schedule.primitives.rebase import in_loops, rebased
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Placed, Schedule


@primitive
def expand(schedule: Schedule, array: str, *loops: str) -> Schedule:
    """`array`, a local, gets a dimension for each of the loops, in front of its own.

    All statements that use the array stand in these loops, and no value passes from one iteration of them to
    another one through it. It takes its memory once for each iteration.
    """
    what = " ".join(["expand", array, *loops])
    original = array_of(schedule, array)
    if original.role is not Role.LOCAL:
        raise ScheduleError(f"{what}: {array} is the caller's: only a local array can change its shape")
    if array in schedule.layouts:
        raise ScheduleError(f"{what}: {array} has a layout already: expand it before")
    if not loops or len(set(loops)) != len(loops):
        raise ScheduleError(f"{what}: name the loops, each once")
    not_unrolled(schedule, what, *loops)
    based = rebased(schedule)
    users = _users(based, array, loops, what)
    _check_values(based, array, users, loops, what)
    limits = [span(users, loop) for loop in loops]
    front = tuple(Affine.name(loop) - low for loop, (low, _) in zip(loops, limits, strict=True))
    shape = (*(high - low + 1 for low, high in limits), *original.shape)

    def moved(load: Load) -> Load:
        return replace(load, subscripts=(*front, *load.subscripts)) if load.array == array else load

    def changed(placed: Placed) -> Placed:
        old = placed.statement
        new = replace(old, target=moved(old.target), value=with_loads(old.value, moved))
        return in_loops(new, placed.order)

    names = {user.statement.name for user in users}
    placed = tuple(
        changed(statement) if statement.statement.name in names else statement
        for statement in based.statements
    )
    program = replace(
        based.program,
        arrays=tuple(_shaped(other, shape) if other == original else other for other in based.program.arrays),
        statements=tuple(member.statement for member in placed),
    )
    return replace(based, program=program, statements=placed)


def _shaped(array: Array, shape: tuple[int, ...]) -> Array:
    return replace(array, shape=shape)


def _users(schedule: Schedule, array: str, loops: tuple[str, ...], what: str) -> list[Placed]:
    """The statements that use the array, all in the same loops of these names."""
    users = [
        statement
        for statement in schedule.statements
        if statement.statement.target.array == array
        or any(load.array == array for load in loads(statement.statement.value))
    ]
    if not users:
        raise ScheduleError(f"{what}: no statement uses {array}")
    depth = max(depth_of(users[0], loop) for loop in loops)
    prefix = users[0].order[: 2 * depth + 2]
    for user in users:
        if user.order[: len(prefix)] != prefix:
            raise ScheduleError(
                f"{what}: {users[0].statement.name} and {user.statement.name} use {array}, and do not share "
                f"loop {prefix[-1]}: expand before they are parted"
            )
    return users


def _check_values(
    schedule: Schedule, array: str, users: list[Placed], loops: tuple[str, ...], what: str
) -> None:
    """Refuses if an iteration reads what another one has written, or what nobody has."""
    analysis = dependences(schedule.program)
    unwritten = next((read for read in analysis.live_in if read.array == array), None)
    if unwritten is not None:
        raise ScheduleError(f"{what}: {unwritten.statement.name} reads {array} before anything is written")
    depths = [depth_of(users[0], loop) for loop in loops]
    for dependence in analysis.of(Kind.RAW):
        if dependence.array != array:
            continue
        for loop, depth in zip(loops, depths, strict=True):
            pairs = dependence.pairs
            same = pairs.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)
            rest = pairs.subtract(same)
            if not rest.is_empty():
                source, sink = _instances(rest, dependence.source.name, dependence.sink.name)
                raise LegalityError(
                    f"{what}: {sink} reads what {source} has written into {array}, in another iteration of "
                    f"loop {loop}"
                )


def _instances(pairs: isl.Map, source: str, sink: str) -> tuple[str, str]:
    point = pairs.wrap().lexmin().sample_point()
    count = pairs.dim(isl.dim_type.in_)
    values = [
        point.get_coordinate_val(isl.dim_type.set, k).to_python()
        for k in range(count + pairs.dim(isl.dim_type.out))
    ]
    written, read = (", ".join(map(str, part)) for part in (values[:count], values[count:]))
    return f"{source}({written})", f"{sink}({read})"
