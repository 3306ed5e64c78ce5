"""What circuits of small programs compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import Operate
from axiloom.hw.nest.operators import operator
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.affine import oracle
from axiloom.nests.lower import lower
from axiloom.nests.lower.lower import Lowered
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.execute import Run, execute

Values = dict[str, npt.NDArray[Any]]


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
