"""`execute`: what a circuit computes, in Python, cycle by cycle as ``hw/nest/circuit.py`` says.

For small circuits: a node takes some microseconds. It knows nothing of ``solver.py``: each cycle it asks each
pipe whether it can issue, so that one is a test of the other. What RTL would do wrong silently (two writes to
a bank, a value used before it is there) is an error here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Fifo,
    Memory,
    Node,
    Operate,
    Pipe,
    Place,
    Pop,
    Position,
    Push,
    Read,
    Write,
)
from axiloom.nests.timing.events import Rate
from axiloom.nests.timing.iterations import points

Words = npt.NDArray[Any]
"""Unsigned numbers of 64 bits, or Python's of any size, as objects."""
Operation = Callable[[Operate, Sequence[int]], int]
"""The raw result of a node for raw operands."""

PATIENCE = 300
"""Cycles without an event after which a run is taken for one that never ends, besides the longest slot."""


class ExecutionError(AssertionError):
    """The circuit breaks a rule of its own semantics; the message says which, where and when."""


@dataclass(frozen=True)
class Run:
    """`memories` at the end, (banks, depth) each; `outputs` by FIFO; the largest number of places taken in
    each FIFO; issue times by pipe; `cycles` as the circuit's docstring defines them."""

    memories: Mapping[str, Words]
    outputs: Mapping[str, list[int]]
    largest: Mapping[str, int]
    issues: Mapping[str, list[int]]
    cycles: int


def execute(
    circuit: Circuit,
    memories: Mapping[str, Words],
    operation: Operation,
    inputs: Mapping[str, Sequence[int]] | None = None,
    rates: Mapping[str, Rate] | None = None,
) -> Run:
    """Runs `circuit` to its end. `memories` are the contents at the start, raw elements of shape (banks,
    depth), as objects if they have more than 64 bits; those not given hold zeros. `inputs` are the words of
    external streams by FIFO.

    Raises ExecutionError if the circuit breaks a rule or never ends.
    """
    machine = _Machine(circuit, memories, operation)
    rates = rates or {}
    sources = [
        _Source(
            list((inputs or {})[port.fifo]), rates.get(port.fifo, Rate()).arrivals(port.elements).tolist()
        )
        for port in circuit.inputs
    ]
    sinks = [rates.get(port.fifo, Rate()).arrivals(port.elements).tolist() for port in circuit.outputs]
    outputs: dict[str, list[int]] = {port.fifo: [] for port in circuit.outputs}
    cycle, idle = 0, 0
    longest = max((pipe.last_slot + pipe.interval for pipe in circuit.pipes), default=0)
    slowest = max((sink[-1] for sink in sinks if sink), default=0)
    while (
        machine.busy()
        or any(source.arrivals for source in sources)
        or any(len(outputs[port.fifo]) < port.elements for port in circuit.outputs)
    ):
        cycle += 1
        moved = machine.issue(cycle)
        for port, source in zip(circuit.inputs, sources, strict=True):
            if source.words and cycle >= source.arrivals[0] and machine.queues[port.fifo].has_place:
                machine.queues[port.fifo].take()
                machine.pushed.append((port.fifo, source.words.pop(0)))
                source.arrivals.pop(0)
                moved = True
        machine.step(cycle)
        for port, asked in zip(circuit.outputs, sinks, strict=True):
            count = len(outputs[port.fifo])
            if count < port.elements and cycle >= asked[count] and machine.queues[port.fifo].elements:
                outputs[port.fifo].append(machine.queues[port.fifo].pop())
                moved = True
        machine.end_cycle()
        idle = 0 if moved else idle + 1
        if idle > PATIENCE + longest and cycle > slowest:
            raise ExecutionError(f"nothing has happened for {idle} cycles, and the circuit has not ended")
    largest = {name: queue.largest for name, queue in machine.queues.items()}
    issues = {line.pipe.name: line.issued for line in machine.lines}
    return Run(machine.contents, outputs, largest, issues, machine.last)


@dataclass
class _Source:
    words: list[int]
    arrivals: list[int]


