"""A program as a plan: which words and rows of arrays go to the device, where what comes back goes.

Rows that the DMA can move lie in memory as they travel: whole beats, equal rows at equal distances. The CPU
packs the others, or takes them apart again once they are there. A queue ends between a store and what needs
its bytes: the device's order does not bind the DMA, which fetches ahead.

There are no loops. Rolling equal commands into loops of one level takes an LSTM's 264 commands to 120, tiled
products and convolutions to two thirds; what costs cycles is the code of a command, which two words a call
made small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import CompileError
from axiloom.drivergen.nest.tile import CACHE_LINE, MAX_ROWS, MAX_STRIDE, Rows
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.plan import Command, Plan, Queue, Receive, Region, Send, Words
from axiloom.plan.tree import Move, rows
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.host import Addresses, access
from axiloom.selection.drive.tokens import tokened
from axiloom.selection.program.program import HostArray, Program, array_bytes

WORD = 4


class Piece(NamedTuple):
    """`rows` rows of `size` bytes of an array, `stride` bytes from row to row, from byte `offset` on."""

    array: str | Own
    offset: int
    size: int
    rows: int = 1
    stride: int = 0

    @property
    def bytes(self) -> int:
        return self.size * self.rows

    def fits(self, unit: int) -> bool:
        """Whether a descriptor can say it, in whole units: beats, or cache lines where the DMA writes."""
        return Rows(self.size, self.rows, self.stride, self.offset).fits(unit)

    @property
    def region(self) -> Region:
        return rows(*self)


class Own(Enum):
    """The driver's own arrays, where the CPU packs and takes apart."""

    PACKED = "packed"
    UNPACKED = "unpacked"


def plan(program: Program, isa: InstructionSet, stream_width: int = 64) -> Plan:
    """Raises CompileError for commands that are none, and for bytes of the host that lie in no array."""
    return _Planner(tokened(program, isa), isa, stream_width).plan()


