"""`Device`: the RTL of a text behind its streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amaranth.hdl import Module, Value

from axiloom.accelerators.qkv.rtl.elementwise import ElementWise
from axiloom.accelerators.qkv.rtl.meanings import DATA, Machine
from axiloom.accelerators.qkv.rtl.product import Product
from axiloom.accelerators.qkv.rtl.row_memory import Geometry, RowMemory
from axiloom.accelerators.qkv.rtl.softmax import Softmax
from axiloom.accelerators.qkv.rtl.task import Task, Unit
from axiloom.accelerators.qkv.rtl.transfers import Load, LoadColumns, Move, Store, StoreColumns, Transpose
from axiloom.hw.command.decode import Decoded, logic
from axiloom.hw.command.device import CommandDevice, Commands
from axiloom.hw.command.meaning import Meaning

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
"""By the names of :mod:`axiloom.accelerators.qkv.rtl.units`. One unit executes all kinds of its class."""


class Device(CommandDevice):
    """`machine` with `lanes` columns at once, and `rows` rows of a product, behind streams of `stream_width`
    bits. Raises ValueError for lanes and rows that do not divide a row.
    """

    def __init__(self, machine: Machine, lanes: int, stream_width: int = 64, rows: int = 1) -> None:
        self._machine = machine
        self._geometry = Geometry(machine.columns, lanes, rows)
        super().__init__(machine.isa, stream_width)

    @property
    def machine(self) -> Machine:
        return self._machine

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    def parts(self, m: Module, commands: Commands) -> tuple[Iterable[RowMemory], Iterable[Unit]]:
        memories = {name: RowMemory(name, rows, self.geometry) for name, rows in self.machine.depths.items()}
        units = []
        for make in dict.fromkeys(UNITS.values()):
            meanings = [meaning for meaning in self.machine.meanings if UNITS[meaning.unit] is make]
            if not meanings:
                continue
            tasks = [
                _task(meaning, commands.instructions[meaning.instruction], commands.words, memories)
                for meaning in meanings
            ]
            unit = make(next(kind for kind in UNITS if UNITS[kind] is make), tasks, self.geometry)
            if isinstance(unit, Load):
                unit.payload = commands.front.payload
            if isinstance(unit, Store):
                unit.result = commands.front.result
            units.append(unit)
        return memories.values(), units


def _task(
    meaning: Meaning, decoded: Decoded, words: Mapping[str, Value], memories: Mapping[str, RowMemory]
) -> Task:
    known = {**words, **decoded.fields}
    values = {name: logic(expr, known) for name, expr in meaning.in_fields.items() if name != "base"}
    there = {role: memories[meaning.place(role)] for role in DATA if role in meaning.memories}
    return Task(meaning.instruction, meaning.unit, decoded.enabled, values, there)
