"""What primitives that change the program start from: a program that is written in the order of the schedule.

Its statements have the schedule's loops as iterators, so that new statements can be put among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from axiloom.base.affine import Affine
from axiloom.nests.program import Array, Expression, Index, Load, Op, Role, Statement
from axiloom.nests.schedule.loops import make_room, statics, tidy
from axiloom.nests.schedule.schedule import Placed, Schedule


def rebased(schedule: Schedule) -> Schedule:
    """The same schedule of a program that has this order already. Raises nothing: order is kept as it is."""
    placed = sorted(
        (_rewritten(statement) for statement in schedule.statements),
        key=lambda statement: statement.statement.place,
    )
    program = replace(schedule.program, statements=tuple(member.statement for member in placed))
    return replace(schedule, program=program, statements=tuple(placed))


def _rewritten(placed: Placed) -> Placed:
    old = placed.statement
    values = dict(zip(old.iterators, placed.instance, strict=True))
    domain = tuple(dict.fromkeys(form for form in placed.domain if not form.is_constant or form.constant < 0))
    statement = replace(
        old,
        iterators=placed.loops,
        domain=domain,
        target=_moved(old.target, values),
        value=mapped(old.value, lambda load: _moved(load, values), values),
        place=statics(placed.order),
    )
    return in_loops(statement, placed.order)


def in_loops(statement: Statement, order: Sequence[int | str]) -> Placed:
    """A statement whose iterators are its loops."""
    return Placed(
        statement,
        tuple(order),
        tuple(Affine.name(iterator) for iterator in statement.iterators),
        statement.domain,
    )


def _moved(load: Load, values: dict[str, Affine]) -> Load:
    return replace(load, subscripts=tuple(subscript.substitute(values) for subscript in load.subscripts))


def mapped(
    value: Expression, load: Callable[[Load], Expression], values: dict[str, Affine] | None = None
) -> Expression:
    """The expression with each load replaced, and iterators by `values`."""
    if isinstance(value, Load):
        return load(value)
    if isinstance(value, Op):
        return replace(value, operands=tuple(mapped(operand, load, values) for operand in value.operands))
    if isinstance(value, Index) and values:
        return replace(value, value=value.value.substitute(values))
    return value


def with_arrays(schedule: Schedule, *arrays: Array) -> Schedule:
    program = schedule.program
    return replace(schedule, program=replace(program, arrays=(*program.arrays, *arrays)))


def with_statements(schedule: Schedule, changed: Sequence[Placed], added: Sequence[Placed]) -> Schedule:
    """`changed` take the place of those of the same name. All are those of a rebased schedule."""
    new = {placed.statement.name: placed for placed in changed}
    everyone = [new.get(statement.statement.name, statement) for statement in schedule.statements] + list(
        added
    )
    return rebased(tidy(replace(schedule, statements=tuple(everyone))))


def room_for(schedule: Schedule, prefix: tuple[int | str, ...], at: int, count: int) -> Schedule:
    for _ in range(count):
        schedule = make_room(schedule, prefix, at)
    return schedule


def local(schedule: Schedule, wanted: str, shape: tuple[int, ...], number: str) -> Array:
    """An array of the program's own, with a name that no array and no statement has."""
    taken = {array.name for array in schedule.program.arrays}
    taken |= {statement.name for statement in schedule.program.statements}
    name = next(
        n for k in range(1, len(taken) + 3) if (n := wanted if k == 1 else f"{wanted}{k}") not in taken
    )
    return Array(name, shape, number, Role.LOCAL)
