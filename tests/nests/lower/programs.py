"""Programs and schedules written by hand, and what they compute: stand-ins for front ends and primitives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import Operate
from axiloom.hw.nest.operators import operator
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.affine import oracle
from axiloom.nests.lower import lower
from axiloom.nests.lower.lower import Lowered
from axiloom.nests.program import Array, Expression, Literal, Load, Op, Program, Role, Statement
from axiloom.nests.schedule import Placed, Schedule
from axiloom.nests.timing.execute import Run, execute

Values = dict[str, npt.NDArray[Any]]
# --- programs ----------------------------------------------------------------------------------------


def form(text: str | int | Affine) -> Affine:
    """``2*i + j - 1``."""
    if not isinstance(text, str):
        return Affine.of(text)
    total = Affine()
    for part in text.replace(" ", "").replace("-", "+-").split("+"):
        if not part:
            continue
        sign = -1 if part.startswith("-") else 1
        factors = part.lstrip("-").split("*")
        numbers = [int(each) for each in factors if each.isdigit()]
        names = [each for each in factors if not each.isdigit()]
        number = sign * int(np.prod(numbers)) if numbers else sign
        total = total + (Affine.name(names[0]) * number if names else number)
    return total


def box(**bounds: tuple[str | int, str | int]) -> tuple[Affine, ...]:
    """``i=(0, "j")``: from 0 up to, without, j."""
    found = []
    for name, (low, high) in bounds.items():
        found += [form(name) - form(low), form(high) - 1 - form(name)]
    return tuple(found)


class Maker:
    """A program under way. Arrays: ``A=((4, 5), Role.IN)``."""

    def __init__(self, name: str, number: str = "int32", **arrays: tuple[tuple[int, ...], Role]) -> None:
        self.name, self.number = name, number
        self.arrays = tuple(Array(x, shape, number, role) for x, (shape, role) in arrays.items())
        self.statements: list[Statement] = []

    def at(self, array: str, *subscripts: str | int) -> Load:
        return Load(array, tuple(form(each) for each in subscripts), self.number)

    def lit(self, value: float) -> Literal:
        return Literal(value, self.number)

    def op(self, name: str, *operands: Expression) -> Op:
        return Op(name, operands, self.number)

    def add(
        self, place: Sequence[int], domain: Sequence[Affine], target: Load, value: Expression, *iterators: str
    ) -> None:
        name = f"S{len(self.statements)}"
        self.statements.append(Statement(name, iterators, tuple(domain), target, value, tuple(place)))

    def done(self) -> Program:
        return Program(self.name, self.arrays, tuple(self.statements))


# --- schedules ---------------------------------------------------------------------------------------


def split(schedule: Schedule, statement: str, loop: str, factor: int) -> Schedule:
    """``loop`` becomes ``loop1`` and ``loop0``, next to each other."""

    def one(placed: Placed) -> Placed:
        if placed.statement.name != statement:
            return placed
        outer, inner = f"{loop}1", f"{loop}0"
        value = {loop: Affine.name(outer) * factor + Affine.name(inner)}
        at = placed.order.index(loop)
        order = (*placed.order[:at], outer, 0, inner, *placed.order[at + 1 :])
        inner_bounds = (Affine.name(inner), factor - 1 - Affine.name(inner))
        return replace(
            placed,
            order=order,
            instance=tuple(each.substitute(value) for each in placed.instance),
            domain=(*(each.substitute(value) for each in placed.domain), *inner_bounds),
        )

    return replace(schedule, statements=tuple(one(each) for each in schedule.statements))


def reorder(schedule: Schedule, statement: str, *loops: str) -> Schedule:
    """All loops of a statement in this order."""

    def one(placed: Placed) -> Placed:
        if placed.statement.name != statement:
            return placed
        assert sorted(loops) == sorted(placed.loops)
        names = iter(loops)
        return replace(placed, order=tuple(next(names) if isinstance(x, str) else x for x in placed.order))

    return replace(schedule, statements=tuple(one(each) for each in schedule.statements))


def unroll(schedule: Schedule, *loops: str) -> Schedule:
    return replace(schedule, unrolled=schedule.unrolled | set(loops))


# --- what they compute -------------------------------------------------------------------------------


def operation(node: Operate, operands: Sequence[int]) -> int:
    """A node's raw result, by the operator's own reference."""
    one = operator(node.operator, node.number, node.result, node.latency)
    numbers = [node.number] * len(operands)
    if node.operator == "select":
        numbers[0] = "bool"
    given = [
        np.array([x], bool if n == "bool" else f"uint{format_of(n).container}")
        for x, n in zip(operands, numbers, strict=True)
    ]
    return int(one.reference(*given)[0])


def raw(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.view(np.dtype(f"uint{8 * values.dtype.itemsize}"))


def random_values(program: Program, seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    found: Values = {}
    for each in program.arrays:
        if each.role.is_given:
            kind = format_of(each.number).numpy
            if kind == np.float32:
                found[each.name] = rng.standard_normal(each.shape).astype(np.float32)
            else:
                info = np.iinfo(kind)
                found[each.name] = rng.integers(info.min, info.max, each.shape, kind, endpoint=True)
            found[each.name] = np.asarray(found[each.name])
    return found


def run(lowered: Lowered, program: Program, values: Values) -> tuple[Values, Run]:
    """What the circuit computes, and how."""
    contents = {
        each.name: lowered.layouts[each.name].to_banks(raw(values[each.name]))
        for each in program.arrays
        if each.name in values and each.name in lowered.layouts
    }
    done = execute(lowered.circuit, contents, operation)
    found = {}
    for each in program.arrays:
        if each.role.is_result and each.name in lowered.layouts:
            banks = done.memories[each.name].astype(f"uint{format_of(each.number).container}")
            found[each.name] = lowered.layouts[each.name].from_banks(banks).view(format_of(each.number).numpy)
    return found, done


def check(schedule: Schedule, seed: int = 0, rtl: bool = False, **options: Any) -> Lowered:
    """Lowers and executes: the same bits as the program, in as many cycles as one pipe after the other
    takes. `rtl`: in Verilator, too."""
    lowered = lower(schedule, **options)
    values = random_values(schedule.program, seed)
    wanted = oracle.execute(schedule.program, values)
    found, done = run(lowered, schedule.program, values)
    for name, array in found.items():
        np.testing.assert_array_equal(raw(array), raw(wanted[name]), name)
    if not lowered.circuit.fifos:
        (pipe,) = lowered.circuit.pipes
        assert done.cycles == (pipe.iterations - 1) * pipe.interval + 1 + pipe.last_slot
    if rtl:
        from axiloom.nest import run as run_rtl

        outcome = run_rtl(lowered.circuit, banks(lowered, schedule.program, values))
        assert outcome.cycles == done.cycles
        for name in found:
            np.testing.assert_array_equal(
                outcome.memories[name], done.memories[name].astype(np.uint64), f"{name} in RTL"
            )
    return lowered


def banks(lowered: Lowered, program: Program, values: Values) -> dict[str, npt.NDArray[Any]]:
    """What external memories hold before a run; results hold zeros."""
    found = {}
    for each in program.arrays:
        if each.role is not Role.LOCAL and each.name in lowered.layouts:
            zeros = np.zeros(each.shape, format_of(each.number).numpy)
            found[each.name] = lowered.layouts[each.name].to_banks(raw(values.get(each.name, zeros)))
    return found
