"""`fit`: the smallest FIFOs that cost no cycle.

FIFOs are made smaller one after the other, those with most bits first, each by halving between a depth that
costs a cycle and one that does not; again until none gets smaller. So in the end no FIFO alone can lose a
place: its largest occupancy is its depth, and with one place fewer the circuit takes longer or never ends.

FIFOs that are pushed and popped together, as lanes of a stream are, have one depth.

(More places may, rarely, make a pipe of an interval above 1 later: if its first iteration is issued earlier,
all others are in another phase. So what halving finds is tried, not trusted.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from axiloom.hw.nest.circuit import Circuit, Fifo
from axiloom.nests.timing.deadlock import solved
from axiloom.nests.timing.events import Rate, Track
from axiloom.nests.timing.occupancy import occupancy
from axiloom.nests.timing.solver import Issues, StuckError, solve


@dataclass(frozen=True)
class Depths:
    """`circuit` with the depths found, and its `cycles`: no more than with FIFOs of any size.

    ``one_fewer[fifo]`` are the cycles with one place fewer, None where the circuit then never ends; FIFOs of
    one place are left out, and so are those whose initial elements need all places. `largest` is each FIFO's
    largest occupancy.
    """

    circuit: Circuit
    cycles: int
    largest: Mapping[str, int]
    one_fewer: Mapping[str, int | None]

    @property
    def bits(self) -> int:
        """What all FIFOs hold; tokens have no bits, and take a counter each."""
        return sum(fifo.depth * fifo.bits for fifo in self.circuit.fifos)


def fit(circuit: Circuit, rates: Mapping[str, Rate] | None = None) -> Depths:
    """The smallest depths; those of `circuit` do not count. Raises DeadlockError if no depths let it end."""
    distinct, few, same, free = solved(circuit, rates, depths=False, places=False)
    best = _end(free)
    fifos = {fifo.name: replace(fifo, depth=max(1, occupancy(fifo, free).largest)) for fifo in few}
    while True:
        before = dict(fifos)
        for name in sorted(fifos, key=lambda name: (-fifos[name].bits * fifos[name].depth, name)):
            fifos[name] = replace(fifos[name], depth=_smallest(distinct, fifos, name, best))
        if fifos == before:
            break
    issues = solve(distinct, [*fifos.values()])
    fewer = {
        name: _cycles(distinct, _with(fifos, name, fifo.depth - 1))
        for name, fifo in fifos.items()
        if fifo.depth > max(fifo.initial, 1)
    }
    largest = {name: occupancy(fifo, issues).largest for name, fifo in fifos.items()}
    sized = tuple(replace(fifo, depth=fifos[same[fifo.name]].depth) for fifo in circuit.fifos)
    return Depths(
        circuit=replace(circuit, fifos=sized),
        cycles=_end(issues),
        largest={name: largest[leader] for name, leader in same.items()},
        one_fewer={name: fewer[leader] for name, leader in same.items() if leader in fewer},
    )


def _smallest(tracks: Sequence[Track], fifos: Mapping[str, Fifo], name: str, best: int) -> int:
    least, high = max(fifos[name].initial, 1), fifos[name].depth
    low = least - 1
    middle = high - 1  # in the second round, most cannot lose one
    while high - low > 1:
        cycles = _cycles(tracks, _with(fifos, name, middle))
        low, high = (low, middle) if cycles is not None and cycles <= best else (middle, high)
        middle = (low + high) // 2
    return high


def _with(fifos: Mapping[str, Fifo], name: str, depth: int) -> list[Fifo]:
    return [replace(fifo, depth=depth) if fifo.name == name else fifo for fifo in fifos.values()]


def _cycles(tracks: Sequence[Track], fifos: Sequence[Fifo]) -> int | None:
    try:
        return _end(solve(tracks, fifos))
    except StuckError:
        return None


def _end(issues: Sequence[Issues]) -> int:
    return max((issue.last for issue in issues if not issue.track.external), default=0)
