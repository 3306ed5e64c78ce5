"""A pipe: what issues its iterations, and what its nodes do in their slots.

An iteration waits whole intervals. If a pipe of interval 2 were issued a cycle late, its slots would meet
ports and units in another phase than they were chosen for.
"""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Const, Module, Signal, Value

from axiloom.hw.nest.access import Access
from axiloom.hw.nest.circuit import (
    Choose,
    Circuit,
    Condition,
    Constant,
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
from axiloom.hw.nest.counters import Counters
from axiloom.hw.nest.delays import Delays
from axiloom.hw.nest.fifo import FifoLogic
from axiloom.hw.nest.forms import place_values, plain, varying
from axiloom.hw.nest.memory import MemoryLogic
from axiloom.hw.nest.requests import Beat, Request
from axiloom.hw.nest.rotation import turns
from axiloom.hw.nest.units import Units


class PipeLogic:
    """`ended` is high in the cycle in which the last slot of the last iteration is executed.

    `start`: the run begins in the next cycle. For proofs: `issue`; `running`, until the last issue;
    `counters` by name; `phase` and `begun`, where the interval is more than 1; `valid` by slot; `draining`
    and `left`, cycles to the end less 1, where the last slot is not 0.
    """

    def __init__(
        self,
        m: Module,
        circuit: Circuit,
        pipe: Pipe,
        memories: Mapping[str, MemoryLogic],
        fifos: Mapping[str, FifoLogic],
        units: Units,
        start: Value,
    ) -> None:
        self._m, self._circuit, self._pipe, self._name = m, circuit, pipe, plain(pipe.name)
        self._memories, self._fifos, self._units = memories, fifos, units
        self._delays = Delays(m)
        self.ended = Signal(name=f"{self._name}_ended")
        self.issue = Signal(name=f"{self._name}_issue")
        counters = Counters(m, self._name, pipe.counters, start, self.issue)
        self._forms, self._ranges, self.counters = counters.forms, counters.ranges, counters.values
        self.running, self.begun = Signal(name=f"{self._name}_running"), Signal(name=f"{self._name}_begun")
        self.draining = Signal(name=f"{self._name}_draining")
        self.left = Signal(range(max(pipe.last_slot, 1)), name=f"{self._name}_left")
        phase = self.phase = self._issues(start, counters.ended)
        self._beat = Beat(pipe.name, pipe.interval, phase)
        self.valid = self._valid_chain()
        self._turns = turns(circuit, pipe)
        self._guards: dict[object, Value] = {}
        self._accesses: dict[object, tuple[Value, list[Value]]] = {}
        self._values: list[tuple[Value, int]] = []
        """For each node its value, and the slot from which on it is there."""
        for index, node in enumerate(pipe.nodes):
            self._values.append(self._node(index, node))

    def _issues(self, start: Value, last: Value) -> Value | None:
        """Drives issue and `ended`; returns the phase."""
        m, name, pipe = self._m, self._name, self._pipe
        running, begun = self.running, self.begun
        go: Value = running
        phase = None
        if pipe.interval > 1:
            phase = Signal(range(pipe.interval), name=f"{name}_phase")
            go = go & (phase == 0)
            with m.If(self.issue | begun):
                wraps = phase == pipe.interval - 1
                m.d.sync += [begun.eq(1), phase.eq(phase + 1)]
                with m.If(wraps):
                    m.d.sync += phase.eq(0)
            with m.If(start):
                m.d.sync += [begun.eq(0), phase.eq(0)]
        for fifo, conditions in self._ends(Pop).items():
            popped = self._any_holds(conditions)
            go = go & (self._fifos[fifo].filled | ~popped)
            self._fifos[fifo].pop(self.issue & popped)
        for fifo, conditions in self._ends(Push).items():
            taken = self._any_holds(conditions)
            go = go & (self._fifos[fifo].free | ~taken)
            self._fifos[fifo].take(self.issue & taken)
        m.d.comb += self.issue.eq(go)
        with m.If(self.issue & last):
            m.d.sync += running.eq(0)
        with m.If(start):
            m.d.sync += running.eq(1)
        self._ends_after(self.issue & last, pipe.last_slot)
        return phase

    def _ends_after(self, last: Value, slot: int) -> None:
        m, left, draining = self._m, self.left, self.draining
        if slot == 0:
            m.d.comb += self.ended.eq(last)
            return
        m.d.comb += self.ended.eq(draining & (left == 0))
        m.d.sync += left.eq(left - 1)
        with m.If(self.ended):
            m.d.sync += draining.eq(0)
        with m.If(last):
            m.d.sync += [draining.eq(1), left.eq(slot - 1)]

    def _ends(self, kind: type[Pop] | type[Push]) -> dict[str, list[Condition]]:
        """The conditions of this pipe's nodes of `kind`, by FIFO."""
        conditions: dict[str, list[Condition]] = {}
        for node in self._pipe.nodes:
            if isinstance(node, kind):
                conditions.setdefault(node.fifo, []).append(node.when)
        return conditions

    def waits(self, node: Push, slot: int) -> Value:
        """Whether the iteration in `slot`, if there is one, has yet to push what `node` does."""
        return self._holds(node.when, slot)

    def _any_holds(self, conditions: list[Condition]) -> Value:
        total: Value = Const(0, 1)
        for condition in dict.fromkeys(conditions):
            bit = self._forms.holds(condition)
            if isinstance(bit, Const) and bit.value:
                return bit
            total = total | bit
        return total

    def _valid_chain(self) -> list[Value]:
        """High where a slot of some iteration is executed. With reset: nothing of a run is left after it."""
        chain: list[Value] = [self.issue]
        for slot in range(1, self._pipe.last_slot + 1):
            register = Signal(name=f"{self._name}_valid_{slot}")
            self._m.d.sync += register.eq(chain[-1])
            chain.append(register)
        return chain

    def _later(self, kind: str, value: Value, slots: int) -> Value:
        """`value`, which is there in slot 0, `slots` later."""
        name = value.name if isinstance(value, Signal) else f"{self._name}_{kind}"
        return self._delays.after((kind, id(value)), f"{name}_at", value, slots)

    def _holds(self, condition: Condition, slot: int) -> Value:
        """`condition` of the iteration that is in `slot`."""
        bit = self._forms.holds(condition)
        return self._later("when", bit, slot)

    def _active(self, condition: Condition, slot: int) -> Value:
        key = (tuple(sorted(condition, key=str)), slot)
        if key not in self._guards:
            bit = self._holds(condition, slot)
            if isinstance(bit, Const) and bit.value:
                self._guards[key] = self.valid[slot]
            else:
                signal = Signal(name=f"{self._name}_do_{len(self._guards)}_{slot}")
                self._m.d.comb += signal.eq(self.valid[slot] & bit)
                self._guards[key] = signal
        return self._guards[key]

    def _placed(self, place: Place, slot: int) -> Value:
        return self._later("place", self._forms.place(place), slot)

    def _value(self, index: int, slot: int) -> Value:
        value, there = self._values[index]
        if slot < there and not isinstance(value, Const):
            raise ValueError(
                f"pipe {self._pipe.name}: node {index} is there in slot {there}, used in slot {slot}"
            )
        # Nodes that share an operator share the line behind it.
        key = ("node", id(value))
        return self._delays.after(key, f"{self._name}_n{index}_at", value, max(0, slot - there))

    def _node(self, index: int, node: Node) -> tuple[Value, int]:
        name = f"{self._name}_n{index}"
        match node:
            case Constant():
                return Const(node.value, node.bits), 0
            case Position():
                value = self._forms.form(node.value)
                if isinstance(value, Const):
                    return Const(value.value, node.bits), 0
                position = Signal(node.bits, name=name)
                self._m.d.comb += position.eq(value)
                return position, 0
            case Read():
                return self._read(index, node, name)
            case Write():
                self._write(index, node, name)
                return Const(0, 1), node.slot
            case Operate():
                operands = [self._value(operand, node.slot) for operand in node.operands]
                beat, valid = self._beat, self.valid[node.slot]
                request = Request(beat, node.slot, (), valid, tuple(operands))
                return self._units.operate(node, name, request), node.slot + node.latency
            case Choose():
                return self._choose(node, name), node.slot
            case Pop():
                return self._fifos[node.fifo].head, 0
            case Push():
                value = None if node.value is None else self._value(node.value, node.slot)
                self._fifos[node.fifo].push(self._active(node.when, node.slot), value)
                return Const(0, 1), node.slot

    def _access(self, index: int, node: Read | Write, name: str, values: tuple[Value, ...]) -> Access:
        memory, turn = self._circuit.memory(node.memory), self._turns.get(index)
        latency, port = (memory.latency, node.port) if isinstance(node, Read) else (0, None)
        active = self._active(node.when, node.slot)
        request = Request(self._beat, node.slot, node.when, active, values, port)
        if turn is not None:
            by, there = self._placed(turn.place, node.slot), self._placed(turn.place, node.slot + latency)
            return Access(request, turn.banks, by, name, there, turn=turn)
        banks = sorted(place_values(node.bank, self._ranges) & {*range(memory.banks)})
        bank, beside = varying(node.bank, self._ranges)
        then = node.slot + (latency if len(banks) > 1 else 0)
        placed = self._placed(bank, node.slot), self._placed(bank, then)
        return Access(request, tuple(banks), placed[0], name, placed[1], beside)

    def _read(self, index: int, node: Read, name: str) -> tuple[Value, int]:
        """Equal reads are one."""
        there = node.slot + self._circuit.memory(node.memory).latency
        key = (node.memory, node.bank, node.address, node.when, node.slot)
        if key not in self._accesses:
            access = self._access(index, node, name, (self._placed(node.address, node.slot),))
            self._accesses[key] = self._memories[node.memory].read(access), []
        return self._accesses[key][0], there

    def _write(self, index: int, node: Write, name: str) -> None:
        values = (self._placed(node.address, node.slot), self._value(node.value, node.slot))
        self._memories[node.memory].write(self._access(index, node, name, values))

    def _choose(self, node: Choose, name: str) -> Value:
        m = self._m
        # All values first: the registers of their delays must not stand under an If.
        options = [
            (self._holds(when, node.slot), self._value(option, node.slot)) for when, option in node.options
        ]
        chosen = Signal(max(len(value) for _, value in options), name=name)
        m.d.comb += chosen.eq(options[-1][1])
        for bit, value in reversed(options[:-1]):
            with m.If(bit):
                m.d.comb += chosen.eq(value)
        return chosen
