"""A circuit as its docstring says it, cycle by cycle, in plain Python: what the RTL is compared with.

And operators for tests, on 32-bit integers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from amaranth.hdl import Module, Signal, Value

from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
    Counter,
    Operate,
    Piece,
    Pipe,
    Place,
    Pop,
    Position,
    Push,
    Read,
    Write,
)
from axiloom.hw.nest.operators import Cost, Operator
from axiloom.hw.nest.operators.operator import Raw

MASK = (1 << 32) - 1
MEANING = {"add": lambda a, b: a + b & MASK, "mul": lambda a, b: a * b & MASK, "xor": lambda a, b: a ^ b}


@dataclass(frozen=True)
class Plain(Operator):
    """add, mul or xor of 32 bits, any latency."""

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        return tuple(range(10))

    @property
    def cost(self) -> Cost:
        return Cost()

    def reference(self, *operands: Raw) -> Raw:
        raise NotImplementedError

    def build(self, m: Module, name: str, *operands: Value) -> Value:
        a, b = operands
        value: Value = {"add": a + b, "mul": a * b, "xor": a ^ b}[self.name][:32]
        for cycle in range(self.latency):
            register = Signal(32, name=f"{name}_{cycle}", reset_less=True)
            m.d.sync += register.eq(value)
            value = register
        return value


def plain(name: str, number: str, result: str, latency: int) -> Operator:
    return Plain(name, number, result, latency)


Point = dict[str, int]


def holds(condition: Condition, at: Point) -> bool:
    return all(form.value(at) >= 0 for form in condition)


def piecewise(pieces: tuple[Piece, ...], at: Point) -> int:
    (value,) = [piece.value.value(at) for piece in pieces if holds(piece.when, at)]
    return value


def place(terms: Place, at: Point) -> int:
    total = 0
    for term in terms:
        value = term.value.value(at) // term.divisor
        total += term.factor * (value % term.modulus if term.modulus else value)
    return total


def points(counters: tuple[Counter, ...], at: Point | None = None) -> Iterator[Point]:
    """The iterations of a pipe, in order."""
    at = at or {}
    if not counters:
        yield at
        return
    first, *rest = counters
    for value in range(piecewise(first.lower, at), piecewise(first.upper, at) + 1):
        yield from points(tuple(rest), {**at, first.name: value})


@dataclass
class _Iteration:
    at: Point
    begin: int
    values: dict[int, int] = field(default_factory=dict)


@dataclass
class Result:
    cycles: int
    memories: dict[str, list[list[int]]]
    outputs: dict[str, list[int]]
    peaks: dict[str, int]


class Simulation:
    """Runs `circuit`; streams never pause. `memories`: (banks, depth) arrays of the external ones."""

    def __init__(self, circuit: Circuit, memories: dict[str, Any], inputs: dict[str, Any]) -> None:
        self.circuit = circuit
        self.memories = {
            each.name: [[int(x) for x in row] for row in memories[each.name]]
            if each.external
            else [[0] * each.depth for _ in range(each.banks)]
            for each in circuit.memories
        }
        self.inputs = {port.fifo: deque(int(x) for x in inputs[port.fifo]) for port in circuit.inputs}
        self.outputs: dict[str, list[int]] = {port.fifo: [] for port in circuit.outputs}
        self.queues = {each.name: deque([0] * each.initial) for each in circuit.fifos}
        self.places = {each.name: each.depth - each.initial for each in circuit.fifos}
        self.peaks = {each.name: each.initial for each in circuit.fifos}

    def run(self, limit: int = 100_000) -> Result:
        waiting = {pipe.name: deque(points(pipe.counters)) for pipe in self.circuit.pipes}
        for pipe in self.circuit.pipes:
            assert len(waiting[pipe.name]) == pipe.iterations, pipe.name
        under_way: dict[str, list[_Iteration]] = {pipe.name: [] for pipe in self.circuit.pipes}
        issued: dict[str, int] = {}
        end = cycle = 0
        while any(waiting.values()) or any(under_way.values()):
            cycle += 1
            assert cycle < limit, "deadlock"
            self.end_of_cycle: list[Any] = []
            for pipe in self.circuit.pipes:
                queue = waiting[pipe.name]
                since = cycle - issued.get(pipe.name, cycle - pipe.interval)
                if queue and since % pipe.interval == 0 and self._can_issue(pipe, queue[0]):
                    under_way[pipe.name].append(_Iteration(queue.popleft(), cycle))
                    self._take(pipe, under_way[pipe.name][-1].at)
                    issued[pipe.name] = cycle
            for pipe in self.circuit.pipes:
                for iteration in under_way[pipe.name]:
                    self._execute(pipe, iteration, cycle - iteration.begin)
                ended = [one for one in under_way[pipe.name] if cycle - one.begin == pipe.last_slot]
                if ended:
                    end = cycle
                    under_way[pipe.name].remove(ended[0])
            self._streams()
            for action in self.end_of_cycle:
                action()
        for name, sent in self.outputs.items():
            sent.extend(self.queues[name])
        return Result(end, self.memories, self.outputs, self.peaks)

    def _can_issue(self, pipe: Pipe, at: Point) -> bool:
        pops = [node.fifo for node in pipe.nodes if isinstance(node, Pop) and holds(node.when, at)]
        pushes = [node.fifo for node in pipe.nodes if isinstance(node, Push) and holds(node.when, at)]
        return all(self.queues[name] for name in pops) and all(self.places[name] for name in pushes)

    def _take(self, pipe: Pipe, at: Point) -> None:
        for node in pipe.nodes:
            if isinstance(node, Push) and holds(node.when, at):
                self._take_place(node.fifo)

    def _take_place(self, name: str) -> None:
        """What is given back in the same cycle is still taken."""
        taken = self.circuit.fifo(name).depth - self.places[name] + 1
        self.peaks[name] = max(self.peaks[name], taken)
        self.end_of_cycle.append(lambda: self._places(name, -1))

    def _places(self, name: str, change: int) -> None:
        self.places[name] += change

    def _pop(self, name: str) -> int:
        """The head; it leaves, and its place is free, at the end of the cycle."""

        def leave() -> None:
            self.queues[name].popleft()
            self._places(name, 1)

        self.end_of_cycle.append(leave)
        return self.queues[name][0]

    def _streams(self) -> None:
        for name, elements in self.inputs.items():
            if elements and self.places[name]:
                x = elements.popleft()
                self._take_place(name)
                self.end_of_cycle.append(lambda name=name, x=x: self.queues[name].append(x))
        for name, sent in self.outputs.items():
            if self.queues[name]:
                sent.append(self._pop(name))

    def _execute(self, pipe: Pipe, iteration: _Iteration, slot: int) -> None:
        at, values = iteration.at, iteration.values
        for index, node in enumerate(pipe.nodes):
            if node.slot != slot:
                continue
            match node:
                case Constant():
                    values[index] = node.value
                case Position():
                    values[index] = node.value.value(at) & (1 << node.bits) - 1
                case Read() if holds(node.when, at):
                    bank, address = place(node.bank, at), place(node.address, at)
                    values[index] = self.memories[node.memory][bank][address]
                case Write() if holds(node.when, at):
                    row = self.memories[node.memory][place(node.bank, at)]
                    address, value = place(node.address, at), values[node.value]
                    self.end_of_cycle.append(
                        lambda row=row, address=address, value=value: row.__setitem__(address, value)
                    )
                case Operate():
                    a, b = (values.get(each, 0) for each in node.operands)
                    values[index] = MEANING[node.operator](a, b)
                case Choose():
                    *guarded, (_, otherwise) = node.options
                    chosen = next((option for when, option in guarded if holds(when, at)), otherwise)
                    values[index] = values.get(chosen, 0)
                case Pop() if holds(node.when, at):
                    values[index] = self._pop(node.fifo)
                case Push() if holds(node.when, at):
                    value = 0 if node.value is None else values[node.value]
                    self.end_of_cycle.append(
                        lambda name=node.fifo, value=value: self.queues[name].append(value)
                    )
                case _:
                    pass


def simulate(circuit: Circuit, memories: dict[str, Any], inputs: dict[str, Any] | None = None) -> Result:
    return Simulation(circuit, memories, inputs or {}).run()


def compare(circuit: Circuit, outcome: Any, expected: Result) -> None:
    """A run of RTL did what the model does, in as many cycles."""
    for each in circuit.memories:
        if each.external:
            found = outcome.memories[each.name]
            assert np.array_equal(found, np.array(expected.memories[each.name], np.uint64)), each.name
    for name, sent in expected.outputs.items():
        assert [int(x) for x in outcome.outputs[name]] == sent, name
    assert outcome.cycles == expected.cycles
