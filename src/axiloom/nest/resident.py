"""Runs a schedule with the caller's arrays resident: memories in banks around the circuit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.formats import format_of
from axiloom.nest.raw import from_raw, to_raw
from axiloom.nest.run import NestError, run
from axiloom.nests.lower.lower import Lowered, lower
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Plan
from axiloom.nests.timing.timing import cycles

Host = npt.NDArray[Any]


@dataclass(frozen=True)
class Resident:
    """`results`: arrays that the program writes for its caller, by name. Cycles as ``circuit.py`` says."""

    lowered: Lowered
    predicted: int
    simulated: int
    results: dict[str, Host]


def resident(schedule: Schedule, arrays: Mapping[str, Host], plan: Plan | None = None) -> Resident:
    """Run `schedule` in Verilator on `arrays` (by name, as C holds them). Raises CompileError for what cannot
    be built, NestError if the RTL's own checks fail."""
    lowered = lower(schedule, plan)
    circuit, program = lowered.circuit, schedule.program
    given = program.with_copies(arrays)
    memories = {}
    for each in circuit.memories:
        if each.external:
            array = program.array(each.name)
            held = given[each.name] if array.role.is_given else np.zeros(array.shape, _host(array.number))
            memories[each.name] = lowered.layouts[each.name].to_banks(to_raw(np.asarray(held), array.number))
    predicted = cycles(circuit).cycles
    outcome = run(circuit, memories)
    results = {}
    for array in program.arrays:
        if array.role.is_result and array.name not in outcome.memories:
            results[array.name] = np.array(given[array.name])  # no statement touches it
        elif array.role.is_result:
            raw = lowered.layouts[array.name].from_banks(outcome.memories[array.name])
            results[array.name] = from_raw(raw, array.number)
    return Resident(lowered, predicted, outcome.cycles, results)


def _host(number: str) -> np.dtype[Any]:
    return format_of(number).numpy


__all__ = ["NestError", "Resident", "resident"]
