"""Streams of a circuit: memories of which each word is touched once, in order, become FIFOs with ports.

A stream has a bank for each lane of a beat, and a FIFO for each bank. All lanes of a beat are popped, and
pushed, in the same iteration: what fills up a row's last beat comes in and is not used, and goes out as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from axiloom.errors import CompileError
from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Fifo,
    Node,
    Pipe,
    Place,
    Pop,
    Port,
    Push,
    Read,
    Write,
)
from axiloom.nests.lower.banks import layouts
from axiloom.nests.lower.iteration.space import enumerate_points, holds

AHEAD = 2
"""Elements that an input FIFO holds: one a cycle passes."""


def with_ports(circuit: Circuit, inputs: Sequence[str], outputs: Sequence[str]) -> Circuit:
    """`circuit` whose external memories `inputs` and `outputs` are AXI4-Stream ports, one for each lane.

    Several memories of one direction are one stream: elements of several formats. Raises CompileError if
    words are not touched once and in order.
    """
    circuit = _in(circuit, inputs, "s", True)
    return _in(circuit, outputs, "m", False)


def _in(circuit: Circuit, names: Sequence[str], prefix: str, is_input: bool) -> Circuit:
    kind = Read if is_input else Write
    found = [
        (number, pipe)
        for number, pipe in enumerate(circuit.pipes)
        if any(isinstance(node, kind) and node.memory in names for node in pipe.nodes)
    ]
    memory = circuit.memory(names[0])
    if len(found) != 1:
        raise CompileError(
            f"{circuit.name}: {memory.name} is a stream, and {len(found)} pipes use it: one can"
        )
    number, pipe = found[0]
    fifos = [f"{prefix}{lane}" for lane in range(memory.banks)]
    groups = _groups(pipe, names, kind)
    _check_order(circuit, pipe, memory.name, memory.depth, [(place, when) for place, when, _ in groups])
    nodes = list(pipe.nodes)
    last = max((node.slot for node in nodes if isinstance(node, Write)), default=0)
    for _, when, lanes in groups:
        for lane, fifo in enumerate(fifos):
            at = lanes.get(lane)
            if is_input:
                pop = Pop(fifo, when)
                if at is None:
                    nodes.append(pop)
                else:
                    nodes[at] = pop
            else:
                _push(nodes, fifo, when, lanes.get(lane), lanes[0], memory.bits)
    depth = AHEAD if is_input else last + 2
    pipes = tuple(
        replace(pipe, nodes=tuple(nodes)) if i == number else one for i, one in enumerate(circuit.pipes)
    )
    ports = tuple(Port(fifo, memory.depth) for fifo in fifos)
    return replace(
        circuit,
        pipes=pipes,
        memories=tuple(each for each in circuit.memories if each.name not in names),
        fifos=(*circuit.fifos, *(Fifo(fifo, memory.bits, depth) for fifo in fifos)),
        inputs=(*circuit.inputs, *(ports if is_input else ())),
        outputs=(*circuit.outputs, *(() if is_input else ports)),
    )


def _push(nodes: list[Node], fifo: str, when: Condition, at: int | None, first: int, bits: int) -> None:
    """The write number `at` becomes a push, as often as that of the first lane; of 0 where there is none."""
    given = nodes[first]
    assert isinstance(given, Write | Push)
    slot = given.slot
    write = nodes[at] if at is not None else None
    if isinstance(write, Write) and at is not None and write.when == when:
        nodes[at] = Push(fifo, write.value, when, write.slot)
        return
    zero = len(nodes) if at is None else at
    if at is None:
        nodes.append(Constant(0, bits))
        nodes.append(Push(fifo, zero, when, slot))
        return
    assert isinstance(write, Write)
    nodes[at] = Constant(0, bits)
    nodes.append(Choose(((write.when, write.value), ((), zero)), write.slot))
    nodes.append(Push(fifo, len(nodes) - 1, when, write.slot))


def _groups(
    pipe: Pipe, names: Sequence[str], kind: type[Read | Write]
) -> list[tuple[Place, Condition, dict[int, int]]]:
    """The accesses of a beat: its address, when, and for each lane the number of its node. Lane 0 is always
    there, and so says when."""
    found: dict[tuple[str, Place, int], tuple[Condition | None, dict[int, int]]] = {}
    seen: Counter[tuple[str, Place, int]] = Counter()
    for number, node in enumerate(pipe.nodes):
        if not isinstance(node, Read | Write) or not isinstance(node, kind) or node.memory not in names:
            continue
        lane = layouts.constant(node.bank)
        # Of several copies with one form of address each lane's n-th access belongs to the n-th copy.
        copy = seen[node.memory, node.address, lane]
        seen[node.memory, node.address, lane] += 1
        when, lanes = found.setdefault((node.memory, node.address, copy), (None, {}))
        lanes[lane] = number
        found[node.memory, node.address, copy] = (node.when if lane == 0 else when, lanes)
    groups = []
    for (memory, address, _), (when, lanes) in found.items():
        if when is None:
            raise CompileError(f"a beat of {memory} has no first lane in {pipe.name}")
        groups.append((address, when, lanes))
    return groups


def _check_order(
    circuit: Circuit, pipe: Pipe, name: str, depth: int, groups: list[tuple[Place, Condition]]
) -> None:
    """Each word once, in order, at most one an iteration."""
    points = enumerate_points(pipe.counters)
    address = np.full(pipe.iterations, -1, np.int64)
    for place, when in groups:
        where = holds(when, points, pipe.iterations)
        if (address[where] >= 0).any():
            raise CompileError(f"{circuit.name}: an iteration of {pipe.name} touches two beats of {name}")
        address[where] = layouts.values(place, points, pipe.iterations)[where]
    if not np.array_equal(address[address >= 0], np.arange(depth)):
        raise CompileError(f"{circuit.name}: {pipe.name} does not touch the {depth} beats of {name} in order")