class _Planner:
    def __init__(self, program: Program, isa: InstructionSet, stream_width: int) -> None:
        self.program, self.isa, self.beat = program, isa, stream_width // 8
        self.width = stream_width
        memory = next((memory for memory in isa.memories.values() if memory.host), None)
        if memory is None:
            raise CompileError(f"{isa.name} has no memory of the host")
        size = memory.shape[0]
        self.owner = np.full(size, -1, np.int32)
        self.base = [array.base for array in program.arrays]
        for place, array in enumerate(program.arrays):
            self._place(place, array, memory.name, size)
        self.stored = np.zeros(size, bool)  # by commands since the last fence
        self.clean = np.zeros(size, bool)
        self.packed = self.unpacked = 0

    def _place(self, place: int, array: HostArray, memory: str, size: int) -> None:
        end = array.base + array_bytes(array)
        if array.memory != memory:
            raise CompileError(f"{array.name} lies in {array.memory}; the host's memory is {memory}")
        if array.base < 0 or end > size:
            raise CompileError(f"{array.name} ends at byte {end}; {memory} has {size}")
        here = self.owner[array.base : end]
        if (here >= 0).any():
            other = self.program.arrays[int(here.max())].name
            raise CompileError(f"{array.name} and {other} lie in the same bytes of {memory}")
        here[:] = place

    def plan(self) -> Plan:
        encoder = Encoder(self.isa)
        queues: list[Queue] = []
        queue: list[Command] = []
        for number, command in enumerate(self.program.commands):
            inputs = encoder.inputs(command)
            touched = access(self.isa, command.instruction, inputs)
            where = f"command {number}, {command.instruction}"
            if self.stored[touched.reads].any() or self.stored[touched.writes].any():
                queues.append(Queue(tuple(queue)))
                queue = []
                self.clean |= self.stored
                self.stored[:] = False
            receives = self._receive(self._pieces(touched.writes, where))
            words = self._words(encoder.bits, encoder.words(command))
            sends = self._send(self._pieces(touched.reads, where))
            fields = ", ".join(f"{name} {value}" for name, value in command.fields.items())
            moves = (*receives, Words(len(words), values=words), *sends)
            queue.append(Command(f"{command.instruction} {fields}".strip(), moves))
            self.stored[touched.writes] = True
            self._read_only(touched.writes, where)
        return Plan((*queues, *([Queue(tuple(queue))] if queue else ())))

    def _words(self, bits: int, command: int) -> tuple[int, ...]:
        """Of a command of so many bits, in whole beats."""
        count = -(-bits // self.width) * self.beat // WORD
        return tuple(command >> 32 * at & 0xFFFFFFFF for at in range(count))

    def _read_only(self, writes: Addresses, where: str) -> None:
        for place in set(self.owner[writes].tolist()):
            array = self.program.arrays[place]
            if array.role in ("in", "constant"):
                raise CompileError(f"{where}: it stores to {array.name}, which is {array.role}")

    def _pieces(self, addresses: Addresses, where: str) -> list[Piece]:
        if not addresses.size:
            return []
        owners = self.owner[addresses]
        if (owners < 0).any():
            outside = int(addresses[owners < 0][0])
            raise CompileError(f"{where}: byte {outside} of the host's memory is of no array")
        breaks = np.flatnonzero((np.diff(addresses) != 1) | (np.diff(owners) != 0)) + 1
        starts = np.concatenate([[0], breaks])
        sizes = np.diff(np.concatenate([starts, [len(addresses)]]))
        return _rows(
            [
                Piece(self.program.arrays[place].name, int(at) - self.base[place], int(size))
                for at, place, size in zip(addresses[starts], owners[starts], sizes, strict=True)
            ]
        )

    def _send(self, pieces: Sequence[Piece]) -> Iterator[Move]:
        if all(piece.fits(self.beat) for piece in pieces):
            for piece in pieces:
                at = self._bytes(piece)
                clean = bool(self.clean[at].all())
                yield Send(piece.bytes // WORD, piece.region, in_place=True, clean=clean)
                self.clean[at] = True
            return
        place = self._apart(Own.PACKED, self.packed, pieces)
        self.packed += -(-place.size // CACHE_LINE) * CACHE_LINE
        yield Send(
            place.size // WORD, place.region, in_place=True, of=tuple(piece.region for piece in pieces)
        )

    def _receive(self, pieces: Sequence[Piece]) -> Iterator[Move]:
        if len(pieces) == 1 and pieces[0].fits(CACHE_LINE):
            yield Receive(pieces[0].bytes // WORD, pieces[0].region, add=False, in_place=True)
        elif pieces:
            place = self._apart(Own.UNPACKED, self.unpacked, pieces)
            self.unpacked += -(-place.size // CACHE_LINE) * CACHE_LINE
            of = tuple(piece.region for piece in pieces)
            yield Receive(place.size // WORD, place.region, add=False, in_place=True, of=of)

    def _apart(self, array: Own, begin: int, pieces: Sequence[Piece]) -> Piece:
        """Whole beats in an array of the driver's."""
        return Piece(array, begin, -(-sum(piece.bytes for piece in pieces) // self.beat) * self.beat)

    def _bytes(self, piece: Piece) -> npt.NDArray[np.int64]:
        """Its bytes in the host's memory."""
        array = next(array for array in self.program.arrays if array.name == piece.array)
        return array.base + places(piece.region)


def places(region: Region) -> npt.NDArray[np.int64]:
    """Its bytes in its array."""
    lines, span = region.spans
    begins = span.base + (lines.stride or 0) * np.arange(lines.tile)
    return (begins[:, None] + np.arange(span.tile)).ravel()


def _rows(pieces: Sequence[Piece]) -> list[Piece]:
    """Equal pieces at equal distances become rows."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and (last.array, last.size) == (piece.array, piece.size):
            step = piece.offset - last.offset if last.rows == 1 else last.stride
            follows = piece.offset == last.offset + last.rows * step
            if follows and last.size <= step <= MAX_STRIDE and last.rows < MAX_ROWS:
                merged[-1] = Piece(last.array, last.offset, last.size, last.rows + 1, step)
                continue
        merged.append(piece)
    return merged
