"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Module, Value
from amaranth.lib.wiring import Out

from axiloom.hw.command.device import CommandDevice, Commands
from axiloom.hw.command.memory import Memory
from axiloom.hw.command.unit import Task, Unit
from axiloom.hw.vta.finish import Finish
from axiloom.hw.vta.load import Kind, Load
from axiloom.hw.vta.load_uops import LoadUops
from axiloom.hw.vta.meanings import ACCUMULATOR, LOADS, UOP, Machine
from axiloom.hw.vta.store import Store
from axiloom.hw.vta.vector import Vector


class Device(CommandDevice):
    """`machine` behind streams of `stream_width` bits. ``debug_done``: a FINISH was executed.

    Raises ValueError for a stream that a vector of inputs is no whole number of beats of.
    """

    JUDGED_LATER = True

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        if stream_width < UOP or 8 * machine.block % stream_width:
            raise ValueError(
                f"stream width must divide the {8 * machine.block} bits of a vector, {UOP} or more, "
                f"not {stream_width}"
            )
        self._machine = machine
        super().__init__(machine.isa, stream_width, {"debug_done": Out(1)})

    @property
    def machine(self) -> Machine:
        return self._machine

    def parts(self, m: Module, commands: Commands) -> tuple[Iterable[Memory], Iterable[Unit]]:
        memories = self._memories()
        units = self._units(commands, memories)
        for unit in units:
            if isinstance(unit, Finish):
                m.d.comb += self.debug_done.eq(unit.finished)
        return memories.values(), units

    def _memories(self) -> dict[str, Memory]:
        block, depths, width = self.machine.block, self.machine.depths, self.stream_width
        return {
            "uop": Memory("uop", depths["uop"], UOP),
            "inp": Memory("inp", depths["inp"], 8 * block, width),
            "wgt": Memory("wgt", depths["wgt"], 8 * block * block, width),
            "acc": Memory("acc", depths["acc"], ACCUMULATOR * block, width),
            "out": Memory("out", depths["out"], 8 * block),
        }

    def _units(self, commands: Commands, memories: Mapping[str, Memory]) -> list[Unit]:
        meanings, width = self.machine.meanings, self.stream_width
        front, given = commands.front, commands.words

        def active(name: str) -> Value:
            return commands.instructions[meanings[name].instruction].enabled

        def tasks(*names: str) -> dict[str, Task]:
            return {name: Task(meanings[name], active(name)) for name in names if name in meanings}

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
