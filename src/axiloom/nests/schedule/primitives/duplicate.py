"""duplicate: a copy of an input for some statements, so that both can be in banks of their own.

A copy of an array is a primitive, and the caller does not see it (``duplicate``). atax reads A by rows
and by columns. Banks for both would need a choice for each lane; a skewed layout (``hyperplane``) needs
one copy and multiplexers, a second copy needs none. The copy is another array of the program, filled with
the same contents, so dependences, banks and resources follow by themselves.
"""

from __future__ import annotations

from dataclasses import replace

from axiloom.nests.program import Array, Load, Program, Role, Statement, loads
from axiloom.nests.program.rewrite import with_loads
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.loops import unknown
from axiloom.nests.schedule.primitives.layout import array_of
from axiloom.nests.schedule.registry import primitive
from axiloom.nests.schedule.schedule import Schedule


@primitive
def duplicate(schedule: Schedule, array: str, *statements: str) -> Schedule:
    """These statements read a copy of `array`, ``A_S1`` for ``duplicate A S1``. It takes its memory twice.

    Nothing may write to the array: then both always hold the same.
    """
    what = " ".join(["duplicate", array, *statements])
    original, program = array_of(schedule, array), schedule.program
    names = [statement.name for statement in program.statements]
    for reader in statements:
        if reader not in names:
            raise ScheduleError(f"{what}: {unknown('statement', reader, names)}")
        if all(load.array != array for load in loads(program.statement(reader).value)):
            raise ScheduleError(f"{what}: {reader} does not read {array}")
    if not statements:
        raise ScheduleError(f"{what}: name the statements that shall read the copy")
    if original.role is not Role.IN or any(
        statement.target.array == array for statement in program.statements
    ):
        raise ScheduleError(f"{what}: {array} is written to, so that a copy would differ from it")
    copy = "_".join([array, *statements])
    if any(other.name == copy for other in program.arrays):
        raise ScheduleError(f"{what}: there is an array {copy} already")

    def other(load: Load) -> Load:
        return replace(load, array=copy) if load.array == array else load

    def renamed(statement: Statement) -> Statement:
        if statement.name not in statements:
            return statement
        return replace(statement, value=with_loads(statement.value, other))

    arrays: list[Array] = []
    for declared in program.arrays:
        arrays += (
            [declared, replace(declared, name=copy, copy_of=declared.copy_of or array)]
            if declared == original
            else [declared]
        )
    changed = Program(
        program.name, tuple(arrays), tuple(renamed(statement) for statement in program.statements)
    )
    placed = tuple(replace(member, statement=renamed(member.statement)) for member in schedule.statements)
    return replace(schedule, program=changed, statements=placed)
