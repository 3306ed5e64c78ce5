"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Module

from axiloom.accelerators.flexasr.rtl.activate import Activate
from axiloom.accelerators.flexasr.rtl.meanings import LANES, STATE, Machine
from axiloom.accelerators.flexasr.rtl.moves import Load, Store
from axiloom.accelerators.flexasr.rtl.pool import Pool
from axiloom.accelerators.flexasr.rtl.product import Product
from axiloom.hw.command.device import CommandDevice, Commands
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit


class Device(CommandDevice):
    """`machine` behind streams of `stream_width` bits.

    Raises ValueError for a stream that a vector is no whole number of beats of.
    """

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        if stream_width <= 0 or stream_width % 8 or 8 * LANES % stream_width:
            raise ValueError(f"stream width must divide the {8 * LANES} bits of a vector, not {stream_width}")
        self._machine = machine
        super().__init__(machine.isa, stream_width)

    @property
    def machine(self) -> Machine:
        return self._machine

    def parts(self, m: Module, commands: Commands) -> tuple[Iterable[Memory], Iterable[Unit]]:
        machine, memories = self.machine, self._memories()
        front, words = commands.front, commands.words

        def tasks(unit: str) -> dict[str, Task]:
            return {
                meaning.instruction: Task(meaning, commands.instructions[meaning.instruction].enabled)
                for meaning in machine.of(unit)
            }

        def own(unit: str) -> dict[str, Memory]:
            (meaning,) = machine.of(unit)
            return {
                role: memories[meaning.place(role)]
                for role in meaning.memories
                if meaning.place(role) in memories
            }

        loads = {meaning.instruction: memories[meaning.place("x")] for meaning in machine.of("load")}
        return memories.values(), [
            Load(tasks("load"), words, front.payload, loads),
            Store(tasks("store"), words, front.result, own("store")["x"]),
            Pool(tasks("pool"), words, own("pool")["x"], machine.functions["larger"]),
            Product(tasks("product"), words, own("product"), machine.functions),
            Activate(tasks("activate"), words, own("activate"), machine.functions),
        ]

    def _memories(self) -> dict[str, Memory]:
        """By the text's names. Sums of products are in their unit."""
        memories = {}
        for meaning in self.machine.meanings:
            for role, memory in meaning.memories.items():
                if role != "acc":
                    bits = STATE if role in ("mac", "unit") else 8
                    memories[memory.name] = Memory(memory.name, memory.shape[0], bits * LANES)
        return memories
