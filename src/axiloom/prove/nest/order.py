"""Whatever the streams wait: accesses to one place of a memory stay in their order, and to one port apart.

Issue times are the least solution of a recurrence (:mod:`axiloom.hw.nest.circuit`): each iteration waits for
some others, so many cycles each. If a chain of such waits leads from one access to another and is long
enough, these two keep their order at any speed of the streams, and of every pipe. Data then pass as in the
one run that was executed: FIFOs keep their order anyway.

SciPy certifies: Johnson's algorithm finds a chain as long for each pair.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import Circuit, Condition, Memory, Pipe, Place, Pop, Push, Read, Write
from axiloom.nests.timing.execute import Run

MOST = 6000
"""Iterations and words together: a table has their square."""
_ROWS = 500
"""Events whose chains are held at a time."""
_NEVER = np.iinfo(np.int32).min // 2
Distances = npt.NDArray[np.int32]
Point = Mapping[str, int]
Wait = tuple[int, int, int]
"""From the first event to the second so many cycles pass at least."""


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

    def before(self, other: Touch, cycles: int) -> Wait:
        """That `other` comes so many cycles later."""
        return self.event, other.event, cycles + self.slot - other.slot


@dataclass(frozen=True)
class Ordered:
    """`faults` name pairs that may come in another order, or at once; of so many `pairs`."""

    faults: tuple[str, ...]
    pairs: int
    waits: tuple[Wait, ...] = ()
    """What was supposed."""
    claims: tuple[Wait, ...] = ()
    """What was concluded of all that is no fault; of those that follow from others, these."""


def check(circuit: Circuit, run: Run) -> Ordered:
    """`run` is any run of the circuit. Raises TooLargeError."""
    events = _Events(circuit, run)
    faults: list[str] = []
    claims: list[Wait] = []
    pairs = 0
    for name, wait, is_apart in events.pushes():
        pairs += 1
        if is_apart:
            claims.append(wait)
        else:
            first, then = (events.names[event] for event in wait[:2])
            faults.append(f"FIFO {name}: pushes of {first} and {then}")
    for memory in circuit.memories:
        for bank, touches in events.touches(memory).items():
            for one, other, cycles in _hazards(touches):
                pairs += 1
                if events.apart(one, other) >= cycles:
                    claims.append(one.before(other, cycles))
                else:
                    at = f"[{one.address}]"
                    faults.append(f"{memory.name} bank {bank}{at}: {one.what}, {other.what}")
            near, apart = _ports(memory, touches, events)
            claims += apart
            pairs += len(near)
            faults += [
                f"{memory.name} bank {bank}: {one.what}, {other.what}"
                for one, other in near
                if events.can_meet(one, other)
            ]
    return Ordered(tuple(faults), pairs, tuple(events.waits), tuple(claims))


class _Events:
    """Iterations of pipes and words of streams, numbered; `least[a, b]`: cycles from the issue of a to that
    of b, at least."""

    def __init__(self, circuit: Circuit, run: Run) -> None:
        self._circuit = circuit
        self._points = {pipe.name: list(points(pipe)) for pipe in circuit.pipes}
        self._first: dict[str, int] = {}
        self._pipes: list[Pipe | None] = []
        names: list[str] = []
        self.waits = waits = list[Wait]()
        pops: dict[str, list[int]] = {each.name: [] for each in circuit.fifos}
        pushes: dict[str, list[tuple[int, int]]] = {each.name: [] for each in circuit.fifos}
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
            given, taken = pushes[fifo.name], pops[fifo.name]
            for number, pop in enumerate(taken):
                if number >= fifo.initial:
                    push, slot = given[number - fifo.initial]
                    waits.append((push, pop, slot + 1))
            for number, (push, _) in enumerate(given):
                if number + fifo.initial >= fifo.depth:
                    waits.append((taken[number + fifo.initial - fifo.depth], push, 1))
        self.names = names
        if len(names) > MOST:
            raise TooLargeError(f"{len(names):,} iterations and words; {MOST:,} at most are compared")
        self.least = _longest(len(names), waits)
        self._pushes = pushes
        self._run = run

    def pushes(self) -> Iterator[tuple[str, Wait, bool]]:
        """Those that follow each other into a FIFO, by iteration, and whether they do so at any speed."""
        for name, given in self._pushes.items():
            for (one, slot), (other, then) in pairwise(given):
                cycles = 1 + slot - then
                yield name, (one, other, cycles), int(self.least[one, other]) >= cycles

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
            bank: [touch for _, _, touch in sorted(found, key=lambda one: one[:2])]
            for bank, found in timed.items()
        }

    def apart(self, one: Touch, other: Touch) -> int:
        """Cycles from `one` to `other`, at least."""
        return int(self.least[one.event, other.event]) + other.slot - one.slot

    def can_meet(self, one: Touch, other: Touch) -> bool:
        """Whether two that no chain keeps apart may be executed in one cycle."""
        if one.event == other.event:
            return one.slot == other.slot
        pipe = self._pipes[one.event]
        if pipe is None or pipe is not self._pipes[other.event]:
            return True
        return (one.slot - other.slot) % pipe.interval == 0


def _hazards(touches: list[Touch]) -> Iterator[tuple[Touch, Touch, int]]:
    """A write and the reads of what it has written; these and the write after it; writes. And the cycles
    between them, at least."""
    written: dict[int, Touch] = {}
    read: dict[int, list[Touch]] = {}
    for touch in touches:
        before = written.get(touch.address)
        if not touch.is_write:
            read.setdefault(touch.address, []).append(touch)
            if before is not None:
                yield before, touch, 1
            continue
        if before is not None:
            yield before, touch, 1
        for one in read.pop(touch.address, []):
            yield one, touch, 0
        written[touch.address] = touch


def _ports(
    memory: Memory, touches: list[Touch], events: _Events
) -> tuple[list[tuple[Touch, Touch]], list[Wait]]:
    """Pairs that want one port for different things and that no chain keeps apart; and what keeps the others
    apart. Several read ports are left to the RTL's checks."""
    pairs: list[tuple[Touch, Touch]] = []
    claims: list[Wait] = []
    for kind in (True, False):
        if not kind and memory.ports > 1:
            continue
        mine = [each for each in touches if each.is_write is kind]
        numbers = np.array([each.event for each in mine], np.int64)
        slots = np.array([each.slot for each in mine], np.int32)
        later = events.least[np.ix_(numbers, numbers)] + slots[None, :] - slots[:, None] >= 1
        near = np.triu(~later & ~later.T, 1)
        pairs += [
            (mine[one], mine[other])
            for one, other in np.argwhere(near).tolist()
            if kind or mine[one].address != mine[other].address
        ]
        # What comes after something that comes after it follows.
        steps = later & (later.astype(np.float32) @ later.astype(np.float32) == 0)
        claims += [mine[one].before(mine[other], 1) for one, other in np.argwhere(steps).tolist()]
    return pairs, claims


