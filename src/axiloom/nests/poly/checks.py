"""What is wrong with a program, before anything is done with it.

`faults` are refused: names, types, subscripts out of bounds, elements that are read before they are written.
All are exact, and each says the first instance at which it happens. `warnings` may be meant: values that are
written and lost (a sum whose parts are overwritten, a maximum that keeps the last of its candidates).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import islpy as isl

from axiloom.base.errors import CompileError
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.poly import sets
from axiloom.nests.poly.liveness import (
    Access,
    access_map,
    live_in,
    overwritten,
    reads,
    unread,
    whole,
    writes,
)
from axiloom.nests.program import Load, Op, Program, Role, Statement, loads
from axiloom.nests.program.expressions import BOOL, DOUBLE, Expression, numbers
from axiloom.nests.program.typed import apply, select


def check(program: Program) -> None:
    """Raises CompileError with every fault, one a line."""
    if messages := faults(program):
        raise CompileError("\n".join(messages))


def check_circuit(program: Program) -> None:
    """Raises CompileError for what the interpreter has and circuits have not."""
    for statement in program.statements:
        if DOUBLE in (*numbers(statement.target), *numbers(statement.value)):
            raise CompileError(
                f"{_place(statement)} computes in double, of which circuits have none: write float, 0.5f for "
                "0.5, sqrtf for sqrt"
            )


def faults(program: Program) -> list[str]:
    """Every fault, in one line each; those of sets only where names and types are right."""
    return (
        [*_names(program), *_types(program)]
        or [*_domains(program)]
        or [
            *_bounds(program),
            *_uninitialised(program),
            *_unwritten(program),
        ]
    )


def warnings(program: Program) -> list[str]:
    """Values that nobody reads. Only for programs without faults."""
    messages = []
    for statement, instances in unread(program):
        at, count = _first(statement, instances), instances.count_val().to_python()
        lost = overwritten(program, statement, instances)
        why = f"overwritten by {lost} before it is read" if lost else "never read, and no result"
        messages.append(
            f"{_place(statement)} writes {_element(statement.target, at)}{_at(at)}, which is {why} "
            f"(so {count} times)"
        )
    return messages


# --- names and types ----------------------------------------------------------------------------------


def _names(program: Program) -> Iterator[str]:
    for kind, names in (
        ("array", [array.name for array in program.arrays]),
        ("statement", [statement.name for statement in program.statements]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{program.name}: {count} {kind}s are called `{name}`; give each a name of its own"
    loops: dict[tuple[int, str], tuple[int, ...]] = {}
    for statement in program.statements:
        if len(statement.place) != len(statement.iterators) + 1:
            yield (
                f"{_place(statement)} has {len(statement.iterators)} loops and "
                f"{len(statement.place)} numbers of its place"
            )
            continue
        for name, count in Counter(statement.iterators).items():
            if count > 1:
                yield f"{_place(statement)}: `{name}` is the iterator of {count} loops around it; rename one"
        for depth, name in enumerate(statement.iterators):
            path = statement.place[: depth + 1]
            if loops.setdefault((statement.place[0], name), path) != path:
                yield f"{_place(statement)}: `{name}` is another loop of the same nest already; rename one"
    places = [statement.place for statement in program.statements]
    if places != sorted(places):
        yield f"{program.name}: statements do not stand in the order of their places"


def _types(program: Program) -> Iterator[str]:
    arrays = {array.name: array for array in program.arrays}
    for array in program.arrays:
        try:
            if format_of(array.number).kind is Kind.BOOL:
                raise ValueError("bool is no number of arrays; use uint1")
        except ValueError as error:
            yield f"{program.name}: array `{array.name}`: {error}"
        if any(size < 1 for size in array.shape):
            yield f"{program.name}: array `{array.name}` has the shape {array.shape}; sizes are at least 1"
    for statement in program.statements:
        known = set(statement.iterators)
        for form in statement.domain:
            if missing := set(form.names) - known:
                yield (
                    f"{_place(statement)}: the domain names {_list(missing)}, "
                    "which no loop around it is called"
                )
        for load in (statement.target, *loads(statement.value)):
            if load.array not in arrays:
                yield f"{_place(statement)}: there is no array `{load.array}`; there are {_list(arrays)}"
                continue
            array = arrays[load.array]
            if len(load.subscripts) != len(array.shape):
                yield (
                    f"{_place(statement)}: `{load.array}` has {len(array.shape)} dimensions, "
                    f"not {len(load.subscripts)}"
                )
            if load.number != array.number:
                yield f"{_place(statement)}: `{load.array}` holds {array.number}, not {load.number}"
            if missing := {name for form in load.subscripts for name in form.names} - known:
                yield (
                    f"{_place(statement)}: a subscript names {_list(missing)}, "
                    "which no loop around it is called"
                )
        if statement.target.array in arrays and arrays[statement.target.array].role is Role.IN:
            yield f"{_place(statement)}: writes `{statement.target.array}`, whose role is in; make it inout"
        if statement.value.number != statement.target.number:
            yield (
                f"{_place(statement)}: {statement.value.number} is assigned to "
                f"{statement.target.number}; convert it"
            )
        yield from _expression(statement, statement.value)


def _expression(statement: Statement, expression: Expression) -> Iterator[str]:
    if not isinstance(expression, Op):
        return
    for operand in expression.operands:
        yield from _expression(statement, operand)
    try:
        if expression.name == "convert":
            if BOOL in (expression.number, expression.operands[0].number):
                raise ValueError("`convert` of bool; select between two numbers")
            expected = expression
        elif expression.name == "select":
            expected = select(*expression.operands)
        else:
            expected = apply(expression.name, *expression.operands)
        if expected.number != expression.number:
            raise ValueError(f"`{expression.name}` gives {expected.number}, not {expression.number}")
    except (ValueError, TypeError) as error:
        yield f"{_place(statement)}: {error}"


# --- instances ----------------------------------------------------------------------------------------


def _domains(program: Program) -> Iterator[str]:
    for statement in program.statements:
        if not sets.domain(statement.iterators, statement.domain, statement.name).is_bounded():
            yield f"{_place(statement)}: its loops have no end; give each iterator a lower and an upper bound"


def _bounds(program: Program) -> Iterator[str]:
    for access in (*reads(program), *writes(program)):
        inside = access_map(access).intersect_range(whole(program, access.load.array))
        outside = access_map(access).domain().subtract(inside.domain())
        if outside.is_empty():
            continue
        at = _first(access.statement, outside)
        shape = "".join(f"[{size}]" for size in program.array(access.load.array).shape)
        yield (
            f"{_place(access.statement)} {_does(access)} {_element(access.load, at)}{_at(at)}, out of "
            f"bounds: it is {access.load.array}{shape} (so {outside.count_val().to_python()} times)"
        )


def _uninitialised(program: Program) -> Iterator[str]:
    for access, missing in live_in(program):
        array = program.array(access.load.array)
        if array.role.is_given:
            continue
        at = _first(access.statement, missing.domain())
        yield (
            f"{_place(access.statement)} reads {_element(access.load, at)}{_at(at)}, which nothing has "
            f"written; `{array.name}` is {array.role}: write it first, or make it in or inout"
        )


def _unwritten(program: Program) -> Iterator[str]:
    for array in program.arrays:
        if array.role is not Role.OUT:
            continue
        missing = whole(program, array.name)
        for access in writes(program):
            if access.load.array == array.name:
                missing = missing.subtract(access_map(access).range())
        if not missing.is_empty():
            at = _coordinates(missing)
            yield (
                f"{program.name}: {array.name}{''.join(f'[{x}]' for x in at)} is never written, and "
                f"`{array.name}` is out; write all of it, or make it inout"
            )


# --- words --------------------------------------------------------------------------------------------


def _first(statement: Statement, instances: isl.Set) -> dict[str, int]:
    """The first of some instances of a statement, in the order of the program."""
    return dict(zip(statement.iterators, _coordinates(instances), strict=True))


def _coordinates(points: isl.Set) -> list[int]:
    point = points.lexmin().sample_point()
    return [
        point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in range(points.dim(isl.dim_type.set))
    ]


def _place(statement: Statement) -> str:
    return f"{statement.where}: {statement.name}" if statement.where else statement.name


def _does(access: Access) -> str:
    return "writes" if access.number is None else "reads"


def _element(load: Load, at: dict[str, int]) -> str:
    return load.array + "".join(f"[{form.value(at)}]" for form in load.subscripts)


def _at(at: dict[str, int]) -> str:
    return f" at {', '.join(f'{name}={value}' for name, value in at.items())}" if at else ""


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
