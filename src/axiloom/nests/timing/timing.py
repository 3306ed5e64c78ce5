"""`Timing`: when each pipe of a circuit issues, why it waits, how full each FIFO gets. Exact, without RTL.

The semantics are those of ``hw/nest/circuit.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from axiloom.hw.nest.circuit import Circuit, Fifo
from axiloom.nests.timing.deadlock import DeadlockError, solved
from axiloom.nests.timing.events import Rate
from axiloom.nests.timing.iterations import Ints
from axiloom.nests.timing.occupancy import Occupancy, occupancy
from axiloom.nests.timing.solver import Cause, Issues


@dataclass(frozen=True)
class Timing:
    """`cycles` as the circuit's docstring defines them. `pipes` and `ports` say when iterations (or words of
    external streams, by FIFO) are issued."""

    cycles: int
    pipes: Mapping[str, Issues]
    ports: Mapping[str, Issues]
    fifos: Mapping[str, Fifo]
    alike: Mapping[str, str]
    """For each FIFO the one that stands for it in `pipes`: lanes of a stream move together."""

    @property
    def stalls(self) -> dict[str, dict[Cause, int]]:
        """Cycles each pipe waits, by cause."""
        return {name: dict(pipe.stalls) for name, pipe in self.pipes.items()}

    def issue_times(self, pipe: str) -> Ints:
        """The cycle of each iteration's issue."""
        return self.pipes[pipe].at(np.arange(self.pipes[pipe].track.iterations, dtype=np.int64))

    def occupancy(self, fifo: str) -> Occupancy:
        return occupancy(self.fifos[self.alike[fifo]], [*self.pipes.values(), *self.ports.values()])

    @cached_property
    def largest(self) -> dict[str, int]:
        """The most places each FIFO ever has taken."""
        most = {name: self.occupancy(name).largest for name in set(self.alike.values())}
        return {name: most[self.alike[name]] for name in self.fifos}


def deadlock(circuit: Circuit) -> str:
    """Which pipe waits for what, if pipes of `circuit` wait for each other forever; else empty."""
    try:
        cycles(circuit)
    except DeadlockError as error:
        return str(error)
    return ""


def cycles(circuit: Circuit, rates: Mapping[str, Rate] | None = None, *, places: bool = True) -> Timing:
    """The timing of `circuit`, with external streams at `rates` (a word a cycle where none is given). Without
    `places`, no FIFO is ever full.

    Raises DeadlockError if pipes wait for each other forever, and ValueError as
    :func:`axiloom.nests.timing.events.tracks`.
    """
    _, _, same, issues = solved(circuit, rates, depths=True, places=places)
    pipes = {issue.track.name: issue for issue in issues if not issue.track.external}
    ports = {issue.track.name.removeprefix("port "): issue for issue in issues if issue.track.external}
    end = max((pipe.last for pipe in pipes.values()), default=0)
    return Timing(end, pipes, ports, {fifo.name: fifo for fifo in circuit.fifos}, same)
