"""One pipe of a circuit: `Draft` is what one iteration does, `build` gives it slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from axiloom.base.affine import Affine
from axiloom.hw.nest.circuit import (
    Choose,
    Constant,
    Memory,
    Node,
    Operate,
    Pipe,
    Place,
    Pop,
    Position,
    Push,
    Read,
    Storage,
    Write,
)
from axiloom.nests.lower.banks.layouts import BankLayout
from axiloom.nests.lower.iteration.graph import Access, Graph, Latencies, Receive, Send, Vertex
from axiloom.nests.lower.iteration.guards import Guards
from axiloom.nests.lower.iteration.lanes import Lane, lanes
from axiloom.nests.lower.iteration.share import Sharing, Worth, shared
from axiloom.nests.lower.iteration.space import Space, Waits, space
from axiloom.nests.lower.passing import Passing, Streamed, streamed, tokens
from axiloom.nests.lower.slots import modulo
from axiloom.nests.lower.slots.alap import alap
from axiloom.nests.lower.slots.bind import bound, units
from axiloom.nests.lower.slots.carried import Carried, Dependence
from axiloom.nests.lower.slots.constraints import accesses, apart, latency, name
from axiloom.nests.lower.slots.modulo import Edge, Timing
from axiloom.nests.lower.slots.places import found_ports
from axiloom.nests.lower.slots.recurrences import cyclic
from axiloom.nests.lower.slots.waits import crossings
from axiloom.nests.program import Program
from axiloom.nests.schedule import Placed

PRICE = 0.01
"""Part of its cycles that a pipe may lose by sharing operations..."""
ASKED = 0.25
"""... and where the schedule says that its nests share them."""


@dataclass(frozen=True)
class Nests:
    """What a pipe is made of. `numbers`: its nests. `interval`: as asked for."""

    name: str
    numbers: tuple[int, ...]
    program: Program
    statements: tuple[Placed, ...]
    unrolled: frozenset[str]
    interval: int
    latencies: Latencies
    worth: Worth


@dataclass(frozen=True)
class Draft:
    """A pipe without banks and slots. `vertices` share operations as `sharing` says; `unshared` do not.
    `waits`: iterations that do nothing, at the ends of phases."""

    nests: Nests
    space: Space
    guards: Guards
    lanes: tuple[Lane, ...]
    vertices: tuple[Vertex, ...]
    unshared: tuple[Vertex, ...]
    sharing: Sharing
    waits: Waits = field(default_factory=dict)

    @property
    def arrays(self) -> list[str]:
        return list(dict.fromkeys(x.what.array for x in self.vertices if isinstance(x.what, Access)))


@dataclass(frozen=True)
class Surroundings:
    """Where arrays lie. `ports`: reads of a bank that a pipe may do in a cycle; `first`: the first port for
    them, where it is not 0. `turns`: which copy an access goes to, for arrays in several copies."""

    layouts: Mapping[str, BankLayout]
    memories: Mapping[str, Memory]
    ports: Mapping[str, int]
    turns: Mapping[str, Affine] = field(default_factory=dict)
    passing: Passing = field(default_factory=Passing)
    first: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Built:
    """A pipe with its slots, one for each vertex of the draft."""

    draft: Draft
    pipe: Pipe
    timing: Timing
    dependences: tuple[Dependence, ...]
    streamed: Streamed

    @property
    def cycles(self) -> int:
        """Of the pipe alone."""
        return (self.pipe.iterations - 1) * self.pipe.interval + 1 + self.pipe.last_slot

    @property
    def memory_slot(self) -> int:
        """The last slot in which it touches a memory."""
        touched = [x.slot for x in self.pipe.nodes if isinstance(x, (Read, Write))]
        return max(touched, default=0)


def draft(nests: Nests, waits: Waits | None = None, sharing: Sharing = Sharing.ALL) -> Draft:
    """What one iteration of the pipe does."""
    where = space(nests.statements, nests.unrolled, waits)
    guards = Guards(where)
    instances = lanes(where, guards)
    graph = Graph(nests.program, guards, nests.latencies)
    for lane in instances:
        graph.add(lane)
    vertices = graph.finish()
    fewer = tuple(shared(vertices, guards, nests.worth, sharing))
    return Draft(nests, where, guards, tuple(instances), fewer, tuple(vertices), sharing, waits or {})


def build(draft: Draft, around: Surroundings) -> Built:
    """Slots and places. Operations are shared as far as that costs next to no cycles."""
    attempts: list[Built] = []
    for sharing in sorted(Sharing, reverse=True):
        fewer = tuple(shared(draft.unshared, draft.guards, draft.nests.worth, sharing))
        if any(len(fewer) == len(attempt.draft.vertices) for attempt in attempts):
            continue
        attempts.append(_built(replace(draft, vertices=fewer, sharing=sharing), around))
        if attempts[-1].pipe.interval <= draft.nests.interval:
            break
    sharing_some = [attempt for attempt in attempts if attempt.draft.sharing is not Sharing.NOTHING]
    least = min(attempt.cycles for attempt in sharing_some)
    best = next(attempt for attempt in sharing_some if attempt.cycles <= least * (1 + PRICE))
    price = ASKED if len(draft.nests.numbers) > 1 else PRICE
    without = attempts[-1]
    return best if best.cycles <= without.cycles * (1 + price) else without


def _built(draft: Draft, around: Surroundings) -> Built:
    """Where only the change of a phase needs time, the phases wait for it: iterations that do nothing cost
    less than a longer interval for all."""
    work = _Work(draft, around)
    timing, vertices = work.schedule(work.dependences)
    if timing.interval > draft.nests.interval:
        waited = _with_waits(work, timing)
        if waited is not None:
            return waited
    return work.built(timing, vertices)


def _with_waits(work: _Work, timing: Timing) -> Built | None:
    draft = work.draft
    crossing = crossings(draft.space, work.vertices, work.dependences)
    if not crossing:
        return None
    free = [dependence for number, dependence in enumerate(work.dependences) if number not in crossing]
    better, vertices = work.schedule(free)
    if better.interval >= timing.interval:
        return None
    waits: dict[tuple[int, int], int] = {}
    for number, transition in crossing.items():
        edge = work.dependences[number]
        late = better.slots[edge.before] + edge.delay - better.slots[edge.after]
        wait = -(-late // better.interval) - edge.distance
        waits[transition] = max(wait, waits.get(transition, 0))
    waits = {key: value for key, value in waits.items() if value > 0}
    again = waiting(draft, waits)
    if again.space.iterations * better.interval >= draft.space.iterations * timing.interval:
        return None
    work = _Work(again, work.around)
    timing, vertices = work.schedule(work.dependences)
    return work.built(timing, vertices)


def waiting(old: Draft, waits: Waits) -> Draft:
    """The same pipe, whose phases wait."""
    return draft(old.nests, waits, old.sharing)


class _Work:
    """A draft with its places and dependences."""

    def __init__(self, draft: Draft, around: Surroundings) -> None:
        self.draft = draft
        self.around = around
        ranges = draft.space.ranges
        self.streamed = streamed(
            draft.vertices, ranges, draft.guards, draft.lanes, draft.nests.numbers, around.passing
        )
        self.vertices = self.streamed.vertices
        held = {name: layout for name, (layout, _) in self.streamed.held.items()}
        layouts = {**around.layouts, **held}
        registers = {name: register(name, bits) for name, (_, bits) in self.streamed.held.items()}
        self.memories = {**around.memories, **registers}
        self.places: dict[int, tuple[Place, Place]] = {}
        for number, vertex in enumerate(self.vertices):
            if isinstance(vertex.what, Access):
                array = vertex.what.array
                self.places[number] = layouts[array].place(vertex.what.forms, ranges, around.turns.get(array))
        carried = Carried(layouts, draft.space, around.turns)
        self.dependences = carried.dependences(self.vertices, apart(self.places, ranges))
        used = dict.fromkeys(x.what.array for x in self.vertices if isinstance(x.what, Access))
        counts = {array: around.ports.get(array, 1) for array in used}
        self.accesses = accesses(draft.guards, ranges, self.vertices, self.places, layouts, counts)
        self.resources = [access for access in self.accesses if access.binds]

    def schedule(self, dependences: Sequence[Dependence]) -> tuple[Timing, list[Vertex]]:
        """With the operators' first latencies; with shorter ones in recurrences, as far as that helps."""
        wanted = self.draft.nests.interval
        best, vertices = self._attempt(self.vertices, dependences), self.vertices
        if best.interval == wanted or not best.why.startswith("recurrence"):
            return best, vertices
        inside = cyclic(self.vertices, dependences)
        shorter = self.vertices
        while best.interval > wanted:
            shorter, before = self._shorter(shorter, inside), shorter
            if shorter == before:
                break
            timing = self._attempt(shorter, dependences)
            if timing.interval < best.interval:
                best, vertices = timing, shorter
        return best, vertices

    def _shorter(self, vertices: list[Vertex], inside: set[int]) -> list[Vertex]:
        """With the next shorter latency of each operator in a recurrence."""
        shorter = list(vertices)
        for number in inside:
            what = vertices[number].what
            if isinstance(what, Operate):
                there_are = self.draft.nests.latencies(what.operator, what.number, what.result)
                less = [latency for latency in there_are if latency < what.latency]
                if less:
                    shorter[number] = replace(vertices[number], what=replace(what, latency=max(less)))
        return shorter

    def _attempt(self, vertices: Sequence[Vertex], dependences: Sequence[Dependence]) -> Timing:
        memories = self.memories
        edges = [
            Edge(operand, number, latency(vertices[operand], memories), 0, name(vertices[operand]))
            for number, vertex in enumerate(vertices)
            for operand in vertex.operands
        ]
        edges += [
            Edge(
                dependence.before,
                dependence.after,
                dependence.delay,
                dependence.distance,
                name(vertices[dependence.before]),
            )
            for dependence in dependences
        ]
        first = [number for number, x in enumerate(vertices) if isinstance(x.what, Receive)]
        wanted, count = self.draft.nests.interval, len(vertices)
        timing = modulo.schedule(count, edges, self.resources, first, wanted)
        resources = self.resources
        if timing.interval > 1:
            # With an interval to spare, operations take turns on fewer units.
            fewer = [*resources, *units(vertices, self.draft.nests.worth, timing.interval)]
            again = modulo.schedule(count, edges, fewer, first, timing.interval)
            if again.interval == timing.interval:
                timing, resources = replace(again, why=timing.why), fewer
        return alap(vertices, edges, resources, timing)

    def built(self, timing: Timing, vertices: Sequence[Vertex]) -> Built:
        draft = self.draft
        unit = bound(vertices, draft.nests.worth, timing.slots, timing.interval)
        nodes = [
            _node(vertex, timing.slots[number], self.places.get(number), unit.get(number, ""))
            for number, vertex in enumerate(vertices)
        ]
        for number, port in found_ports(self.accesses, timing.slots, timing.interval).items():
            if isinstance(node := nodes[number], Read):
                nodes[number] = replace(node, port=self.around.first.get(node.memory, 0) + port)
        nodes += tokens(self.around.passing.orders, vertices, timing.slots, draft.lanes, draft.guards)
        where = draft.space
        pipe = Pipe(self.draft.nests.name, where.counters, timing.interval, where.iterations, tuple(nodes))
        return Built(draft, pipe, timing, tuple(self.dependences), self.streamed)


def _node(vertex: Vertex, slot: int, place: tuple[Place, Place] | None, unit: str) -> Node:
    match vertex.what:
        case Access() as access:
            assert place is not None
            bank, address = place
            if access.value is None:
                return Read(access.array, bank, address, vertex.guard, slot)
            return Write(access.array, bank, address, access.value, vertex.guard, slot)
        case Send() as send:
            return Push(send.fifo, send.value, vertex.guard, slot)
        case Receive() as receive:
            return Pop(receive.fifo, vertex.guard)
        case Operate() as operate:
            return replace(operate, slot=slot, unit=unit)
        case Constant() | Position() | Choose() as what:
            return replace(what, slot=slot)


def register(name: str, bits: int) -> Memory:
    """One word."""
    return Memory(name, bits, 1, 1, Storage.REGISTERS)
