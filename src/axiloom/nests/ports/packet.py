"""`Packet`: the order in which arrays pass a port.

Elements travel row major, the lowest in the lowest bits of a beat. Each row (the last dimension) begins on a
beat, and what is missing of its last beat is zero: so an array whose rows are whole beats travels as it lies
in memory, and a DMA reads and writes it in place. A scalar is a row of one element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import CompileError
from axiloom.isa import numerics
from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.contract.types import WORD_BITS
from axiloom.nests.program import Array, Program

Elements = npt.NDArray[Any]


@dataclass(frozen=True)
class Part:
    """An array in a packet, or `count` indices of its first dimension from `first` on."""

    array: Array
    width: int
    """Bits of a beat."""
    first: int = 0
    count: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape if self.count is None else (self.count, *self.array.shape[1:])

    @property
    def travels(self) -> str:
        """The format in which its elements travel, and lie in memory."""
        return travels(self.array.number)

    @property
    def bits(self) -> int:
        """Of an element."""
        return _numbers(self.array.number).bits

    @property
    def lanes(self) -> int:
        """Elements of a beat."""
        return self.width // self.bits

    @property
    def rows(self) -> int:
        return prod(self.shape[:-1])

    @property
    def start(self) -> int:
        """Elements of the array before it."""
        return self.first * prod(self.array.shape[1:])

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return self.array.shape[-1] if self.array.shape else 1

    @property
    def row_beats(self) -> int:
        return -(-self.columns // self.lanes)

    @property
    def beats(self) -> int:
        return self.rows * self.row_beats

    @property
    def in_place(self) -> bool:
        """Rows are whole beats: it lies in memory as it travels."""
        return self.columns % self.lanes == 0

    @property
    def host(self) -> np.dtype[Any]:
        """NumPy's type of its elements."""
        return _numbers(self.array.number).numpy

    def words(self, values: Elements) -> npt.NDArray[np.uint32]:
        """Its words, from all elements of the array in the type of `host`."""
        if self.count is not None:
            values = values[self.first : self.first + self.count]
        rows = np.zeros((self.rows, self.row_beats * self.lanes), self.host)
        rows[:, : self.columns] = np.asarray(values, self.host).reshape(self.rows, self.columns)
        return rows.reshape(-1).view(np.uint32)

    def elements(self, words: npt.NDArray[np.uint32]) -> Elements:
        """Its elements, in its shape, from its words."""
        rows = np.ascontiguousarray(words).view(self.host).reshape(self.rows, -1)[:, : self.columns]
        return rows.reshape(self.shape).copy()


@dataclass(frozen=True)
class Packet:
    """Arrays one after the other. TLAST is on the last beat."""

    parts: tuple[Part, ...]

    @property
    def beats(self) -> int:
        return sum(part.beats for part in self.parts)

    @property
    def words(self) -> int:
        """32-bit words."""
        return sum(part.beats * part.width for part in self.parts) // WORD_BITS

    @property
    def pieces(self) -> tuple[Part, ...]:
        """The parts, those that follow each other in memory and in the packet joined."""
        parts: list[Part] = []
        for part in self.parts:
            last = parts[-1] if parts else None
            if last and last.array == part.array and last.count is not None and part.count is not None:
                parts[-1] = replace(last, count=last.count + part.count)
            else:
                parts.append(part)
        return tuple(parts)

    def pack(self, arrays: Mapping[str, Elements]) -> npt.NDArray[np.uint32]:
        """The words that go over the port."""
        return np.concatenate(
            [np.zeros(0, np.uint32), *(part.words(arrays[part.array.name]) for part in self.parts)]
        )

    def unpack(self, words: npt.NDArray[np.uint32]) -> dict[str, Elements]:
        """The arrays, from all words of a packet in which each is whole."""
        arrays: dict[str, list[Elements]] = {}
        at = 0
        for part in self.parts:
            end = at + part.beats * part.width // WORD_BITS
            arrays.setdefault(part.array.name, []).append(part.elements(words[at:end]))
            at = end
        return {
            name: blocks[0] if len(blocks) == 1 else np.concatenate(blocks) for name, blocks in arrays.items()
        }


def packets(program: Program, width: int = 64) -> tuple[Packet, Packet]:
    """What `program` takes and what it gives through ports of `width` bits.

    Arrays are in the order of the program. Raises CompileError for arrays that cannot travel.
    """
    if width not in STREAM_WIDTHS:
        raise CompileError(f"{program.name}: a port has {_choice(STREAM_WIDTHS)} bits, not {width}")
    inputs = [Part(array, width) for array in program.arrays if array.role.is_given]
    outputs = [Part(array, width) for array in program.arrays if array.role.is_result]
    if not outputs:
        raise CompileError(f"{program.name}: no array is a result, so nothing can come back through a port")
    if not inputs:
        raise CompileError(f"{program.name}: no array is given, so nothing that comes in can start it")
    for part in (*inputs, *outputs):
        _check(program, part)
    return Packet(tuple(inputs)), Packet(tuple(outputs))


_BYTES = {"uint1": "uint8"}
"""Formats of less than a byte, with the format that holds one of them."""
_UNSIGNED = {name: numerics.host(name) for name in ("uint16", "uint32")}
"""Circuits compute with them, and no other accelerator does."""


def travels(number: str) -> str:
    """The format in which an element of `number` passes a port: a byte at least."""
    return _BYTES.get(number, number)


def _numbers(number: str) -> numerics.Numerics:
    name = travels(number)
    return _UNSIGNED.get(name) or numerics.of(name)


def _check(program: Program, part: Part) -> None:
    try:
        kind = _numbers(part.array.number)
    except ValueError as error:
        raise CompileError(f"{program.name}: array {part.array.name} cannot pass a port: {error}") from None
    if kind.bits not in (8, 16, 32) or kind.numpy.itemsize * 8 != kind.bits:
        raise CompileError(
            f"{program.name}: array {part.array.name} of {kind.name} ({kind.bits} bits) cannot pass a port: "
            "elements have 8, 16 or 32 bits"
        )


def _choice(values: Sequence[int]) -> str:
    return f"{', '.join(map(str, values[:-1]))} or {values[-1]}"
