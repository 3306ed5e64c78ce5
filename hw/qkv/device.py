"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.command.decode import Decoded, command_bits, decoded, fault_of, logic, words
from axiloom.hw.command.fault import FAULT_BITS
from axiloom.hw.command.front import CommandFront
from axiloom.hw.qkv.elementwise import ElementWise
from axiloom.hw.qkv.meanings import Machine, Meaning
from axiloom.hw.qkv.product import Product
from axiloom.hw.qkv.row_memory import Geometry, RowMemory
from axiloom.hw.qkv.softmax import Softmax
from axiloom.hw.qkv.task import Task, Unit
from axiloom.hw.qkv.transfers import Load, LoadColumns, Move, Store, StoreColumns, Transpose

UNITS: Mapping[str, type[Unit]] = {
    "load": Load,
    "load_columns": LoadColumns,
    "store": Store,
    "store_columns": StoreColumns,
    "move": Move,
    "transpose": Transpose,
    "product": Product,
    "product_added": Product,
    "softmax": Softmax,
    **dict.fromkeys(("add", "subtract", "multiply", "maximum", "relu"), ElementWise),
}
"""By the names of :mod:`axiloom.hw.qkv.units`. One unit executes all kinds of its class."""


class Device(wiring.Component):
    """`machine` with `lanes` columns at once, and `rows` rows of a product, behind streams of `stream_width`
    bits (:mod:`axiloom.hw.command`).

    A command begins when the one before has ended. ``debug_busy``: one is under way, or a result is not
    taken; ``debug_error``: the :class:`axiloom.hw.command.fault.Fault` that stopped it, until reset.
    Raises ValueError for lanes and rows that do not divide a row.
    """

    def __init__(self, machine: Machine, lanes: int, stream_width: int = 64, rows: int = 1) -> None:
        self._machine, self._stream_width = machine, stream_width
        self._geometry = Geometry(machine.columns, lanes, rows)
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
    def geometry(self) -> Geometry:
        return self._geometry

    @property
    def stream_width(self) -> int:
        return self._stream_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        isa = self.machine.isa
        m.submodules.front = front = CommandFront(command_bits(isa), self.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axis), front.s_axis)
        wiring.connect(m, front.m_axis, wiring.flipped(self.m_axis))
        memories = {name: RowMemory(name, rows, self.geometry) for name, rows in self.machine.depths.items()}
        given = words(isa, front.command.payload)
        instructions = decoded(m, isa, given)
        running = Signal()
        fault = Signal(FAULT_BITS)
        m.d.comb += fault.eq(fault_of(instructions))
        begins = front.command.valid & ~running & (fault == 0)
        m.d.comb += [
            front.command.ready.eq(~running),
            self.debug_error.eq(front.debug_error),
            self.debug_busy.eq(front.debug_busy | running),
        ]
        with m.If(front.command.valid & ~running):
            m.d.comb += front.fault.eq(fault)

        ends: list[Value] = []
        for make in dict.fromkeys(UNITS.values()):
            meanings = [one for one in self.machine.meanings if UNITS[one.unit] is make]
            if not meanings:
                continue
            tasks = [_task(one, instructions[one.instruction], given, memories) for one in meanings]
            unit = make(next(kind for kind in UNITS if UNITS[kind] is make), tasks, self.geometry)
            if isinstance(unit, Load):
                unit.payload = front.payload
            if isinstance(unit, Store):
                unit.result = front.result
            m.d.comb += unit.start.eq(begins & Cat(*(task.is_active for task in tasks)).any())
            unit.build(m)
            ends.append(unit.done)
        done = Signal()
        m.d.comb += [done.eq(Cat(*ends).any()), front.next.eq(done)]
        with m.If(done):
            m.d.sync += running.eq(0)
        with m.If(begins):
            m.d.sync += running.eq(1)
        for memory in memories.values():
            memory.build(m)
        return m


def _task(
    meaning: Meaning, one: Decoded, given: Mapping[str, Value], memories: Mapping[str, RowMemory]
) -> Task:
    known = {**given, **one.fields}
    values = {name: logic(expr, known) for name, expr in meaning.values.items() if name != "base"}
    there = {name: memories[memory] for name, memory in meaning.memories.items()}
    return Task(meaning.instruction, meaning.unit, one.enabled, values, there)
