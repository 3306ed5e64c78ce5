"""Runs a schedule with the caller's arrays resident: memories around the circuit, in the banks it wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nest.progress import SILENT, Steps
from axiloom.nest.run import NestError, run
from axiloom.nests.lower.lower import Lowered, lower
from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Plan
from axiloom.nests.timing.timing import cycles

Host = npt.NDArray[Any]


@dataclass(frozen=True)
class Resident:
    """`results`: the arrays that the program writes for its caller, by name. `peaks`: the most places of each
    FIFO that were taken at once. Cycles as ``circuit.py`` says."""

    lowered: Lowered
    predicted: int
    simulated: int
    results: dict[str, Host]
    peaks: dict[str, int]


def resident(schedule: Schedule, arrays: Mapping[str, Host], plan: Plan | None = None) -> Resident:
    """Run `schedule` in Verilator on `arrays` (by name, as C holds them). Raises CompileError for what cannot
    be built, NestError if the RTL's own checks fail."""
    return execute(lower(schedule, plan), schedule.program, arrays)


def execute(
    lowered: Lowered,
    program: Program,
    arrays: Mapping[str, Host],
    steps: Steps = SILENT,
    checks: bool = True,
) -> Resident:
    """As :func:`resident`, lowered already; `program` is the schedule's, with its copies. Without `checks` of
    itself the RTL of a circuit with many accesses is half as long, and FIFOs have no peaks."""
    circuit = lowered.circuit
    initial = program.with_copies(arrays)
    memories = {}
    for memory in circuit.memories:
        if memory.external:
            array = program.array(memory.name)
            format = format_of(array.number)
            held = np.asarray(
                initial[memory.name] if array.role.is_given else np.zeros(array.shape, format.numpy)
            )
            memories[memory.name] = lowered.layouts[memory.name].to_banks(to_raw(held, format))
    predicted = cycles(circuit).cycles
    outcome = run(circuit, memories, checks=checks, steps=steps)
    results = {}
    for array in program.arrays:
        if array.role.is_result and array.name not in outcome.memories:
            results[array.name] = np.array(initial[array.name])  # no statement touches it
        elif array.role.is_result:
            raw = lowered.layouts[array.name].from_banks(outcome.memories[array.name])
            results[array.name] = from_raw(raw, format_of(array.number)).reshape(array.shape)
    return Resident(lowered, predicted, outcome.cycles, results, outcome.peaks)


def to_raw(held: Host, format: Format) -> npt.NDArray[np.unsignedinteger]:
    """The bits of each element, the highest ones of its type in C zero where the format has fewer."""
    raw = np.array(held, format.numpy, order="C").view(_unsigned(format))
    return np.asarray(raw & raw.dtype.type((1 << format.bits) - 1))


def from_raw(raw: npt.NDArray[np.unsignedinteger], format: Format) -> Host:
    """As C holds them: signed ones with their sign repeated."""
    kind = _unsigned(format)
    if format.kind is Kind.BOOL:
        return raw.astype(np.bool_)
    spare = 8 * kind.itemsize - format.bits
    held = (raw.astype(kind) << kind.type(spare)).view(format.numpy)
    return np.asarray(held >> held.dtype.type(spare)) if spare else held


def _unsigned(format: Format) -> np.dtype[np.unsignedinteger]:
    return np.dtype(f"uint{8 * np.dtype(format.numpy).itemsize}")


__all__ = ["NestError", "Resident", "execute", "resident"]