def certified(found: Ordered) -> str:
    """The engine that says so too, of all claims."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import johnson

    longest: dict[tuple[int, int], int] = {}
    for one, other, cycles in found.waits:
        longest[one, other] = max(cycles, longest.get((one, other), cycles))
    count = 1 + max((event for wait in (*found.waits, *found.claims) for event in wait[:2]), default=0)
    ends = np.array([*longest], np.int32).reshape(-1, 2)
    graph = csr_array((-np.array([*longest.values()], float), ends.T), (count, count))
    firsts = sorted({one for one, _, _ in found.claims})
    for begin in range(0, len(firsts), _ROWS):
        some = firsts[begin : begin + _ROWS]
        rows = dict(zip(some, -johnson(graph, indices=some), strict=True))
        if not all(rows[one][other] >= cycles for one, other, cycles in found.claims if one in rows):
            return ""
    return f"SciPy {importlib.metadata.version('scipy')}"


def _longest(count: int, waits: list[tuple[int, int, int]]) -> Distances:
    """The longest chain of waits from each to each."""
    before: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for one, other, cycles in waits:
        before[other].append((one, cycles))
        after[one].append(other)
    least = np.full((count, count), _NEVER, np.int32)  # [to, from], so that rows are together
    left = [len(each) for each in before]
    ready = [number for number in range(count) if not left[number]]
    while ready:
        event = ready.pop()
        row = least[event]
        for one, cycles in before[event]:
            np.maximum(row, least[one] + cycles, out=row)
        row[event] = 0
        for each in after[event]:
            left[each] -= 1
            if not left[each]:
                ready.append(each)
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
