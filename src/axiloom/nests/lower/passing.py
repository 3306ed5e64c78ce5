"""Plans: arrays that pass through FIFOs, and tokens.

Each bank of a stream's array is a FIFO: a lane always writes the same bank, and a lane that reads finds what
it needs always in the same one. All FIFOs of a stream are pushed together, and popped together: a lane that
writes nothing pushes zero. A reader that needs an element in several iterations keeps it in a register.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import (
    Choose,
    Condition,
    Constant,
    Fifo,
    Node,
    Operate,
    Pipe,
    Pop,
    Port,
    Push,
    Write,
)
from axiloom.nests.lower.banks import layouts
from axiloom.nests.lower.banks.layouts import BankLayout, Ranges
from axiloom.nests.lower.iteration.graph import Access, Receive, Send, Vertex
from axiloom.nests.lower.iteration.guards import Guards
from axiloom.nests.lower.iteration.lanes import Lane
from axiloom.nests.poly import sets
from axiloom.nests.schedule import Cyclic
from axiloom.nests.schedule.plan import Edge, Order, Stream


@dataclass(frozen=True)
class Passing:
    """What passes between pipes: streams by array, their layouts and the bits of their elements; tokens."""

    streams: Mapping[str, Stream] = field(default_factory=dict)
    layouts: Mapping[str, BankLayout] = field(default_factory=dict)
    bits: Mapping[str, int] = field(default_factory=dict)
    orders: tuple[Order, ...] = ()

    def fifo(self, array: str, bank: int) -> str:
        return array if self.layouts[array].banks == 1 else f"{array}_{bank}"


@dataclass
class Streamed:
    """Vertices with FIFOs in the place of memory. `held`: layouts of registers that keep elements, and their
    bits. `pushes` and `pops`: how many elements, by FIFO."""

    vertices: list[Vertex] = field(default_factory=list)
    held: dict[str, tuple[BankLayout, int]] = field(default_factory=dict)
    pushes: dict[str, int] = field(default_factory=dict)
    pops: dict[str, int] = field(default_factory=dict)


def streamed(
    vertices: Sequence[Vertex],
    ranges: Ranges,
    guards: Guards,
    lanes: Sequence[Lane],
    numbers: Sequence[int],
    passing: Passing,
) -> Streamed:
    """Of the pipe of nests `numbers`."""
    work = _Streamer(ranges, guards, lanes, passing)
    loaded = {x.what.array for x in vertices if isinstance(x.what, Access) and not x.what.is_store}
    new: list[int] = []
    for vertex in vertices:
        moved = vertex.renamed(new)
        what = moved.what
        stream = passing.streams.get(what.array) if isinstance(what, Access) else None
        if not isinstance(what, Access) or stream is None:
            new.append(work.add(moved))
        elif what.is_store and stream.producer in numbers:
            new.append(work.send(moved, what, stream, what.array in loaded))
        elif not what.is_store and stream.consumer in numbers:
            new.append(work.receive(moved, what, stream))
        else:
            new.append(work.add(moved))
    return work.streamed


def fifos(
    passing: Passing, pipes: Sequence[Streamed]
) -> tuple[tuple[Fifo, ...], tuple[Port, ...], tuple[Port, ...]]:
    """All FIFOs, and those of them that are inputs and outputs. Raises CompileError where not as many
    elements are popped as pushed."""
    pushes = {name: count for pipe in pipes for name, count in pipe.pushes.items()}
    pops = {name: count for pipe in pipes for name, count in pipe.pops.items()}
    queues: list[Fifo] = []
    inputs: list[Port] = []
    outputs: list[Port] = []
    for array, stream in passing.streams.items():
        for bank in range(passing.layouts[array].banks):
            name = passing.fifo(array, bank)
            pushed, popped = pushes.get(name), pops.get(name)
            if pushed is None and popped is None:
                continue
            if popped is None and stream.consumer is not None:
                continue  # nobody needs this lane; its pushes are left out
            queues.append(Fifo(name, passing.bits[array], stream.depth))
            if stream.producer is None and popped is not None:
                inputs.append(Port(name, popped))
            elif stream.consumer is None and pushed is not None:
                outputs.append(Port(name, pushed))
            elif pushed != popped:
                raise CompileError(
                    f"stream {array}: {pushed or 0} elements are pushed into FIFO {name}, "
                    f"{popped or 0} popped"
                )
    queues += [Fifo(order.name, 0, order.depth, order.initial) for order in passing.orders]
    return tuple(queues), tuple(inputs), tuple(outputs)


class _Streamer:
    def __init__(self, ranges: Ranges, guards: Guards, lanes: Sequence[Lane], passing: Passing) -> None:
        self.ranges, self.guards, self.lanes, self.passing = ranges, guards, lanes, passing
        self.streamed = Streamed()

    def add(self, vertex: Vertex) -> int:
        self.streamed.vertices.append(vertex)
        return len(self.streamed.vertices) - 1

    def send(self, vertex: Vertex, what: Access, stream: Stream, again: bool) -> int:
        """A store becomes a push; it stays, too, if the producer reads the array."""
        assert what.value is not None
        if stream.push is not None and stream.push.statement not in vertex.statements:
            return self.add(vertex)
        when = self._entries(stream.push, vertex, what.array, "pushed")
        name = self._fifo(what, self.streamed.pushes, when)
        value = what.value
        if not self.guards.implies(when, vertex.guard):
            bits = self.streamed.vertices[value].bits
            zero = self.add(Vertex(Constant(0, bits), bits, when))
            value = self.add(Vertex(Choose(((vertex.guard, value), ((), zero)), 0), bits, when))
        number = self.add(Vertex(Send(name, value), 0, when, vertex.time, set(vertex.statements)))
        return self.add(vertex) if again else number

    def receive(self, vertex: Vertex, what: Access, stream: Stream) -> int:
        """A load becomes a pop, and a register where iterations without a pop need the element."""
        when = self._entries(stream.pop, vertex, what.array, "popped")
        name = self._fifo(what, self.streamed.pops, when)
        statements = set(vertex.statements)
        popped = self.add(Vertex(Receive(name), vertex.bits, when, vertex.time, statements))
        if self.guards.implies(vertex.guard, when):
            return popped
        kept = f"{name}_held"
        self.streamed.held[kept] = (BankLayout(kept, (), Cyclic(())), vertex.bits)
        old = self.add(Vertex(Access(kept, ()), vertex.bits, vertex.guard, vertex.time, statements))
        self.add(Vertex(Access(kept, (), popped), vertex.bits, when, vertex.time + 0.25, statements))
        choice = Choose(((when, popped), ((), old)), 0)
        return self.add(Vertex(choice, vertex.bits, vertex.guard, vertex.time, statements))

    def _entries(self, edge: Edge | None, vertex: Vertex, array: str, what: str) -> Condition:
        """The iterations that push or pop: in all lanes."""
        names = sorted(vertex.statements) if edge is None else [edge.statement]
        when = edge.when if edge is not None else ()
        executed = conditions([Edge(name, when) for name in names], self.lanes, self.guards)
        if len(executed) != 1:
            raise CompileError(f"stream {array}: it is {what} under {len(executed)} conditions, not one")
        return executed[0]

    def _fifo(self, what: Access, counts: dict[str, int], part: Condition) -> str:
        layout = self.passing.layouts[what.array]
        bank, _ = layout.place(what.forms, self.ranges)
        if not layouts.is_constant(bank):
            raise CompileError(f"stream {what.array}: a lane does not always use the same bank")
        name = self.passing.fifo(what.array, layouts.constant(bank))
        if name in counts:
            raise CompileError(f"stream {what.array}: two lanes use FIFO {name}")
        counts[name] = int(self.guards.points(part).count_val().to_python())
        return name


def conditions(edges: Sequence[Edge], lanes: Sequence[Lane], guards: Guards) -> list[Condition]:
    """Where a statement of `edges` is executed, in any lane: conditions that exclude each other."""
    mine = [(lane, edge) for lane in lanes for edge in edges if lane.statement.name == edge.statement]
    distinct: list[Condition] = []
    for lane, edge in mine:
        when = tuple(form.substitute(lane.member.counters) for form in edge.when)
        guard = guards.both(lane.guard, when)
        if guard is None or any(guards.implies(guard, other) for other in distinct):
            continue
        distinct = [other for other in distinct if not guards.implies(other, guard)]
        distinct.append(guard)
    if len(distinct) < 2:
        return distinct
    union = guards.points(distinct[0])
    for region in distinct[1:]:
        union = union.union(guards.points(region))
    parts = [guards.simple(condition) for condition in sets.conditions(union.coalesce(), guards.names)]
    return [part for part in parts if part is not None]


def tokens(
    orders: Sequence[Order],
    vertices: Sequence[Vertex],
    slots: Sequence[int],
    lanes: Sequence[Lane],
    guards: Guards,
) -> list[Node]:
    """The pushes and pops of tokens by a pipe. A token follows the last access of its statement."""
    names = {lane.statement.name for lane in lanes}
    nodes: list[Node] = []
    for order in orders:
        if order.before.statement in names:
            nodes += [Pop(order.name, when) for when in conditions([order.before], lanes, guards)]
        if order.after.statement in names:
            accesses = [n for n, x in enumerate(vertices) if isinstance(x.what, Access)]
            mine = [n for n in accesses if order.after.statement in vertices[n].statements]
            slot = max((slots[access] for access in mine or accesses), default=0)
            nodes += [Push(order.name, None, when, slot) for when in conditions([order.after], lanes, guards)]
    return nodes


def without_pushes(pipe: Pipe, fifos: Collection[str]) -> Pipe:
    """The pipe with pushes into `fifos` only, and those of tokens."""
    kept = [
        number
        for number, node in enumerate(pipe.nodes)
        if not isinstance(node, Push) or node.value is None or node.fifo in fifos
    ]
    new = {old: number for number, old in enumerate(kept)}
    nodes: list[Node] = []
    for old in kept:
        node = pipe.nodes[old]
        match node:
            case Operate():
                node = replace(node, operands=tuple(new[operand] for operand in node.operands))
            case Choose():
                node = replace(node, options=tuple((when, new[number]) for when, number in node.options))
            case Write() | Push(value=int()):
                assert node.value is not None
                node = replace(node, value=new[node.value])
            case _:
                pass
        nodes.append(node)
    return replace(pipe, nodes=tuple(nodes))
