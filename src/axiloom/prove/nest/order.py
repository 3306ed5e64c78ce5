"""Whatever the streams wait: accesses to one place of a memory stay in their order, and to one port apart.

Issue times are the least solution of a recurrence (:mod:`axiloom.hw.nest.circuit`): each iteration waits for
some others, so many cycles each. If a chain of such waits leads from one access to another and is long
enough, these two keep their order at any speed of the streams, and of every pipe. Data then pass as in the
one run that was executed: FIFOs keep their order anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import Circuit, Condition, Memory, Pipe, Place, Pop, Push, Read, Write
from axiloom.nests.timing.execute import Run

MOST = 6000
"""Iterations and words together: a table has their square."""
_NEVER = np.iinfo(np.int32).min // 2
Distances = npt.NDArray[np.int32]
Point = Mapping[str, int]


class TooLargeError(Exception):
    """Too many iterations for a table of all pairs."""


@dataclass(frozen=True)
class Touch:
    """An access in `slot` of iteration `event`."""

    event: int
    slot: int
    is_write: bool
    address: int
    what: str


@dataclass(frozen=True)
class Ordered:
    """`faults` name pairs that may come in another order, or at once; of so many `pairs`."""

    faults: tuple[str, ...]
    pairs: int


def check(circuit: Circuit, run: Run) -> Ordered:
    """`run` is any run of the circuit. Raises TooLargeError."""
    events = _Events(circuit, run)
    faults: list[str] = []
    pairs = 0
    for name, first, then, is_apart in events.pushes():
        pairs += 1
        if not is_apart:
            faults.append(f"FIFO {name}: pushes of {first} and {then}")
    for memory in circuit.memories:
        for bank, touches in events.touches(memory).items():
            for name, touching in (
                ("order", _hazards(touches, events)),
                ("port", _ports(memory, touches, events)),
            ):
                for touch, other, is_apart in touching:
                    pairs += 1
                    if not is_apart:
                        at = f"[{touch.address}]" if name == "order" else ""
                        faults.append(f"{memory.name} bank {bank}{at}: {touch.what}, {other.what}")
    return Ordered(tuple(faults), pairs)


class _Events:
    """Iterations of pipes and words of streams, numbered; `least[a, b]`: cycles from the issue of a to that
    of b, at least."""

    def __init__(self, circuit: Circuit, run: Run) -> None:
        self._circuit = circuit
        self._points = {pipe.name: list(points(pipe)) for pipe in circuit.pipes}
        self._first: dict[str, int] = {}
        self._pipes: list[Pipe | None] = []
        names: list[str] = []
        waits: list[tuple[int, int, int]] = []
        pops: dict[str, list[int]] = {fifo.name: [] for fifo in circuit.fifos}
        pushes: dict[str, list[tuple[int, int]]] = {fifo.name: [] for fifo in circuit.fifos}
        for pipe in circuit.pipes:
            self._first[pipe.name] = first = len(names)
            mine = self._points[pipe.name]
            names += [f"{pipe.name} {number}" for number in range(len(mine))]
            self._pipes += [pipe] * len(mine)
            waits += [(first + k, first + k + 1, pipe.interval) for k in range(len(mine) - 1)]
            for number, at in enumerate(mine):
                for node in pipe.nodes:
                    if isinstance(node, Pop) and holds(node.when, at):
                        pops[node.fifo].append(first + number)
                    if isinstance(node, Push) and holds(node.when, at):
                        pushes[node.fifo].append((first + number, node.slot))
        for port in (*circuit.inputs, *circuit.outputs):
            first = len(names)
            names += [f"word {number} of {port.fifo}" for number in range(port.elements)]
            self._pipes += [None] * port.elements
            waits += [(first + k, first + k + 1, 1) for k in range(port.elements - 1)]
            for number in range(first, len(names)):
                if port in circuit.inputs:
                    pushes[port.fifo].append((number, 0))
                else:
                    pops[port.fifo].append(number)
        for fifo in circuit.fifos:
            put, taken = pushes[fifo.name], pops[fifo.name]
            for number, pop in enumerate(taken):
                if number >= fifo.initial:
                    push, slot = put[number - fifo.initial]
                    waits.append((push, pop, slot + 1))
            for number, (push, _) in enumerate(put):
                if number + fifo.initial >= fifo.depth:
                    waits.append((taken[number + fifo.initial - fifo.depth], push, 1))
        self.names = names
        if len(names) > MOST:
            raise TooLargeError(f"{len(names):,} iterations and words; {MOST:,} at most are compared")
        self.least = _longest(len(names), waits)
        self._pushes = pushes
        self._run = run

    def pushes(self) -> Iterator[tuple[str, str, str, bool]]:
        """Those that follow each other into a FIFO, by iteration, and whether they do so at any speed."""
        for name, push in self._pushes.items():
            for (first, slot), (other, then) in pairwise(push):
                is_apart = int(self.least[first, other]) + then - slot >= 1
                yield name, self.names[first], self.names[other], is_apart

    def touches(self, memory: Memory) -> dict[int, list[Touch]]:
        """By bank, in the order of `run`."""
        timed: dict[int, list[tuple[int, int, Touch]]] = {}
        for pipe in self._circuit.pipes:
            first, issues = self._first[pipe.name], self._run.issues[pipe.name]
            nodes = [node for node in pipe.nodes if isinstance(node, Read | Write)]
            for number, at in enumerate(self._points[pipe.name]):
                for node in nodes:
                    if node.memory != memory.name or not holds(node.when, at):
                        continue
                    is_write = isinstance(node, Write)
                    what = f"{'write' if is_write else 'read'} of {pipe.name}, iteration {number}"
                    touch = Touch(first + number, node.slot, is_write, _sum(node.address, at), what)
                    cycle = issues[number] + node.slot
                    timed.setdefault(_sum(node.bank, at), []).append((cycle, is_write, touch))
        return {
            bank: [touch for _, _, touch in sorted(rows, key=lambda row: row[:2])]
            for bank, rows in timed.items()
        }

    def apart(self, touch: Touch, other: Touch) -> int:
        """Cycles from `touch` to `other`, at least."""
        return int(self.least[touch.event, other.event]) + other.slot - touch.slot

    def can_meet(self, touch: Touch, other: Touch) -> bool:
        """Whether two that no chain keeps apart may be executed in one cycle."""
        if touch.event == other.event:
            return touch.slot == other.slot
        pipe = self._pipes[touch.event]
        if pipe is None or pipe is not self._pipes[other.event]:
            return True
        return (touch.slot - other.slot) % pipe.interval == 0


def _hazards(touches: list[Touch], events: _Events) -> Iterator[tuple[Touch, Touch, bool]]:
    """A write and the reads of what it has written; these and the write after it; writes."""
    written: dict[int, Touch] = {}
    read: dict[int, list[Touch]] = {}
    for touch in touches:
        before = written.get(touch.address)
        if not touch.is_write:
            read.setdefault(touch.address, []).append(touch)
            if before is not None:
                yield before, touch, events.apart(before, touch) >= 1
            continue
        if before is not None:
            yield before, touch, events.apart(before, touch) >= 1
        for reader in read.pop(touch.address, []):
            yield reader, touch, events.apart(reader, touch) >= 0
        written[touch.address] = touch


def _ports(memory: Memory, touches: list[Touch], events: _Events) -> Iterator[tuple[Touch, Touch, bool]]:
    """Pairs that want one port for different things. Several read ports are left to the RTL's checks."""
    for kind in (True, False):
        if not kind and memory.ports > 1:
            continue
        mine = [touch for touch in touches if touch.is_write is kind]
        numbers = np.array([touch.event for touch in mine], np.int64)
        slots = np.array([touch.slot for touch in mine], np.int32)
        apart = events.least[np.ix_(numbers, numbers)] + slots[None, :] - slots[:, None]
        near = np.triu((apart < 1) & (apart.T < 1), 1)
        for first, other in np.argwhere(near).tolist():
            if kind or mine[first].address != mine[other].address:
                yield mine[first], mine[other], not events.can_meet(mine[first], mine[other])


