"""A circuit's control as its docstring has it, once more: by tables of its iterations, beside its RTL.

:func:`bench` puts both under free streams and free data. What is proved of the RTL, in each cycle, however
long the streams wait: each pipe issues when the recurrence says, the iteration that comes next; ports pass
words when it says; FIFOs are neither popped empty nor pushed full, and no check of the RTL ever fails. The
lemmas say which register of the RTL holds what of the recurrence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TypeGuard

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from axiloom.hw.nest.circuit import Circuit, Node, Pipe, Pop, Push
from axiloom.hw.nest.core import Core, input_name, output_name
from axiloom.hw.nest.units import INPUTS, Find
from axiloom.prove.bench import Bench
from axiloom.prove.nest.order import holds, points


class _Known(Core):
    """A core whose registers are known before it stands in a design."""

    def __init__(self, circuit: Circuit, find: Find) -> None:
        super().__init__(circuit, find, checks=True)
        self._made = super().elaborate(None)

    def elaborate(self, platform: object) -> Module:
        return self._made


def bench(circuit: Circuit, find: Find, built: Circuit | None = None) -> tuple[Bench, list[tuple[str, str]]]:
    """The bench, and the Verilog that it needs: operators whose results are anything. The RTL is of `built`,
    if that is another circuit, with the same pipes and ports."""
    bench = Bench()
    bench.reset_first()
    core = _Known(built or circuit, find)
    bench.component("nest", core)
    _Recurrence(bench, core, circuit).build()
    for number, (text, bad) in enumerate(zip(core.checks, core.bad, strict=True)):
        bench.check("", f"check_{number + 1}", ~bad, text)
    modules = []
    for name, (_, operands, bits) in sorted(core.operators.items()):
        ports = "".join(f", input [{width - 1}:0] {INPUTS[i]}" for i, width in enumerate(operands))
        ports += f", output [{bits - 1}:0] y"
        modules.append(f"module {name} (input aclk, input aresetn{ports});\nendmodule\n")
    return bench, [("operators.v", "".join(modules))]


@dataclass
class _Pipe:
    """`number` of the iteration that is next; `wait` cycles to the next that may issue; `rest` cycles to the
    end of the last one; `valid` by slot; `flags` by node: does the iteration in a slot push."""

    pipe: Pipe
    points: list[dict[str, int]]
    number: Signal
    wait: Signal
    begun: Signal
    rest: Signal
    issue: Signal
    valid: list[Value] = field(default_factory=list)
    flags: dict[int, list[Value]] = field(default_factory=dict)

    @property
    def is_over(self) -> Value:
        return self.number >= len(self.points)

    def table(self, bits: Sequence[int]) -> Value:
        """The one of the next iteration."""
        return _looked_up(self.number, bits, 1)

    def any_of(self, kind: type[Pop] | type[Push], fifo: str) -> Value | None:
        """Whether the next iteration pops, or pushes; None if none ever does."""
        nodes = [node for node in self.pipe.nodes if isinstance(node, kind) and node.fifo == fifo]
        if not nodes:
            return None
        return self.table([int(any(holds(node.when, at) for node in nodes)) for at in self.points])


class _Recurrence:
    def __init__(self, bench: Bench, core: Core, circuit: Circuit) -> None:
        self._bench, self._core, self._m = bench, core, bench.m
        self._circuit = circuit
        self._resets: list[tuple[Signal, int]] = []
        self._level = {f.name: self._register(f.depth, f"spec_{f.name}", f.initial) for f in circuit.fifos}
        self._places = {
            f.name: self._register(f.depth, f"spec_{f.name}_free", f.depth - f.initial) for f in circuit.fifos
        }
        self._left = {
            port.fifo: self._register(port.elements, f"spec_{port.fifo}_left")
            for port in (*circuit.inputs, *circuit.outputs)
        }
        self._run = self._register(1, "spec_run")
        self._pipes = [self._pipe(pipe) for pipe in circuit.pipes]

    def _register(self, largest: int, name: str, first: int = 0) -> Signal:
        signal = Signal(range(largest + 1), name=name, init=first)
        self._resets.append((signal, first))
        return signal

    def _pipe(self, pipe: Pipe) -> _Pipe:
        iterations = list(points(pipe))
        name, count = f"spec_{pipe.name}", len(iterations)
        return _Pipe(
            pipe,
            iterations,
            self._register(count, name, count),
            self._register(pipe.interval - 1, f"{name}_wait"),
            self._register(1, f"{name}_begun"),
            self._register(pipe.last_slot, f"{name}_rest"),
            Signal(name=f"{name}_issue"),
        )

    def build(self) -> None:
        m, core = self._m, self._core
        to_send = [self._left[port.fifo] for port in self._circuit.outputs]
        busy = self._run | Cat(*(left != 0 for left in to_send)).any()
        go = Signal(name="spec_go")
        m.d.comb += go.eq(core.start & ~busy)
        for pipe in self._pipes:
            self._issues(pipe, go)
        passes = self._ports(go)
        for fifo in self._circuit.fifos:
            self._fifo(fifo.name, passes)
        with m.If(go):
            m.d.sync += [self._run.eq(1)]
            m.d.sync += [self._level[f.name].eq(f.initial) for f in self._circuit.fifos]
            m.d.sync += [self._places[f.name].eq(f.depth - f.initial) for f in self._circuit.fifos]
        with m.If(self._bench.reset):
            m.d.sync += [signal.eq(first) for signal, first in self._resets]
        self._relate(busy)

    def _issues(self, spec: _Pipe, go: Value) -> None:
        m, pipe, count = self._m, spec.pipe, len(spec.points)
        may = ~spec.is_over & (spec.wait == 0)
        for fifo in self._circuit.fifos:
            for kind, there in ((Pop, self._level), (Push, self._places)):
                if (wants := spec.any_of(kind, fifo.name)) is not None:
                    may = may & (~wants | (there[fifo.name] != 0))
        m.d.comb += spec.issue.eq(may)
        with m.If(spec.issue):
            m.d.sync += [spec.number.eq(spec.number + 1), spec.begun.eq(1)]
        if pipe.interval > 1:
            with m.If(spec.wait != 0):
                m.d.sync += spec.wait.eq(spec.wait - 1)
            with m.Elif(spec.issue | spec.begun):
                m.d.sync += spec.wait.eq(pipe.interval - 1)
        with m.If(spec.rest != 0):
            m.d.sync += spec.rest.eq(spec.rest - 1)
        with m.If(spec.issue & (spec.number == count - 1)):
            m.d.sync += spec.rest.eq(pipe.last_slot)
        with m.If(go):
            m.d.sync += [spec.number.eq(0), spec.begun.eq(0), spec.wait.eq(0)]
        spec.valid = self._line(f"{pipe.name}_valid", spec.issue, pipe.last_slot, resets=True)
        for position, node in enumerate(pipe.nodes):
            if isinstance(node, Push):
                bit = spec.table([int(holds(node.when, at)) for at in spec.points])
                spec.flags[position] = self._line(f"{pipe.name}_{position}", bit, node.slot, resets=False)

    def _line(self, name: str, bit: Value, slots: int, *, resets: bool) -> list[Value]:
        line = [bit]
        for slot in range(1, slots + 1):
            register = Signal(name=f"spec_{name}_{slot}")
            self._m.d.sync += register.eq(line[-1])
            if resets:
                self._resets.append((register, 0))
            line.append(register)
        return line

    def _ports(self, go: Value) -> dict[str, Value]:
        """What passes the ports, by FIFO; and that the RTL passes it."""
        m, core, passes = self._m, self._core, dict[str, Value]()
        for port in self._circuit.inputs:
            stream, left = getattr(core, input_name(port)), self._left[port.fifo]
            ready = self._run & (self._places[port.fifo] != 0) & (left != 0)
            passes[port.fifo] = stream.tvalid & ready
            self._bench.check(port.fifo, "ready", stream.tready == ready, "TREADY as the recurrence has it")
            passed = stream.tvalid & stream.tready
            self._bench.cover(port.fifo, "passes", passed, "an element is taken", needed=True)
        for port in self._circuit.outputs:
            stream, left = getattr(core, output_name(port)), self._left[port.fifo]
            valid = self._level[port.fifo] != 0
            passes[port.fifo] = stream.tready & valid
            self._bench.check(port.fifo, "valid", stream.tvalid == valid, "TVALID as the recurrence has it")
            last = ~stream.tvalid | (stream.tlast == (left == 1))
            self._bench.check(port.fifo, "last", last, "TLAST is on the last element")
        for port in (*self._circuit.inputs, *self._circuit.outputs):
            left = self._left[port.fifo]
            with m.If(passes[port.fifo]):
                m.d.sync += left.eq(left - 1)
            with m.If(go):
                m.d.sync += left.eq(port.elements)
        ends = [
            (pipe.is_over & (pipe.rest <= 1))
            if pipe.pipe.last_slot
            else pipe.is_over | (pipe.issue & (pipe.number == len(pipe.points) - 1))
            for pipe in self._pipes
        ]
        with m.If(Cat(*ends).all()):
            m.d.sync += self._run.eq(0)
        return passes

    def _fifo(self, name: str, passes: Mapping[str, Value]) -> None:
        takes, pushes, pops = [], [], []
        inputs = {port.fifo for port in self._circuit.inputs}
        if name in passes and name in inputs:
            takes.append(passes[name])
            pushes.append(passes[name])
        elif name in passes:
            pops.append(passes[name])
        for pipe in self._pipes:
            if (wants := pipe.any_of(Pop, name)) is not None:
                pops.append(pipe.issue & wants)
            if (wants := pipe.any_of(Push, name)) is not None:
                takes.append(pipe.issue & wants)
            for position, line in pipe.flags.items():
                node = pipe.pipe.nodes[position]
                if _pushes(node, name):
                    pushes.append(pipe.valid[node.slot] & line[node.slot])
        level, places = self._level[name], self._places[name]
        self._m.d.sync += [
            level.eq(level + _sum(pushes) - _sum(pops)),
            places.eq(places + _sum(pops) - _sum(takes)),
        ]

    def _relate(self, busy: Value) -> None:
        core, bench = self._core, self._bench
        for number, pipe in enumerate(self._pipes):
            self._relate_pipe(pipe, core.ended_before[number] if core.ended_before else None)
        for fifo in self._circuit.fifos:
            name, logic = fifo.name, core.fifos[fifo.name]
            level, places = self._level[name], self._places[name]
            bench.lemma(f"level_{name}", logic.level == level, f"{name}: elements")
            bench.lemma(f"places_{name}", logic.places == places, f"{name}: free places")
            whole = level + places + _sum(self._coming(name)) == fifo.depth
            bench.lemma(f"all_{name}", whole, f"{name}: elements, free places, and those under way are all")
        for name, left in self._left.items():
            bench.lemma(f"left_{name}", core.left[name] == left, f"{name}: elements that have yet to pass")
        for port in self._circuit.outputs:
            self._relate_output(port.fifo)
        bench.lemma("run", core.running == self._run, "the run goes on")
        bench.lemma("started", core.started | ~busy, "what has not started is not busy")
        bench.check("", "busy", core.busy == busy, "it is busy until all has been computed and sent")

    def _coming(self, fifo: str) -> list[Value]:
        """Pushes of iterations that were issued."""
        return [
            pipe.valid[slot] & line[slot]
            for pipe in self._pipes
            for position, line in pipe.flags.items()
            if _pushes(pipe.pipe.nodes[position], fifo)
            for slot in range(1, len(line))
        ]

    def _relate_output(self, fifo: str) -> None:
        """What has yet to be sent is in the FIFO, under way, or of iterations to come."""
        total: Value = self._level[fifo] + _sum(self._coming(fifo))
        for pipe in self._pipes:
            nodes = [node for node in pipe.pipe.nodes if _pushes(node, fifo)]
            counts = [sum(holds(node.when, at) for node in nodes) for at in pipe.points]
            rest = [sum(counts[number:]) for number in range(len(counts))]
            if any(rest):
                total = total + _looked_up(pipe.number, rest, max(rest).bit_length())
        self._bench.lemma(f"owed_{fifo}", self._left[fifo] == total, f"{fifo}: what has yet to be sent comes")

    def _relate_pipe(self, spec: _Pipe, before: Signal | None) -> None:
        bench, pipe, logic = self._bench, spec.pipe, self._core.pipes[spec.pipe.name]
        name, over, slots = pipe.name, spec.is_over, pipe.last_slot
        bench.lemma(f"running_{name}", logic.running == ~over, f"{name}: iterations are left")
        same = Const(1, 1)
        for counter, value in logic.counters.items():
            width = len(value)
            raw = [at[counter] & ((1 << width) - 1) for at in spec.points]
            same = same & (value.as_unsigned() == _looked_up(spec.number, raw, width))
        bench.lemma(f"counters_{name}", over | same, f"{name}: its counters are those of the iteration")
        bench.check("", f"iteration_{name}", ~logic.issue | same, f"{name}: the iteration that comes next")
        if pipe.interval > 1:
            assert logic.phase is not None
            phase = Mux(spec.wait == 0, 0, pipe.interval - spec.wait)
            known = (logic.begun == spec.begun) & (logic.phase == phase) & (spec.begun | (spec.wait == 0))
            bench.lemma(f"phase_{name}", known, f"{name}: its phase")
        if slots:
            draining = (logic.draining == (spec.rest != 0)) & (
                (spec.rest == 0) | (logic.left + 1 == spec.rest)
            )
            bench.lemma(f"rest_{name}", draining & ((spec.rest == 0) | over), f"{name}: cycles to its end")
            bench.lemma(f"slots_{name}", Cat(*logic.valid[1:]) == Cat(*spec.valid[1:]), f"{name}: full slots")
            late = [~bit | ~over | (spec.rest + slot > slots) for slot, bit in enumerate(spec.valid) if slot]
            bench.lemma(f"late_{name}", Cat(*late).all(), f"{name}: full slots are before its end")
        for position, line in spec.flags.items():
            node = pipe.nodes[position]
            assert isinstance(node, Push)
            if len(line) > 1:
                equal = [
                    ~spec.valid[slot] | (logic.waits(node, slot) == line[slot])
                    for slot in range(1, len(line))
                ]
                bench.lemma(f"pushes_{name}_{position}", Cat(*equal).all(), f"{name}: who pushes {node.fifo}")
        if before is not None:
            ended = over & (spec.rest == 0)
            bench.lemma(f"ended_{name}", ~self._run | (before == ended), f"{name}: it has ended")
        rest = over & (spec.rest == 0)
        bench.lemma(f"quiet_{name}", self._run | rest, f"{name}: nothing is under way without a run")
        bench.check(
            "", f"issue_{name}", logic.issue == spec.issue, f"{name}: it issues as the recurrence says"
        )


def _pushes(node: Node, fifo: str) -> TypeGuard[Push]:
    return isinstance(node, Push) and node.fifo == fifo


def _sum(bits: Sequence[Value]) -> Value:
    return reduce(add, bits) if bits else Const(0, 1)


def _looked_up(index: Value, values: Sequence[int], width: int) -> Value:
    """``values[index]``; 0 beyond."""
    packed = sum(value << width * position for position, value in enumerate(values))
    return Const(packed, max(width * len(values), 1)).word_select(index, width)
