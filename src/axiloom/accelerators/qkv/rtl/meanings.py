"""What an instruction of a text does, in the hardware's words: it is compared with what each unit here can
do.

A unit is described in the language of texts. An instruction means the same if its statements are those of the
unit but for names: each memory, register and iterator of the description stands for one of the text, and each
of its fields for an expression of the text's. So another memory, another encoding or one more move is other
RTL without a word about it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from axiloom.accelerators.qkv.rtl.units import text
from axiloom.base.errors import SpecError
from axiloom.hw.command.meaning import Meaning, meanings
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import InstructionSet, Range

DATA = ("x", "y", "z")
"""What is a memory in hardware; `sums` and `total` are in the units' pipelines."""
_APART = ("move", "transpose", "add", "subtract", "multiply", "maximum")
"""Units that would overtake themselves in one memory."""
_ELEMENT = Range(0, (1 << 16) - 1)


@dataclass(frozen=True)
class Machine:
    """A text as hardware: memories with rows of `columns` elements, `depths` rows each; and its meanings."""

    isa: InstructionSet
    columns: int
    depths: Mapping[str, int]
    meanings: tuple[Meaning, ...]

    @property
    def row_bytes(self) -> int:
        return 2 * self.columns


def machine(isa: InstructionSet) -> Machine:
    """Raises SpecError with each instruction and memory that no unit can be."""
    columns = _columns(isa)
    units = parse(text(columns), "units", "units")
    faults: list[str] = []
    every = list(meanings(isa, units.instructions, faults))
    faults += [f"{where}: {fault}" for where, meaning in every if (fault := _clash(meaning))]
    used = {meaning.place(role) for _, meaning in every for role in DATA if role in meaning.memories}
    depths = {}
    for name, memory in isa.memories.items():
        if name not in used:
            continue
        if memory.type != _ELEMENT or len(memory.shape) != 2 or memory.shape[1] != columns:
            faults.append(f"{isa.place}: memory {name} has no rows of {columns} elements of 16 bits")
            continue
        depths[name] = memory.shape[0]
    if faults:
        raise SpecError(faults)
    return Machine(isa, columns, depths, tuple(meaning for _, meaning in every))


def _columns(isa: InstructionSet) -> int:
    rows = {
        memory.shape[-1] for memory in isa.memories.values() if not memory.host and len(memory.shape) == 2
    }
    if len(rows) != 1:
        raise SpecError([f"{isa.place}: memories have rows of {sorted(rows)} elements; one length is built"])
    (columns,) = rows
    if columns < 4 or columns & (columns - 1):
        raise SpecError([f"{isa.place}: rows must have a power of two of elements, 4 or more, not {columns}"])
    return columns


def _clash(meaning: Meaning) -> str:
    """What cannot be in one memory: the hardware reads ahead of what it writes."""
    memories = meaning.memories
    if meaning.unit in _APART and memories["x"] == memories["y"]:
        return f"it reads and writes {meaning.place('x')}; give it two memories"
    if "z" in memories and memories["z"] in (memories["x"], memories["y"]):
        return f"its result would overwrite a factor in {meaning.place('z')}; give it a memory of its own"
    return ""
