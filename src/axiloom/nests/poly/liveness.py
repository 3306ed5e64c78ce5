"""What a program reads that it has not written, exactly: live-in elements by isl's flow analysis.

Roles of arrays follow from it, and faults: an element of a local array that is read before it is written.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import islpy as isl

from axiloom.base.affine import Affine
from axiloom.nests.poly import sets
from axiloom.nests.program import Load, Program, Role, Statement, loads

END = "end__"
"""What reads the results, after all."""


@dataclass(frozen=True)
class Access:
    """`number`: which load of the statement it is, in order of evaluation; None for the target."""

    statement: Statement
    load: Load
    number: int | None


def reads(program: Program) -> list[Access]:
    return [
        Access(statement, load, number)
        for statement in program.statements
        for number, load in enumerate(loads(statement.value))
    ]


def writes(program: Program) -> list[Access]:
    return [Access(statement, statement.target, None) for statement in program.statements]


def access_map(access: Access, numbered: bool = False) -> isl.Map:
    """Instances to elements. `numbered`: instances are told apart by load, as ``S0__2[i]``."""
    statement = access.statement
    name = f"{statement.name}__{access.number}" if numbered else statement.name
    # Any other place than the target's: arrays may be called as statements are.
    elements = sets.function(statement.iterators, access.load.subscripts, name, f"array__{access.load.array}")
    return elements.intersect_domain(sets.domain(statement.iterators, statement.domain, name))


def times(program: Program, numbered: bool = False) -> isl.UnionMap:
    """Instances to their times. Loads of an instance stand before its write."""
    depth = max((len(statement.iterators) for statement in program.statements), default=0)
    maps = []
    for statement in program.statements:
        time: list[Affine] = [Affine.of(statement.place[0])]
        for name, static in zip(statement.iterators, statement.place[1:], strict=True):
            time += [Affine.name(name), Affine.of(static)]
        time += [Affine.of(0)] * (2 * (depth - len(statement.iterators)))
        copies = [(statement.name, 1)]
        if numbered:
            copies += [(f"{statement.name}__{number}", 0) for number, _ in enumerate(loads(statement.value))]
        for name, late in copies:
            when = sets.function(statement.iterators, (*time, Affine.of(late)), name)
            maps.append(when.intersect_domain(sets.domain(statement.iterators, statement.domain, name)))
    return sets.union(maps)


def live_in(program: Program) -> list[tuple[Access, isl.Map]]:
    """Loads with the instances at which they read what no earlier instance wrote, to the elements."""
    accesses = reads(program)
    flow = (
        isl.UnionAccessInfo.from_sink(sets.union(access_map(access, numbered=True) for access in accesses))
        .set_must_source(sets.union(access_map(write) for write in writes(program)))
        .set_schedule_map(times(program, numbered=True))
        .compute_flow()
    )
    missing: dict[str, isl.Map] = {}
    flow.get_must_no_source().foreach_map(
        lambda relation: missing.update({relation.get_tuple_name(isl.dim_type.in_): relation})
    )
    return [
        (access, missing[name])
        for access in accesses
        if (name := f"{access.statement.name}__{access.number}") in missing and not missing[name].is_empty()
    ]


def whole(program: Program, array: str) -> isl.Set:
    """All elements of an array."""
    shape = program.array(array).shape
    names = tuple(f"x{n}" for n in range(len(shape)))
    forms = [
        form
        for name, size in zip(names, shape, strict=True)
        for form in (Affine.name(name), Affine.sum({name: -1}, size - 1))
    ]
    return sets.domain(names, tuple(forms), f"array__{array}")


def with_roles(program: Program, free: Collection[str]) -> Program:
    """The program with the roles of the arrays in `free` as they follow from it: ``in`` if it is never
    written, ``out`` if all of it is written and nothing is read before, else ``inout``."""
    written: dict[str, isl.Set] = {}
    for write in writes(program):
        elements = access_map(write).range()
        name = write.load.array
        written[name] = written[name].union(elements) if name in written else elements
    alive = {access.load.array for access, _ in live_in(program)}
    arrays = []
    for array in program.arrays:
        role = array.role
        if array.name in free:
            if array.name not in written:
                role = Role.IN
            elif array.name in alive or not whole(program, array.name).is_subset(written[array.name]):
                role = Role.INOUT
            else:
                role = Role.OUT
        arrays.append(replace(array, role=role))
    return replace(program, arrays=tuple(arrays))


def unread(program: Program) -> list[tuple[Statement, isl.Set]]:
    """Instances whose value no other reads and that is no result, by statement."""
    accesses = reads(program)
    sinks = sets.union(access_map(access, numbered=True) for access in accesses)
    order = times(program, numbered=True)
    last = f"{END}[]"
    for array in program.arrays:
        if array.role.is_result:
            sinks = sinks.union(
                isl.Map.from_domain_and_range(isl.Set(f"{{ {last} }}"), whole(program, array.name))
            )
    depth = max((len(statement.place) for statement in program.statements), default=1)
    end = max((statement.place[0] for statement in program.statements), default=0) + 1
    after = ", ".join(["0"] * (2 * (depth - 1) + 1))
    order = order.union(isl.Map(f"{{ {last} -> [{end}, {after}] }}"))
    flow = (
        isl.UnionAccessInfo.from_sink(sinks)
        .set_must_source(sets.union(access_map(write) for write in writes(program)))
        .set_schedule_map(order)
        .compute_flow()
    )
    used = flow.get_must_dependence().domain()
    dead = []
    for statement in program.statements:
        rest = (
            sets.domain(statement.iterators, statement.domain, statement.name).to_union_set().subtract(used)
        )
        if not rest.is_empty():
            dead.append((statement, isl.Set.from_union_set(rest)))
    return dead


def overwritten(program: Program, statement: Statement, instances: isl.Set) -> str:
    """The name of a statement that overwrites what the first of `instances` writes; empty if none does."""
    first = instances.lexmin()
    target = access_map(Access(statement, statement.target, None))
    elements = first.apply(target)
    order = times(program)
    (time,) = _sets(first.to_union_set().apply(order))
    for writer in program.statements:
        if writer.target.array != statement.target.array:
            continue
        again = elements.apply(access_map(Access(writer, writer.target, None)).reverse())
        for moment in _sets(again.to_union_set().apply(order)):
            if not time.lex_lt_set(moment).is_empty():
                return writer.name
    return ""


def _sets(points: isl.UnionSet) -> list[isl.Set]:
    parts: list[isl.Set] = []
    points.foreach_set(parts.append)
    return parts
