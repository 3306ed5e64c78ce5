"""How many cycles each command takes, exactly, while its payload is there and its results are taken.

A command's cycles are those from the one in which its first beat is taken to the one in which the next
command's first beat can be. A program takes one more: the register in front of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from axiloom.accelerators.qkv.rtl import elementwise, product, softmax
from axiloom.accelerators.qkv.rtl.meanings import Machine
from axiloom.accelerators.qkv.rtl.row_memory import ELEMENT, Geometry
from axiloom.hw.command.decode import command_bits
from axiloom.hw.command.meaning import Meaning
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import State
from axiloom.isa.instructions.tree import Const

_DECODE = 2
"""From a command's last word to the first cycle of its unit."""
_EMPTY = _DECODE + 1
FRONT = 1


class Cycles:
    """Of `machine` with so many `lanes`, such streams, and so many `rows` of a product at once."""

    def __init__(self, machine: Machine, lanes: int, stream_width: int = 64, rows: int = 1) -> None:
        self.machine, self.stream_width = machine, stream_width
        self.geometry = Geometry(machine.columns, lanes, rows)
        self._meanings = {meaning.instruction: meaning for meaning in machine.meanings}
        self._reference = Reference(machine.isa, State(machine.isa))
        self._words = -(-command_bits(machine.isa) // stream_width) - 1

    def command(self, instruction: str, fields: Mapping[str, int]) -> int:
        """Of one command with these fields."""
        meaning = self._meanings[instruction]
        return self._words + _UNITS[meaning.unit](self, meaning, fields)

    def program(self, commands: Iterable[tuple[str, Mapping[str, int]]]) -> int:
        """From the first beat offered to the last cycle in which something happens."""
        return FRONT + sum(self.command(*command) for command in commands)

    def _rows(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        expr = meaning.in_fields["n"]
        return expr.value if isinstance(expr, Const) else int(self._reference.value(expr, fields))

    def _steps(self, meaning: Meaning, fields: Mapping[str, int], a_row: int, behind: int) -> int:
        """`a_row` steps for each row, and those until the last one has ended."""
        rows = self._rows(meaning, fields)
        return _DECODE + rows * a_row + behind if rows else _EMPTY

    def _load(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        size = min(self.stream_width // ELEMENT, self.geometry.lanes)
        return self._steps(meaning, fields, self.geometry.columns // size, 0)

    def _by_elements(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        return self._steps(meaning, fields, self.geometry.columns, 0)

    def _store(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        size = min(self.stream_width // ELEMENT, self.geometry.lanes)
        return self._steps(meaning, fields, self.geometry.columns // size, 2)

    def _store_columns(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        return self._steps(meaning, fields, self.geometry.columns, 2)

    def _move(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        return self._steps(meaning, fields, self.geometry.groups, 1)

    def _transpose(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        return self._steps(meaning, fields, self.geometry.columns, 1)

    def _product(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        added = any(meaning.unit == "product_added" for meaning in self.machine.meanings)
        return _DECODE + product.cycles(self.geometry, added=added)

    def _elementwise(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        return self._steps(meaning, fields, self.geometry.groups, elementwise.DEPTH)

    def _softmax(self, meaning: Meaning, fields: Mapping[str, int]) -> int:
        rows = self._rows(meaning, fields)
        if not rows:
            return _EMPTY
        block = softmax.block_rows(self.geometry)
        blocks = -(-rows // block)
        work = (blocks + 1) * block * self.geometry.columns
        return _DECODE + work + blocks * softmax.TAIL + softmax.OUT


_UNITS: Mapping[str, Callable[[Cycles, Meaning, Mapping[str, int]], int]] = {
    "load": Cycles._load,
    "load_columns": Cycles._by_elements,
    "store": Cycles._store,
    "store_columns": Cycles._store_columns,
    "move": Cycles._move,
    "transpose": Cycles._transpose,
    "product": Cycles._product,
    "product_added": Cycles._product,
    "softmax": Cycles._softmax,
    **dict.fromkeys(("add", "subtract", "multiply", "maximum", "relu"), Cycles._elementwise),
}
