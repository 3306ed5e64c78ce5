"""`Design`: a schedule as a circuit with its cycles and its bound, before anything runs; `measure` runs it.

The reference of a run is the program as it was written: its IR by the host's compiler, or Python where it is
small (``nests/affine``). It knows nothing of schedules, lowering and RTL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from axiloom.nest.accelerator import multiply_adds
from axiloom.nest.progress import SILENT, Steps
from axiloom.nest.resident import Host, Resident, execute
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.dataflow.planner import Note, decide
from axiloom.nests.lower.explain import summary
from axiloom.nests.lower.lower import Lowered, lower
from axiloom.nests.poly.counting import count
from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing import Timing, cycles, fit

INTERPRETER = "the interpreter, which shares no code with lowering and RTL"
REFERENCE = f"the program as written, by {INTERPRETER}"
ROUNDED = f"the sums in the order of `reassociate`, by {INTERPRETER}"


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
    def is_rounded(self) -> bool:
        """Whether the schedule adds floats in another order, as told: other bits than as written."""
        return any(line.startswith("reassociate") and "changes" in line for line in self.schedule.log)

    @property
    def reference(self) -> Program | Schedule:
        """What the interpreter executes, to compare with."""
        return self.schedule if self.is_rounded else self.written

    @property
    def busiest(self) -> dict[str, Any]:
        """The pipe that takes most cycles."""
        found: dict[str, Any] = max(self.summary["pipes"], key=lambda each: each["cycles"])
        return found

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
        found = [
            (count(each.iterators, each.domain), lanes[each.name], each.name)
            for each in self.schedule.program.statements
        ]
        work, units, name = max(found, key=lambda each: -(-each[0] // each[1]))
        return Bound(-(-work // units), work, units, f"instances of {name}")


def _adders(operators: Mapping[str, int]) -> int:
    return sum(number for name, number in operators.items() if name.split()[0] in ("add", "sub"))


def design(written: Program, schedule: Schedule, *, plain: bool = False) -> Design:
    """Raises CompileError for what cannot be built."""
    found = None if plain else decide(schedule)
    lowered = lower(schedule, found.plan if found else None)
    lowered = replace(lowered, circuit=fit(lowered.circuit).circuit)
    return Design(written, schedule, lowered, cycles(lowered.circuit), plain, found.notes if found else ())


@dataclass(frozen=True)
class Comparison:
    """Of all elements of all results, bit for bit. `first`: the first one that is wrong."""

    elements: int
    mismatches: int
    first: str = ""

    @property
    def matches(self) -> bool:
        return not self.mismatches


def compare(found: Mapping[str, Host], expected: Mapping[str, Host]) -> Comparison:
    """`expected` says which arrays count."""
    elements = mismatches = 0
    first = ""
    for name, right in expected.items():
        ours = np.asarray(found[name])
        wrong = _bits(ours) != _bits(np.asarray(right))
        elements, mismatches = elements + right.size, mismatches + int(wrong.sum())
        if wrong.any() and not first:
            at = tuple(int(each[0]) for each in np.nonzero(np.atleast_1d(wrong)))[: right.ndim]
            place = "".join(f"[{each}]" for each in at)
            first = f"{name}{place} is {ours[at]}, expected {right[at]}"
    return Comparison(elements, mismatches, first)


def _bits(array: Host) -> Host:
    """Equal floats may have different bits, and NaN is never equal."""
    return np.array(array, order="C").view(f"u{array.dtype.itemsize}")


@dataclass(frozen=True)
class Run:
    resident: Resident
    comparison: Comparison

    @property
    def right(self) -> bool:
        """The results, and the cycles foretold."""
        return self.comparison.matches and self.resident.predicted == self.resident.simulated


def measure(made: Design, arrays: Mapping[str, Host], steps: Steps = SILENT) -> Run:
    """Run `made` in Verilator on `arrays` (those that the caller gives, by name), beside the reference.

    Raises NestError if the RTL's own checks fail, BuildError, UsageError for arrays that do not fit.
    """
    with steps.step("computing the reference", "reference", 0):
        expected = interpret(made.reference, made.schedule.program.with_copies(arrays))
    ran = execute(made.lowered, made.schedule.program, arrays, steps)
    return Run(ran, compare(ran.results, expected))
