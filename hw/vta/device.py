"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.command.decode import command_bits, decoded, fault_of, words
from axiloom.hw.command.fault import FAULT_BITS
from axiloom.hw.command.front import CommandFront
from axiloom.hw.vta.finish import Finish
from axiloom.hw.vta.load import Kind, Load
from axiloom.hw.vta.load_uops import LoadUops
from axiloom.hw.vta.meanings import ACCUMULATOR, LOADS, UOP, Machine
from axiloom.hw.vta.memory import Memory
from axiloom.hw.vta.store import Store
from axiloom.hw.vta.unit import Task, Unit
from axiloom.hw.vta.vector import Vector


class Device(wiring.Component):
    """`machine` behind streams of `stream_width` bits (:mod:`axiloom.hw.command`).

    A command begins when the one before has ended. ``debug_busy``: one is under way, or a result is not
    taken; ``debug_error``: the :class:`axiloom.hw.command.fault.Fault` that stopped it, until reset;
    ``debug_done``: a FINISH was executed.
    Raises ValueError for a stream that a vector of inputs is no whole number of beats of.
    """

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        if stream_width < UOP or 8 * machine.block % stream_width:
            raise ValueError(
                f"stream width must divide the {8 * machine.block} bits of a vector, {UOP} or more, "
                f"not {stream_width}"
            )
        self._machine, self._stream_width = machine, stream_width
        super().__init__(
            {
                "s_axis": In(AXI4Stream(stream_width)),
                "m_axis": Out(AXI4Stream(stream_width)),
                "debug_busy": Out(1),
                "debug_error": Out(FAULT_BITS),
                "debug_done": Out(1),
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
        isa = self.machine.isa
        m.submodules.front = front = CommandFront(command_bits(isa), self.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axis), front.s_axis)
        wiring.connect(m, front.m_axis, wiring.flipped(self.m_axis))
        given = words(isa, front.command.payload)
        instructions = decoded(m, isa, given)

        # Whether a command is legal takes products of its fields: it is known a cycle later.
        running, known, fault = Signal(), Signal(), Signal(FAULT_BITS)
        waits, begins = Signal(), Signal()
        m.d.comb += [
            waits.eq(front.command.valid & ~running),
            begins.eq(waits & known & (fault == 0)),
            front.command.ready.eq(begins),
            self.debug_error.eq(front.debug_error),
            self.debug_busy.eq(front.debug_busy | running),
        ]
        m.d.sync += [known.eq(waits & ~known), fault.eq(fault_of(instructions))]
        with m.If(waits & known):
            m.d.comb += front.fault.eq(fault)

        memories = self._memories()
        active = {unit: instructions[one.instruction].enabled for unit, one in self.machine.meanings.items()}
        units = self._units(front, memories, active, given)
        for unit in units:
            m.d.comb += unit.start.eq(begins & unit.starts())
            unit.build(m)
        done = Signal()
        m.d.comb += [done.eq(Cat(*(unit.done for unit in units)).any()), front.next.eq(done)]
        with m.If(done):
            m.d.sync += running.eq(0)
        with m.Elif(begins):
            m.d.sync += running.eq(1)
        for unit in units:
            if isinstance(unit, Finish):
                m.d.comb += self.debug_done.eq(unit.finished)
        for memory in memories.values():
            memory.build(m)
        return m

    def _memories(self) -> dict[str, Memory]:
        block, depths, width = self.machine.block, self.machine.depths, self.stream_width
        return {
            "uop": Memory("uop", depths["uop"], UOP),
            "inp": Memory("inp", depths["inp"], 8 * block, width),
            "wgt": Memory("wgt", depths["wgt"], 8 * block * block, width),
            "acc": Memory("acc", depths["acc"], ACCUMULATOR * block, width),
            "out": Memory("out", depths["out"], 8 * block),
        }

    def _units(
        self,
        front: CommandFront,
        memories: Mapping[str, Memory],
        active: Mapping[str, Value],
        given: Mapping[str, Value],
    ) -> list[Unit]:
        meanings, width = self.machine.meanings, self.stream_width

        def tasks(*names: str) -> dict[str, Task]:
            return {name: Task(meanings[name], active[name]) for name in names if name in meanings}

        kinds = {
            "load_wgt": Kind(memories["wgt"], memories["wgt"].width // width),
            "load_inp": Kind(memories["inp"], memories["inp"].width // width),
            "load_acc": Kind(memories["acc"], memories["acc"].width // width),
            "load_acc_8bit": Kind(memories["acc"], memories["inp"].width // width, widens=True),
        }
        units: list[Unit] = [
            LoadUops(tasks("load_uops"), given, front.payload, memories["uop"]),
            Load(tasks(*LOADS), given, front.payload, kinds),
            Store(tasks("store"), given, front.result, memories["out"]),
            Vector(tasks("gemm", "alu"), given, memories, self.machine.operations),
        ]
        if "finish" in meanings:
            units.append(Finish(tasks("finish"), given))
        return units
