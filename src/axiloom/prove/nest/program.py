"""What a program or a schedule computes, as a term for each element of each result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import z3

from axiloom.nests.affine.oracle import in_order, points
from axiloom.nests.program import Expression, Index, Literal, Load, Program, Statement
from axiloom.nests.schedule import Schedule
from axiloom.prove.nest.terms import Meaning, Term, literal, operate, sort

Element = tuple[str, tuple[int, ...]]
"""An array, and where in it."""
Values = Mapping[str, int]
"""Iterators' values."""


def initial(array: str, place: tuple[int, ...], number: str, meaning: Meaning = Meaning.EXACT) -> Term:
    """What the caller has in an element."""
    return z3.Const(f"{array}[{', '.join(map(str, place))}]", sort(number, meaning))


def of_program(program: Program, meaning: Meaning = Meaning.EXACT) -> dict[Element, Term]:
    """In the order of the program's places: instances are sorted by their times, as Python sorts."""
    timed = []
    for number, statement in enumerate(program.statements):
        for row in points(statement.domain, statement.iterators).tolist():
            time = [statement.place[0]]
            for value, static in zip(row, statement.place[1:], strict=True):
                time += [value, static]
            timed.append((tuple(time), number, dict(zip(statement.iterators, row, strict=True))))
    timed.sort(key=lambda row: (row[0], row[1]))
    return _replay(program, ((program.statements[number], at) for _, number, at in timed), meaning)


def of_schedule(schedule: Schedule, meaning: Meaning = Meaning.EXACT) -> dict[Element, Term]:
    """In the order of its loops; lanes in order."""
    instances = [points(statement.domain, statement.loops) for statement in schedule.statements]

    def ordered() -> Iterable[tuple[Statement, Values]]:
        for number, row in in_order(schedule.statements, instances):
            placed = schedule.statements[number]
            loops = dict(zip(placed.loops, instances[number][row].tolist(), strict=True))
            values = [form.value(loops) for form in placed.instance]
            yield placed.statement, dict(zip(placed.statement.iterators, values, strict=True))

    return _replay(schedule.program, ordered(), meaning)


def _replay(
    program: Program, instances: Iterable[tuple[Statement, Values]], meaning: Meaning
) -> dict[Element, Term]:
    """The elements of the results, after all instances."""
    arrays = {array.name: array for array in program.arrays}
    memory: dict[Element, Term] = {}

    def element(access: Load, at: Values) -> Element:
        return access.array, tuple(form.value(at) for form in access.subscripts)

    def start(where: Element) -> Term:
        array = arrays[where[0]]
        if array.role.is_given:
            return initial(array.copy_of or array.name, where[1], array.number, meaning)
        return z3.Const(f"{where[0]}{list(where[1])} before", sort(array.number, meaning))

    def value(of: Expression, at: Values) -> Term:
        match of:
            case Literal():
                return literal(of.value, of.number, meaning)
            case Index():
                return literal(of.value.value(at), of.number, meaning)
            case Load():
                where = element(of, at)
                if where not in memory:
                    memory[where] = start(where)
                return memory[where]
            case _:
                operands = [value(operand, at) for operand in of.operands]
                return operate(of.name, of.operands[-1].number, of.number, operands, meaning)

    for statement, at in instances:
        memory[element(statement.target, at)] = value(statement.value, at)
    results = {}
    for array in program.arrays:
        for place in _places(array.shape) if array.role.is_result else ():
            where = (array.name, place)
            results[where] = memory[where] if where in memory else start(where)
    return results


def _places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for extent in shape:
        places = [(*place, value) for place in places for value in range(extent)]
    return places
