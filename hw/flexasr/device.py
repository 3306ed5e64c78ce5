"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.command.decode import command_bits, decoded, fault_of, words
from axiloom.hw.command.fault import FAULT_BITS
from axiloom.hw.command.front import CommandFront
from axiloom.hw.flexasr.activate import Activate
from axiloom.hw.flexasr.meanings import LANES, STATE, Machine
from axiloom.hw.flexasr.moves import Load, Store
from axiloom.hw.flexasr.pool import Pool
from axiloom.hw.flexasr.product import Product
from axiloom.hw.vta.memory import Memory
from axiloom.hw.vta.unit import Task, Unit


class Device(wiring.Component):
    """`machine` behind streams of `stream_width` bits (:mod:`axiloom.hw.command`).

    A command begins when the one before has ended. ``debug_busy``: one is under way, or a result is not
    taken; ``debug_error``: the :class:`axiloom.hw.command.fault.Fault` that stopped it, until reset.
    Raises ValueError for a stream that a vector is no whole number of beats of.
    """

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        if stream_width <= 0 or stream_width % 8 or 8 * LANES % stream_width:
            raise ValueError(f"stream width must divide the {8 * LANES} bits of a vector, not {stream_width}")
        self._machine, self._stream_width = machine, stream_width
        super().__init__(
            {
                "s_axis": In(AXI4Stream(stream_width)),
                "m_axis": Out(AXI4Stream(stream_width)),
                "debug_busy": Out(1),
                "debug_error": Out(FAULT_BITS),
            }
        )

    @property
    def machine(self) -> Machine:
        return self._machine

    @property
    def stream_width(self) -> int:
        return self._stream_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        machine, isa = self.machine, self.machine.isa
        m.submodules.front = front = CommandFront(command_bits(isa), self.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axis), front.s_axis)
        wiring.connect(m, front.m_axis, wiring.flipped(self.m_axis))
        given = words(isa, front.command.payload)
        instructions = decoded(m, isa, given)
        running, fault = Signal(), Signal(FAULT_BITS)
        m.d.comb += fault.eq(fault_of(instructions))
        begins = front.command.valid & ~running & (fault == 0)
        m.d.comb += [
            front.command.ready.eq(~running),
            self.debug_error.eq(front.debug_error),
            self.debug_busy.eq(front.debug_busy | running),
        ]
        with m.If(front.command.valid & ~running):
            m.d.comb += front.fault.eq(fault)

        def tasks(unit: str) -> dict[str, Task]:
            return {
                one.instruction: Task(one, instructions[one.instruction].enabled) for one in machine.of(unit)
            }

        memories = self._memories()

        def own(unit: str) -> dict[str, Memory]:
            (one,) = machine.of(unit)
            return {role: memories[name] for role, name in one.memories.items() if name in memories}

        loads = {one.instruction: memories[one.memories["x"]] for one in machine.of("load")}
        units: list[Unit] = [
            Load(tasks("load"), given, front.payload, loads),
            Store(tasks("store"), given, front.result, own("store")["x"]),
            Pool(tasks("pool"), given, own("pool")["x"], machine.functions["larger"]),
            Product(tasks("product"), given, own("product"), machine.functions),
            Activate(tasks("activate"), given, own("activate"), machine.functions),
        ]
        for unit in units:
            m.d.comb += unit.start.eq(begins & unit.starts())
            unit.build(m)
        done = Signal()
        m.d.comb += [done.eq(Cat(*(unit.done for unit in units)).any()), front.next.eq(done)]
        with m.If(done):
            m.d.sync += running.eq(0)
        with m.If(begins):
            m.d.sync += running.eq(1)
        for memory in memories.values():
            memory.build(m)
        return m

    def _memories(self) -> dict[str, Memory]:
        """By the text's names. Sums of products are in their unit."""
        found = {}
        for one in self.machine.meanings:
            for role, name in one.memories.items():
                if role != "acc":
                    bits = STATE if role in ("mac", "unit") else 8
                    found[name] = Memory(name, self.machine.depth(name), bits * LANES)
        return found
