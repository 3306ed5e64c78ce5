"""What becomes of a schedule: a circuit that computes what the program does, in as many cycles as predicted,
with FIFOs as full as predicted.

The program is executed by ``nests/affine/oracle.py`` in the order in which it was written, the circuit by
``nests/timing/execute.py``: neither shares code with lowering.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.nests.fuzz import programs
from tests.nests.fuzz.lines import hardware_line
from tests.nests.lower.programs import operation

from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import Circuit
from axiloom.isa.numerics.formats import format_of
from axiloom.nest.resident import from_raw, to_raw
from axiloom.nests import timing
from axiloom.nests.affine import oracle
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import Lowered, lower
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import Depths
from axiloom.nests.timing.execute import ExecutionError, execute

Values = dict[str, npt.NDArray[Any]]
Words = dict[str, npt.NDArray[np.uint64]]


@dataclass(frozen=True)
class Built:
    """A circuit with its smallest FIFOs, what it is given, and what it must compute."""

    program: Program
    lowered: Lowered
    fitted: Depths
    memories: Words
    expected: Values

    def wrong(self, memories: Mapping[str, npt.NDArray[Any]]) -> list[str]:
        """The arrays that differ from what is meant, after a run that left `memories`."""
        found = []
        for name, meant in self.expected.items():
            if name not in self.lowered.layouts:
                continue  # nobody touches it
            banks = np.asarray(memories[name], np.uint64)
            format = format_of(self.program.array(name).number)
            mine = from_raw(self.lowered.layouts[name].from_banks(banks), format)
            found += [name] if mine.tobytes() != meant.tobytes() else []
        return found


def scheduled(rng: Random, schedule: Schedule, counts: Counter[str]) -> Schedule:
    """With some lines about hardware; those that are refused are left out."""
    for _ in range(rng.randint(0, 4)):
        line = hardware_line(rng, schedule)
        try:
            schedule = replay(schedule, line)
            counts[f"with {line.split()[0]}"] += 1
        except ScheduleError:
            counts["hardware lines refused"] += 1
    return schedule


def check(rng: Random, program: Program, schedule: Schedule, seed: int, counts: Counter[str]) -> Built | None:
    """`schedule` is one of `program`. None if there is no circuit of it."""
    values = programs.values(program, seed)
    expected = oracle.execute(program, values)
    given = schedule.program.with_copies(values)
    done = oracle.execute(schedule, given)
    assert all(done[name].tobytes() == expected[name].tobytes() for name in expected)
    at_once = rng.random() < 0.75
    try:
        lowered = lower(schedule, plan(schedule) if at_once else None)
    except CompileError as fault:
        counts["not built"] += 1
        counts[f"not built: {' '.join(str(fault).split(':')[-1].split()[-7:])}"] += 1
        return None
    counts["circuits" + " of several pipes" * (len(lowered.circuit.pipes) > 1)] += 1
    counts["circuits with FIFOs of data"] += any(each.bits for each in lowered.circuit.fifos)
    memories = banks(lowered, schedule.program, given)
    fitted = timing.fit(lowered.circuit)
    built = Built(program, lowered, fitted, memories, expected)
    for circuit in {id(each): each for each in (lowered.circuit, fitted.circuit)}.values():
        as_predicted(built, circuit)
    # Rarely, fewer places take fewer cycles: a pipe of an interval above 1 begins in another phase.
    assert timing.cycles(lowered.circuit).cycles >= fitted.cycles
    one_fewer(built, counts)
    return built


def as_predicted(built: Built, circuit: Circuit) -> None:
    predicted = timing.cycles(circuit)
    ran = execute(circuit, built.memories, operation)
    assert not (wrong := built.wrong(ran.memories)), f"wrong: {wrong}"
    assert (ran.cycles, ran.largest) == (predicted.cycles, predicted.largest)
    for name, issues in ran.issues.items():
        assert predicted.issue_times(name).tolist() == issues, name


def one_fewer(built: Built, counts: Counter[str]) -> None:
    """Each FIFO is as full as it is deep; with one place fewer it costs as many cycles as predicted."""
    fitted = built.fitted
    for name, cycles in fitted.one_fewer.items():
        depth = fitted.circuit.fifo(name).depth
        assert fitted.largest[name] == depth
        assert cycles is None or cycles > fitted.cycles
        try:
            ran = execute(smaller(fitted.circuit, name), built.memories, operation)
        except ExecutionError:
            assert cycles is None
            counts["FIFOs: one fewer never ends"] += 1
            continue
        assert ran.cycles == cycles
        assert not built.wrong(ran.memories)
        counts["FIFOs: one fewer stalls"] += 1
    counts["FIFOs: one place"] += sum(each.depth == 1 for each in fitted.circuit.fifos)


def smaller(circuit: Circuit, fifo: str) -> Circuit:
    """`fifo` and all that stand for the same stream have one place fewer."""
    fifos = (replace(x, depth=x.depth - 1) if x.name == fifo else x for x in circuit.fifos)
    return replace(circuit, fifos=tuple(fifos))


def banks(lowered: Lowered, program: Program, values: Mapping[str, npt.NDArray[Any]]) -> Words:
    """What external memories hold before a run; results hold zeros."""
    found = {}
    for each in program.arrays:
        if each.role is not Role.LOCAL and each.name in lowered.layouts:
            format = format_of(each.number)
            held = values.get(each.name, np.zeros(each.shape, format.numpy))
            found[each.name] = lowered.layouts[each.name].to_banks(to_raw(held, format))
    return found
