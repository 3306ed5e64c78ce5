"""What a schedule's circuit really takes: lowered, timed, counted. Seconds for many lanes."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.base.errors import AxiloomError
from axiloom.nests.dataflow import plan
from axiloom.nests.lower.lower import lower
from axiloom.nests.program import Program
from axiloom.nests.resources import Amount, estimate
from axiloom.nests.schedule.replay import replay
from axiloom.nests.timing import cycles


@dataclass(frozen=True)
class Exact:
    """`cycles` is None if it cannot be built, and `fault` says why. `resident`: of the caller's arrays in
    their banks, which are not part of the design."""

    text: str
    cycles: int | None
    amount: Amount
    resident: Amount
    intervals: tuple[int, ...] = ()
    fault: str = ""


def exact(program: Program, text: str) -> Exact:
    """Never raises for a schedule that is refused, or a circuit that cannot be built."""
    try:
        schedule = replay(program, text)
        circuit = lower(schedule, plan(schedule)).circuit
        taken = estimate(circuit)
        count = cycles(circuit).cycles
    except (AxiloomError, ValueError) as error:
        return Exact(text, None, Amount(), Amount(), (), str(error).splitlines()[0])
    return Exact(text, count, taken.total, taken.resident, tuple(pipe.interval for pipe in circuit.pipes))
