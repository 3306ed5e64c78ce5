"""`Core`: the RTL of a circuit."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.nest.checks import CHECK_BITS, Checks
from axiloom.hw.nest.circuit import Circuit, Fifo, Memory, Port, Read, Write
from axiloom.hw.nest.fifo import FifoLogic
from axiloom.hw.nest.forms import plain
from axiloom.hw.nest.memory import BankPorts, MemoryLogic, external_ports
from axiloom.hw.nest.pipe import PipeLogic
from axiloom.hw.nest.units import Built, Find, Units

CYCLE_BITS = 48


def stream_bits(bits: int) -> int:
    """Width of the AXI4-Stream port of a FIFO: `bits`, from 8 on, as a power of two."""
    return max(8, 1 << (bits - 1).bit_length())


class Core(wiring.Component):
    """A circuit in domain ``sync``.

    ``start`` (while not ``busy``) begins a run in the next cycle. ``done`` is high from the end of the run,
    with all outputs sent, to the next start. ``cycles`` are those of the run, as :mod:`circuit` counts them.
    Banks of external memories have ports as :func:`external_ports` names them; FIFOs that are ports are
    ``s_axis_NAME`` and ``m_axis_NAME``, an element a beat.

    With `checks`, ``debug_error`` is the number of the first of :attr:`checks` that failed (from 1 on), or 0,
    and ``debug_peak_NAME`` the most places of a FIFO that were taken at once in a run.
    Operators are instances of the modules in :attr:`operators`. Both are known once the core is elaborated,
    and so are the registers that proofs look at: `pipes`, `fifos`, `running`, `started`, `ended_before`,
    `left`.
    """

    def __init__(self, circuit: Circuit, find: Find, checks: bool = False) -> None:
        self._circuit, self._find, self._checked = circuit, find, checks
        self.checks: list[str] = []
        self.bad: list[Value] = []
        """Beside :attr:`checks`: high in a cycle in which that one fails."""
        self._units = Units(find)
        self.pipes: dict[str, PipeLogic] = {}
        self.fifos: dict[str, FifoLogic] = {}
        self.running, self.started = Signal(name="running"), Signal(name="started")
        self.ended_before: list[Signal] = []
        """By pipe, where there are several."""
        self.left: dict[str, Signal] = {}
        """By FIFO, the elements that a port has yet to pass."""
        members: dict[str, wiring.Member] = {
            "start": In(1),
            "busy": Out(1),
            "done": Out(1),
            "cycles": Out(CYCLE_BITS),
        }
        for memory in circuit.memories:
            for name, (direction, bits) in _memory_ports(circuit, memory):
                members[name] = In(bits) if direction == "in" else Out(bits)
        for port in circuit.inputs:
            members[input_name(port)] = In(AXI4Stream(stream_bits(circuit.fifo(port.fifo).bits)))
        for port in circuit.outputs:
            members[output_name(port)] = Out(AXI4Stream(stream_bits(circuit.fifo(port.fifo).bits)))
        if checks:
            members["debug_error"] = Out(CHECK_BITS)
            members |= {peak_name(fifo): Out(CHECK_BITS) for fifo in circuit.fifos}
        super().__init__(members)

    @property
    def circuit(self) -> Circuit:
        return self._circuit

    @property
    def operators(self) -> dict[str, Built]:
        """The modules that operators are instances of, by name, each as what :class:`OperatorModule` takes;
        known once the core is elaborated."""
        return self._units.modules()

    def elaborate(self, platform: object) -> Module:
        m, circuit, checks = Module(), self._circuit, Checks(self._checked)
        go, running = Signal(name="go"), self.running
        m.d.comb += go.eq(self.start & ~self.busy)
        memories = {memory.name: MemoryLogic(memory) for memory in circuit.memories}
        fifos = self.fifos = {fifo.name: FifoLogic(fifo) for fifo in circuit.fifos}
        units = self._units = Units(self._find)
        pipes = [PipeLogic(m, circuit, pipe, memories, fifos, units, go) for pipe in circuit.pipes]
        self.pipes = {pipe.name: logic for pipe, logic in zip(circuit.pipes, pipes, strict=True)}
        units.build(m)
        for memory in circuit.memories:
            memories[memory.name].build(m, checks, self._external(memory))
        sent: list[Value] = [self._send(m, port, fifos[port.fifo], go) for port in circuit.outputs]
        for port in circuit.inputs:
            self._receive(m, port, fifos[port.fifo], go, running)
        for fifo in fifos.values():
            fifo.build(m, go, checks)
        self._run(m, go, running, [pipe.ended for pipe in pipes], sent)
        if self._checked:
            m.d.comb += self.debug_error.eq(checks.build(m))
            m.d.comb += [getattr(self, peak_name(fifo.fifo)).eq(fifo.peak) for fifo in fifos.values()]
        self.checks, self.bad = checks.texts, checks.bits
        return m

    def _run(self, m: Module, go: Value, running: Signal, ends: list[Signal], sent: list[Value]) -> None:
        """From `go` on until all pipes have ended (what `cycles` counts) and all outputs are `sent`."""
        all_ended: list[Value] = []
        for number, end in enumerate(ends):
            if len(ends) == 1:
                all_ended.append(end)
                break
            before = Signal(name=f"ended_{number}")
            self.ended_before.append(before)
            with m.If(end):
                m.d.sync += before.eq(1)
            with m.If(go):
                m.d.sync += before.eq(0)
            all_ended.append(end | before)
        with m.If(running):
            m.d.sync += self.cycles.eq(self.cycles + 1)
            with m.If(Cat(*all_ended).all()):
                m.d.sync += running.eq(0)
        started = self.started
        complete = ~running & (Cat(*sent).all() if sent else 1)
        m.d.comb += [self.busy.eq(started & ~complete), self.done.eq(started & complete)]
        with m.If(go):
            m.d.sync += [running.eq(1), started.eq(1), self.cycles.eq(0)]

    def _send(self, m: Module, port: Port, fifo: FifoLogic, go: Value) -> Value:
        """Elements of `fifo` to its stream; whether all of them have been sent."""
        stream = getattr(self, output_name(port))
        left = self.left[port.fifo] = Signal(range(port.elements + 1), name=f"{fifo.name}_to_send")
        sent = Signal(name=f"{fifo.name}_sent")
        passes = Signal(name=f"{fifo.name}_passes")
        m.d.comb += [
            stream.tvalid.eq(fifo.filled),
            stream.tdata.eq(fifo.head),
            stream.tlast.eq(left == 1),
            passes.eq(stream.tvalid & stream.tready),
            sent.eq(left == 0),
        ]
        fifo.pop(passes)
        with m.If(passes):
            m.d.sync += left.eq(left - 1)
        with m.If(go):
            m.d.sync += left.eq(port.elements)
        return sent

    def _receive(self, m: Module, port: Port, fifo: FifoLogic, go: Value, running: Value) -> None:
        """Elements of a stream to `fifo`, in a run only, and no more than belong to it."""
        stream = getattr(self, input_name(port))
        left = self.left[port.fifo] = Signal(range(port.elements + 1), name=f"{fifo.name}_to_come")
        passes = Signal(name=f"{fifo.name}_passes")
        m.d.comb += [
            stream.tready.eq(running & fifo.free & (left != 0)),
            passes.eq(stream.tvalid & stream.tready),
        ]
        fifo.take(passes)
        fifo.push(passes, stream.tdata[: fifo.fifo.bits])
        with m.If(passes):
            m.d.sync += left.eq(left - 1)
        with m.If(go):
            m.d.sync += left.eq(port.elements)

    def _external(self, memory: Memory) -> dict[int, BankPorts]:
        if not memory.external:
            return {}
        read, written = touched(self._circuit, memory)
        ports = {}
        for bank in range(memory.banks):
            name = f"{plain(memory.name)}_{bank}"
            ports[bank] = BankPorts(
                tuple(
                    tuple(getattr(self, f"{name}_r{port}_{end}") for end in ("addr", "en", "data"))
                    for port in range(memory.ports if read else 0)
                ),
                tuple(getattr(self, f"{name}_w_{end}") for end in ("addr", "en", "data"))
                if written
                else None,
            )
        return ports


def touched(circuit: Circuit, memory: Memory) -> tuple[bool, bool]:
    """Whether `memory` is read, and whether it is written."""
    nodes = [node for pipe in circuit.pipes for node in pipe.nodes]
    return (
        any(isinstance(node, Read) and node.memory == memory.name for node in nodes),
        any(isinstance(node, Write) and node.memory == memory.name for node in nodes),
    )


def input_name(port: Port) -> str:
    return f"s_axis_{plain(port.fifo)}"


def output_name(port: Port) -> str:
    return f"m_axis_{plain(port.fifo)}"


def peak_name(fifo: Fifo) -> str:
    return f"debug_peak_{plain(fifo.name)}"


def _memory_ports(circuit: Circuit, memory: Memory) -> list[tuple[str, tuple[str, int]]]:
    if not memory.external:
        return []
    read, written = touched(circuit, memory)
    return [
        port for bank in range(memory.banks) for port in external_ports(memory, bank, read, written).items()
    ]
