"""`Design`: a schedule as a circuit, its cycles and its bound, before anything runs; `measure` runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from axiloom.nest.accelerator import multiply_adds
from axiloom.nest.compare import Comparison, Host, compare
from axiloom.nest.progress import SILENT, Steps
from axiloom.nest.reference import Reference
from axiloom.nest.resident import Resident, execute
from axiloom.nests.dataflow.planner import Note, decide
from axiloom.nests.lower.explain import summary
from axiloom.nests.lower.lower import Lowered, lower
from axiloom.nests.poly.counting import count
from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing import Timing, cycles, fit


@dataclass(frozen=True)
class Bound:
    """No design with so many `units` takes fewer `cycles`: each of `work` items takes a unit for a cycle.
    `what` they are: multiply-adds of the program, or instances of the statement that needs most."""

    cycles: int
    work: int
    units: int
    what: str


@dataclass(frozen=True)
class Design:
    """`written` is the user's program; primitives may have changed it for `schedule`. `lowered` has the
    smallest FIFOs that cost no cycle. `plain`: one nest after the other. `notes`: what passes from nest to
    nest, and how."""

    written: Program
    schedule: Schedule
    lowered: Lowered
    timing: Timing
    plain: bool
    notes: tuple[Note, ...] = ()

    @cached_property
    def summary(self) -> dict[str, Any]:
        return summary(self.lowered)

    @property
    def busiest(self) -> dict[str, Any]:
        """The pipe that takes most cycles."""
        busiest: dict[str, Any] = max(self.summary["pipes"], key=lambda pipe: pipe["cycles"])
        return busiest

    @cached_property
    def multiply_adds(self) -> int:
        return multiply_adds(self.written)

    @cached_property
    def parallel(self) -> int:
        """Multiply-adds that start in a cycle at most: the adders. Without multiply-adds, the instances."""
        if self.multiply_adds:
            return max(1, sum(_adders(pipe["operators"]) for pipe in self.summary["pipes"]))
        return sum(max(pipe["lanes"].values()) for pipe in self.summary["pipes"])

    @cached_property
    def bound(self) -> Bound:
        if work := self.multiply_adds:
            return Bound(-(-work // self.parallel), work, self.parallel, "multiply-adds")
        lanes = {name: lanes for pipe in self.summary["pipes"] for name, lanes in pipe["lanes"].items()}
        instances = [
            (count(statement.iterators, statement.domain), lanes[statement.name], statement.name)
            for statement in self.schedule.program.statements
        ]
        work, units, name = max(instances, key=lambda statement: -(-statement[0] // statement[1]))
        return Bound(-(-work // units), work, units, f"instances of {name}")


def _adders(operators: Mapping[str, int]) -> int:
    return sum(number for name, number in operators.items() if name.split()[0] in ("add", "sub"))


def design(written: Program, schedule: Schedule, *, plain: bool = False) -> Design:
    """Raises CompileError for what cannot be built."""
    overlap = None if plain else decide(schedule)
    lowered = lower(schedule, overlap.plan if overlap else None)
    lowered = replace(lowered, circuit=fit(lowered.circuit).circuit)
    return Design(
        written, schedule, lowered, cycles(lowered.circuit), plain, overlap.notes if overlap else ()
    )


@dataclass(frozen=True)
class Run:
    resident: Resident
    comparison: Comparison
    reference: Reference

    @property
    def outputs(self) -> Mapping[str, Host]:
        """The arrays that the nest writes, by name."""
        return self.resident.results

    @property
    def right(self) -> bool:
        """The results, and the cycles foretold."""
        return self.comparison.matches and self.resident.predicted == self.resident.simulated

    def __repr__(self) -> str:
        return (
            f"{'right' if self.right else 'WRONG'}, {self.resident.simulated:,} cycles, {self.reference.text}"
        )


def measure(design: Design, arrays: Mapping[str, Host], right: Reference, steps: Steps = SILENT) -> Run:
    """Run `design` in Verilator on `arrays` (those that the caller gives, by name), beside what is `right`.

    Raises NestError if the RTL's own checks fail, BuildError, UsageError for arrays that do not fit.
    """
    ran = execute(design.lowered, design.schedule.program, arrays, steps)
    return Run(ran, compare(ran.results, right.results), right)
