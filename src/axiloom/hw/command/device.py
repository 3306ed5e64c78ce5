"""`CommandDevice`: units of a text behind their streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.command.decode import Decoded, command_bits, decoded, fault_of, words
from axiloom.hw.command.fault import FAULT_BITS
from axiloom.hw.command.front import CommandFront
from axiloom.isa.instructions.tree import InstructionSet


class Unit(Protocol):
    """What executes commands: `start` is high for a cycle, `done` in the last cycle of a command."""

    start: Signal
    done: Signal

    def starts(self) -> Value:
        """Whether a command that begins is of this unit."""
        ...

    def build(self, m: Module) -> None:
        """Comes once; it asks the memories for their ports."""
        ...


class Memory(Protocol):
    def build(self, m: Module) -> None:
        """Comes once, when all units have asked for their ports."""
        ...


@dataclass(frozen=True)
class Commands:
    """Where units get them from: `front`, the words by the text's inputs, and its instructions decoded."""

    front: CommandFront
    words: Mapping[str, Value]
    instructions: Mapping[str, Decoded]


class CommandDevice(wiring.Component):
    """`isa` behind streams of `stream_width` bits (:mod:`axiloom.hw.command`).

    A command begins when the one before has ended. ``debug_busy``: one is under way, or a result is not
    taken; ``debug_error``: the :class:`axiloom.hw.command.fault.Fault` that stopped it, until reset.
    """

    def __init__(self, isa: InstructionSet, stream_width: int, more: Mapping[str, Any] | None = None) -> None:
        """`more`: ports beside those."""
        self._isa, self._stream_width = isa, stream_width
        super().__init__(
            {
                "s_axis": In(AXI4Stream(stream_width)),
                "m_axis": Out(AXI4Stream(stream_width)),
                "debug_busy": Out(1),
                "debug_error": Out(FAULT_BITS),
                **(more or {}),
            }
        )

    @property
    def stream_width(self) -> int:
        return self._stream_width

    def parts(self, m: Module, commands: Commands) -> tuple[Iterable[Memory], Iterable[Unit]]:
        """The memories, and the units that work on them."""
        raise NotImplementedError

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.front = front = CommandFront(command_bits(self._isa), self.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axis), front.s_axis)
        wiring.connect(m, front.m_axis, wiring.flipped(self.m_axis))
        inputs = words(self._isa, front.command.payload)
        instructions = decoded(m, self._isa, inputs)

        waits, begins, running, done = (Signal(name=name) for name in ("waits", "begins", "running", "done"))
        fault = Signal(FAULT_BITS)
        m.d.comb += [
            fault.eq(fault_of(instructions)),
            waits.eq(front.command.valid & ~running),
            begins.eq(waits & (fault == 0)),
            front.command.ready.eq(begins),
            self.debug_error.eq(front.debug_error),
            self.debug_busy.eq(front.debug_busy | running),
        ]
        with m.If(waits):
            m.d.comb += front.fault.eq(fault)

        memories, units = self.parts(m, Commands(front, inputs, instructions))
        units = list(units)
        for unit in units:
            m.d.comb += unit.start.eq(begins & unit.starts())
            unit.build(m)
        m.d.comb += [done.eq(Cat(*(unit.done for unit in units)).any()), front.next.eq(done)]
        with m.If(done):
            m.d.sync += running.eq(0)
        with m.Elif(begins):
            m.d.sync += running.eq(1)
        for memory in memories:
            memory.build(m)
        return m
