"""What a program or a schedule computes, slowly and plainly: instances are enumerated, sorted by their times,
and executed one after the other in Python.

Of the way by C (`build.py`, `c_code.py`) it shares only isl, for boxes around domains: each tests the other.
Some hundred thousand instances a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.affine.scalars import Scalar, function
from axiloom.nests.poly import sets
from axiloom.nests.program import Expression, Index, Literal, Load, Program
from axiloom.nests.schedule import Placed, Schedule

Points = npt.NDArray[np.int64]
Arrays = Mapping[str, npt.NDArray[Any]]
_Memory = dict[str, list[Scalar]]
_Value = Callable[[int], Scalar]


def execute(source: Program | Schedule, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """The results of a run; `arrays` are those that are given, and are left as they are. Raises IndexError
    with the instance that leaves an array."""
    schedule = Schedule.of(source) if isinstance(source, Program) else source
    program = schedule.program
    memory: _Memory = {}
    for array in program.arrays:
        format = format_of(array.number)
        contents = (
            np.zeros(array.shape, format.numpy)
            if not array.role.is_given
            else arrays[array.copy_of or array.name]
        )
        flat = np.asarray(contents, format.numpy).ravel()
        memory[array.name] = list(flat) if format.kind is Kind.FLOAT else flat.tolist()
    instances = [points(placed.domain, placed.loops) for placed in schedule.statements]
    runs = [
        _statement(placed, at, program, memory)
        for placed, at in zip(schedule.statements, instances, strict=True)
    ]
    with np.errstate(all="ignore"):
        for statement, instance in in_order(schedule.statements, instances):
            runs[statement](instance)
    return {
        array.name: np.array(memory[array.name], format_of(array.number).numpy).reshape(array.shape)
        for array in program.arrays
        if array.role.is_result
    }


def in_order(statements: Sequence[Placed], instances: Sequence[Points]) -> list[tuple[int, int]]:
    """Statement and instance, by position, in the order of their times."""
    length = max((len(statement.order) for statement in statements), default=0)
    times, owners = [], []
    for number, (placed, at) in enumerate(zip(statements, instances, strict=True)):
        columns = {name: at[:, i] for i, name in enumerate(placed.loops)}
        time = np.zeros((len(at), length), np.int64)
        for level, part in enumerate(placed.order):
            time[:, level] = columns[part] if isinstance(part, str) else part
        times.append(time)
        owners.append(np.stack([np.full(len(at), number), np.arange(len(at))], axis=1))
    if not times:
        return []
    table = np.concatenate(times)
    sorted_rows = np.lexsort(table.T[::-1])
    return [(int(a), int(b)) for a, b in np.concatenate(owners)[sorted_rows]]


def points(domain: Sequence[Affine], names: Sequence[str]) -> Points:
    """All integer points at which the forms are at least 0, in lexicographic order; a row each."""
    limits = _limits(domain, names)
    rows: Points = np.zeros((1, 0), np.int64)
    for depth, name in enumerate(names):
        low, high = limits[name]
        values = np.arange(low, high + 1)
        rows = np.concatenate(
            [np.repeat(rows, len(values), axis=0), np.tile(values, len(rows))[:, None]], axis=1
        )
        rest = {name: limits[name] for name in names[depth + 1 :]}
        columns = {name: rows[:, i] for i, name in enumerate(names[: depth + 1])}
        keep = np.ones(len(rows), np.bool_)
        for form in domain:
            inner = Affine(tuple(term for term in form.terms if term[0] in rest))
            _, most = inner.range(rest)
            keep &= np.asarray((form - inner + most).values(columns) >= 0, np.bool_)
        rows = rows[keep]
    return rows if all(form.constant >= 0 for form in domain if form.is_constant) else rows[:0]


def box(domain: Sequence[Affine], names: Sequence[str]) -> int:
    """Points of a box around the domain."""
    return math.prod(max(0, high - low + 1) for low, high in _limits(domain, names).values())


def _limits(domain: Sequence[Affine], names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The box around the domain."""
    region = sets.domain(tuple(names), tuple(domain))
    if region.is_empty():
        return dict.fromkeys(names, (0, -1))
    if not region.is_bounded():
        raise ValueError(f"loops {', '.join(names)} have no bounds: {region}")
    return {
        name: (region.dim_min_val(i).to_python(), region.dim_max_val(i).to_python())
        for i, name in enumerate(names)
    }


def _statement(placed: Placed, at: Points, program: Program, memory: _Memory) -> Callable[[int], None]:
    loops = {name: at[:, i] for i, name in enumerate(placed.loops)}
    instance = {
        name: np.broadcast_to(form.values(loops), (len(at),))
        for name, form in zip(placed.statement.iterators, placed.instance, strict=True)
    }

    def places(access: Load) -> list[int]:
        shape = program.array(access.array).shape
        flat = np.zeros(len(at), np.int64)
        for form, extent in zip(access.subscripts, shape, strict=True):
            value = np.broadcast_to(form.values(instance), (len(at),))
            if bad := np.flatnonzero((value < 0) | (value >= extent)).tolist():
                where = ", ".join(f"{name}={values[bad[0]]}" for name, values in instance.items())
                text = ", ".join(str(subscript) for subscript in access.subscripts)
                raise IndexError(
                    f"{placed.statement.name} at ({where}): {access.array}[{text}] is outside of {shape}"
                )
            flat = flat * extent + value
        return [int(position) for position in flat]

    def value(of: Expression) -> _Value:
        if isinstance(of, Literal):
            format = format_of(of.number)
            is_float = format.kind is Kind.FLOAT
            fixed: Scalar = format.numpy.type(of.value) if is_float else int(of.value)
            return lambda _: fixed
        if isinstance(of, Load):
            cells, at_places = memory[of.array], places(of)
            return lambda n: cells[at_places[n]]
        if isinstance(of, Index):
            format = format_of(of.number)
            numbers = np.broadcast_to(of.value.values(instance), (len(at),))
            wrapped = [
                (int(number) - format.lowest) % (1 << format.bits) + format.lowest for number in numbers
            ]
            return lambda n: wrapped[n]
        operands = [value(operand) for operand in of.operands]
        compute = function(of.name, tuple(operand.number for operand in of.operands), of.number)
        if len(operands) == 1:
            (only,) = operands
            return lambda n: compute(only(n))
        if len(operands) == 2:
            left, right = operands
            return lambda n: compute(left(n), right(n))
        return lambda n: compute(*[operand(n) for operand in operands])

    compute, target = value(placed.statement.value), memory[placed.statement.target.array]
    target_places = places(placed.statement.target)

    def run(n: int) -> None:
        target[target_places[n]] = compute(n)

    return run