@dataclass
class _Queue:
    """A FIFO. What changes its state in a cycle counts from the next one."""

    fifo: Fifo
    elements: deque[int] = field(default_factory=deque)
    taken: int = 0
    freed: int = 0
    largest: int = 0

    @property
    def has_place(self) -> bool:
        return self.taken < self.fifo.depth

    def take(self) -> None:
        self.taken += 1
        self.largest = max(self.largest, self.taken)

    def pop(self) -> int:
        self.freed += 1
        return self.elements.popleft()

    def end_cycle(self) -> None:
        self.taken -= self.freed
        self.freed = 0


@dataclass
class _Flight:
    """An iteration that was issued in cycle `begin`, and the values of its nodes so far: None for a read or
    a pop that was not executed, and for what comes of one."""

    begin: int
    at: Mapping[str, int]
    values: list[int | None]


@dataclass
class _Line:
    """A pipe under way."""

    pipe: Pipe
    points: list[dict[str, int]]
    flights: list[_Flight] = field(default_factory=list)
    issued: list[int] = field(default_factory=list)


class _Machine:
    def __init__(self, circuit: Circuit, memories: Mapping[str, Words], operation: Operation) -> None:
        self.operation = operation
        self.memories = {memory.name: memory for memory in circuit.memories}
        self.contents = {
            memory.name: _copied(memories.get(memory.name, np.zeros((memory.banks, memory.depth))))
            for memory in circuit.memories
        }
        for name, content in self.contents.items():
            memory = self.memories[name]
            if content.shape != (memory.banks, memory.depth):
                raise ExecutionError(f"memory {name} is {(memory.banks, memory.depth)}, not {content.shape}")
        self.queues = {fifo.name: _Queue(fifo) for fifo in circuit.fifos}
        for queue in self.queues.values():
            queue.elements.extend([0] * queue.fifo.initial)
            queue.taken = queue.largest = queue.fifo.initial
        self.lines = [_Line(pipe, _points(pipe)) for pipe in circuit.pipes]
        self.pushed: list[tuple[str, int]] = []
        self.writes: dict[tuple[str, int], tuple[int, int]] = {}
        self.reads: dict[tuple[str, int], set[int]] = {}
        self.units: set[tuple[str, str]] = set()
        self.last = 0

    def busy(self) -> bool:
        return any(line.points or line.flights for line in self.lines)

    def issue(self, cycle: int) -> bool:
        """Issues of this cycle, from the state at its start; whether there was any."""
        ready = [line for line in self.lines if self._can_issue(line, cycle)]
        for line in ready:
            at = line.points.pop(0)
            for node in line.pipe.nodes:
                if isinstance(node, Push) and _holds(node.when, at):
                    self.queues[node.fifo].take()
            line.flights.append(_Flight(cycle, at, [None] * len(line.pipe.nodes)))
            line.issued.append(cycle)
        return bool(ready)

    def _can_issue(self, line: _Line, cycle: int) -> bool:
        if not line.points or (line.issued and (cycle - line.issued[-1]) % line.pipe.interval):
            return False
        at = line.points[0]
        for node in line.pipe.nodes:
            if isinstance(node, Pop) and _holds(node.when, at) and not self.queues[node.fifo].elements:
                return False
            if isinstance(node, Push) and _holds(node.when, at) and not self.queues[node.fifo].has_place:
                return False
        return True

    def step(self, cycle: int) -> None:
        """All nodes of this cycle. Writes and pushes are kept until its end."""
        for line in self.lines:
            for flight in line.flights:
                for number, node in enumerate(line.pipe.nodes):
                    if node.slot == cycle - flight.begin:
                        try:
                            flight.values[number] = self._node(line.pipe, node, flight, cycle)
                        except ExecutionError as error:
                            where = (
                                f"pipe {line.pipe.name}, node {number}, at {dict(flight.at)}, cycle {cycle}"
                            )
                            raise ExecutionError(f"{where}: {error}") from None
            last = line.pipe.last_slot
            if any(flight.begin + last == cycle for flight in line.flights):
                self.last = cycle
            line.flights = [flight for flight in line.flights if flight.begin + last > cycle]

    def _node(self, pipe: Pipe, node: Node, flight: _Flight, cycle: int) -> int | None:
        at = flight.at

        def value(operand: int) -> int | None:
            source = pipe.nodes[operand]
            there = source.slot + self._latency(source)
            if there > node.slot:
                raise ExecutionError(f"uses node {operand} in slot {node.slot}; it is there in slot {there}")
            return flight.values[operand]

        def known(operand: int) -> int:
            result = value(operand)
            if result is None:
                raise ExecutionError(f"keeps node {operand}, which comes from a read that was not executed")
            return result

        match node:
            case Constant():
                return node.value
            case Position():
                return node.value.value(at) % (1 << node.bits)
            case Operate():
                if (pipe.name, node.unit) in self.units:
                    raise ExecutionError(f"unit {node.unit} is taken already")
                if node.unit:
                    self.units.add((pipe.name, node.unit))
                operands = [value(operand) for operand in node.operands]
                defined = [operand for operand in operands if operand is not None]
                return self.operation(node, defined) if len(defined) == len(operands) else None
            case Choose():
                for condition, option in node.options:
                    if _holds(condition, at):
                        return value(option)
                return value(node.options[-1][1])
            case Read():
                return self._read(node, at) if _holds(node.when, at) else None
            case Write():
                if _holds(node.when, at):
                    self._write(node, at, known(node.value))
            case Pop():
                if _holds(node.when, at):
                    return self.queues[node.fifo].pop()
            case Push():
                if _holds(node.when, at):
                    self.pushed.append((node.fifo, 0 if node.value is None else known(node.value)))
        return None

    def _latency(self, node: Node) -> int:
        if isinstance(node, Operate):
            return node.latency
        return self.memories[node.memory].latency if isinstance(node, Read) else 0

    def _read(self, node: Read, at: Mapping[str, int]) -> int:
        memory = self.memories[node.memory]
        bank, address = self._place(memory, node.bank, node.address, at)
        addresses = self.reads.setdefault((memory.name, bank), set())
        addresses.add(address)
        if len(addresses) > memory.ports:
            raise ExecutionError(
                f"{len(addresses)} reads of bank {bank} of {memory.name}; {memory.ports} may"
            )
        return int(self.contents[memory.name][bank, address])

    def _write(self, node: Write, at: Mapping[str, int], value: int) -> None:
        memory = self.memories[node.memory]
        bank, address = self._place(memory, node.bank, node.address, at)
        if (memory.name, bank) in self.writes:
            raise ExecutionError(f"two writes to bank {bank} of {memory.name}")
        self.writes[memory.name, bank] = (address, value)

    def _place(self, memory: Memory, bank: Place, address: Place, at: Mapping[str, int]) -> tuple[int, int]:
        b, a = _sum(bank, at), _sum(address, at)
        if not (0 <= b < memory.banks and 0 <= a < memory.depth):
            raise ExecutionError(f"address {a} of bank {b} is outside of {memory.name}")
        return b, a

    def end_cycle(self) -> None:
        for (memory, bank), (address, value) in self.writes.items():
            self.contents[memory][bank, address] = value
        for fifo, value in self.pushed:
            self.queues[fifo].elements.append(value)
        for queue in self.queues.values():
            queue.end_cycle()
        self.pushed, self.writes, self.reads, self.units = [], {}, {}, set()


def _copied(words: Words) -> Words:
    return np.array(words, object if words.dtype == object else np.uint64)


def _points(pipe: Pipe) -> list[dict[str, int]]:
    rows: list[dict[str, int]] = []
    for part in points(pipe):
        names, values = list(part), [column.tolist() for column in part.values()]
        rows += [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    return rows if pipe.counters else [{}]


def _holds(condition: Condition, at: Mapping[str, int]) -> bool:
    return all(form.value(at) >= 0 for form in condition)


def _sum(place: Place, at: Mapping[str, int]) -> int:
    total = 0
    for term in place:
        value = term.value.value(at)
        if value < 0 and (term.divisor != 1 or term.modulus):
            raise ExecutionError(f"{term.value} is {value} where it is divided")
        value //= term.divisor
        total += term.factor * (value % term.modulus if term.modulus else value)
    return total
