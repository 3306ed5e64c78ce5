"""Streams of a circuit: memories of which each word is touched once, in order, become FIFOs with ports.

A stream has a bank for each lane of a beat, and a FIFO for each bank. All lanes of a beat are popped, and
pushed, in the same iteration: what fills up a row's last beat comes in and is not used, and goes out as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from axiloom.base.errors import CompileError
from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Fifo,
    Node,
    Operate,
    Pipe,
    Place,
    Pop,
    Port,
    Push,
    Read,
    Write,
)
from axiloom.hw.nest.operators.lanes import JOIN, LANE
from axiloom.nests.lower.banks import layouts
from axiloom.nests.lower.iteration.space import enumerate_points, holds

AHEAD = 2
"""Elements that an input FIFO holds: one a cycle passes."""


def with_ports(circuit: Circuit, inputs: Sequence[str], outputs: Sequence[str]) -> Circuit:
    """`circuit` whose external memories `inputs` and `outputs` are AXI4-Stream ports, one for each lane.

    Several memories of one direction are one stream: elements of several formats. A lane has the bits of the
    shortest; longer ones take some lanes. Raises CompileError if words are not touched once and in order.
    """
    circuit = _in(circuit, inputs, "s", True)
    return _in(circuit, outputs, "m", False)


def _in(circuit: Circuit, names: Sequence[str], prefix: str, is_input: bool) -> Circuit:
    kind = Read if is_input else Write
    users = [
        (number, pipe)
        for number, pipe in enumerate(circuit.pipes)
        if any(isinstance(node, kind) and node.memory in names for node in pipe.nodes)
    ]
    memory = min((circuit.memory(name) for name in names), key=lambda memory: memory.bits)
    if len(users) != 1:
        raise CompileError(
            f"{circuit.name}: {memory.name} is a stream, and {len(users)} pipes use it: one can"
        )
    number, pipe = users[0]
    fifos = [f"{prefix}{lane}" for lane in range(memory.banks)]
    beats = _beats(pipe, names, kind)
    _check_order(circuit, pipe, memory.name, memory.depth, beats)
    last = max((node.slot for node in pipe.nodes if isinstance(node, Write)), default=0)
    nodes = (_popped if is_input else _pushed)(circuit, pipe.nodes, beats, fifos, memory.bits)
    depth = AHEAD if is_input else last + 2
    pipes = tuple(
        replace(pipe, nodes=tuple(nodes)) if i == number else other for i, other in enumerate(circuit.pipes)
    )
    ports = tuple(Port(fifo, memory.depth) for fifo in fifos)
    return replace(
        circuit,
        pipes=pipes,
        memories=tuple(memory for memory in circuit.memories if memory.name not in names),
        fifos=(*circuit.fifos, *(Fifo(fifo, memory.bits, depth) for fifo in fifos)),
        inputs=(*circuit.inputs, *(ports if is_input else ())),
        outputs=(*circuit.outputs, *(() if is_input else ports)),
    )


@dataclass(frozen=True)
class _Beat:
    """Accesses to a beat of `memory`: its address, when, the first lane's slot, and for each lane the number
    of its node. Lane 0 is always there, and so says when."""

    memory: str
    address: Place
    when: Condition
    slot: int
    lanes: dict[int, int]


def _popped(
    circuit: Circuit, before: Sequence[Node], beats: Sequence[_Beat], fifos: Sequence[str], bits: int
) -> list[Node]:
    """Reads become pops, or what joins several: those come before all other nodes."""
    first: list[Node] = []
    nodes = list(before)
    joins: dict[int, Operate] = {}
    for beat in beats:
        size = circuit.memory(beat.memory).bits
        share = size // bits
        for lane in range(len(fifos) // share):
            pops = [Pop(fifo, beat.when) for fifo in fifos[lane * share : (lane + 1) * share]]
            at = beat.lanes.get(lane)
            if at is None:
                nodes += pops
            elif share == 1:
                nodes[at] = pops[0]
            else:
                operands = tuple(range(len(first), len(first) + share))
                first += pops
                joins[at] = Operate(JOIN, f"uint{bits}", f"uint{size}", operands, 0, 0)
    moved = [_later(node, len(first)) for node in nodes]
    for at, join in joins.items():
        moved[at] = join
    return first + moved


def _later(node: Node, count: int) -> Node:
    """`node` where `count` nodes have come before all that there were."""
    match node:
        case Operate():
            return replace(node, operands=tuple(operand + count for operand in node.operands))
        case Choose():
            return replace(node, options=tuple((when, place + count) for when, place in node.options))
        case Write():
            return replace(node, value=node.value + count)
        case Push() if node.value is not None:
            return replace(node, value=node.value + count)
    return node


def _pushed(
    circuit: Circuit, before: Sequence[Node], beats: Sequence[_Beat], fifos: Sequence[str], bits: int
) -> list[Node]:
    """Writes become pushes, as often as that of the first lane; of 0 where there is none."""
    nodes = list(before)
    for beat in beats:
        size = circuit.memory(beat.memory).bits
        share = size // bits
        for lane in range(len(fifos) // share):
            some = fifos[lane * share : (lane + 1) * share]
            at = beat.lanes.get(lane)
            write = before[at] if at is not None else None
            if at is not None and isinstance(write, Write) and share == 1 and write.when == beat.when:
                nodes[at] = Push(some[0], write.value, beat.when, write.slot)
                continue
            value, slot = len(nodes) if at is None else at, beat.slot
            nodes[value : value + 1] = [Constant(0, size)]
            if isinstance(write, Write) and write.when == beat.when:
                value, slot = write.value, write.slot
            elif isinstance(write, Write):
                slot = write.slot
                nodes.append(Choose(((write.when, write.value), ((), value)), slot))
                value = len(nodes) - 1
            for place, fifo in enumerate(some):
                if share > 1:
                    nodes.append(Operate(f"{LANE}{place}", f"uint{size}", f"uint{bits}", (value,), 0, slot))
                nodes.append(Push(fifo, len(nodes) - 1 if share > 1 else value, beat.when, slot))
    return nodes


def _beats(pipe: Pipe, names: Sequence[str], kind: type[Read | Write]) -> list[_Beat]:
    seen: Counter[tuple[str, Place, int]] = Counter()
    lanes_of: dict[tuple[str, Place, int], dict[int, int]] = {}
    for number, node in enumerate(pipe.nodes):
        if not isinstance(node, Read | Write) or not isinstance(node, kind) or node.memory not in names:
            continue
        lane = layouts.constant(node.bank)
        # Of several copies with one form of address each lane's n-th access belongs to the n-th copy.
        copy = seen[node.memory, node.address, lane]
        seen[node.memory, node.address, lane] += 1
        lanes_of.setdefault((node.memory, node.address, copy), {})[lane] = number
    beats = []
    for (memory, address, _), lanes in lanes_of.items():
        if 0 not in lanes:
            raise CompileError(f"a beat of {memory} has no first lane in {pipe.name}")
        first = pipe.nodes[lanes[0]]
        assert isinstance(first, Read | Write)
        beats.append(_Beat(memory, address, first.when, first.slot, lanes))
    return beats


def _check_order(circuit: Circuit, pipe: Pipe, name: str, depth: int, beats: Sequence[_Beat]) -> None:
    """Each word once, in order, at most one an iteration."""
    points = enumerate_points(pipe.counters)
    address = np.full(pipe.iterations, -1, np.int64)
    for beat in beats:
        where = holds(beat.when, points, pipe.iterations)
        if (address[where] >= 0).any():
            raise CompileError(f"{circuit.name}: an iteration of {pipe.name} touches two beats of {name}")
        address[where] = layouts.values(beat.address, points, pipe.iterations)[where]
    if not np.array_equal(address[address >= 0], np.arange(depth)):
        raise CompileError(f"{circuit.name}: {pipe.name} does not touch the {depth} beats of {name} in order")