def _longest(count: int, waits: list[tuple[int, int, int]]) -> Distances:
    """The longest chain of waits from each to each."""
    before: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for earlier, other, cycles in waits:
        before[other].append((earlier, cycles))
        after[earlier].append(other)
    least = np.full((count, count), _NEVER, np.int32)  # [to, from], so that rows are together
    left = [len(sources) for sources in before]
    ready = [number for number in range(count) if not left[number]]
    while ready:
        event = ready.pop()
        row = least[event]
        for earlier, cycles in before[event]:
            np.maximum(row, least[earlier] + cycles, out=row)
        row[event] = 0
        for later in after[event]:
            left[later] -= 1
            if not left[later]:
                ready.append(later)
    return least.T


def points(pipe: Pipe) -> Iterator[dict[str, int]]:
    """The iterations of a pipe, as its counters say."""

    def inner(position: int, at: dict[str, int]) -> Iterator[dict[str, int]]:
        if position == len(pipe.counters):
            yield dict(at)
            return
        counter = pipe.counters[position]
        low, high = (
            next(piece.value.value(at) for piece in pieces if holds(piece.when, at))
            for pieces in (counter.lower, counter.upper)
        )
        for value in range(low, high + 1):
            yield from inner(position + 1, {**at, counter.name: value})

    return inner(0, {})


def holds(condition: Condition, at: Point) -> bool:
    return all(form.value(at) >= 0 for form in condition)


def _sum(place: Place, at: Point) -> int:
    total = 0
    for term in place:
        value = term.value.value(at) // term.divisor
        total += term.factor * (value % term.modulus if term.modulus else value)
    return total
