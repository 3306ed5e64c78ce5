"""A program as transfers: which words and pieces of arrays go to the device, where what comes back goes.

Pieces that the DMA can move lie in memory as they travel: whole beats, equal rows at equal distances. The CPU
packs the others, or takes them apart again once they are there. A fence lies between a store and what needs
its bytes: the device's order does not bind the DMA, which fetches ahead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.host import Addresses, access
from axiloom.selection.drive.tokens import tokened
from axiloom.selection.program.program import HostArray, Program, array_bytes

LINE = 64
"""Bytes of the longest cache line of a CPU here."""
MOST_ROWS, MOST_STRIDE = 8191, 524287
"""Of a descriptor (``sw/include/axiloom_sg.h``)."""
WORD = 4


@dataclass(frozen=True)
class Piece:
    """`rows` rows of `size` bytes of an array, `stride` bytes from row to row, from byte `offset` on."""

    array: str
    offset: int
    size: int
    rows: int = 1
    stride: int = 0

    @property
    def bytes(self) -> int:
        return self.size * self.rows


@dataclass(frozen=True)
class Words:
    """Of a command, padded to a beat, 32 bits each; `comment` is the command."""

    words: tuple[int, ...]
    comment: str


@dataclass(frozen=True)
class Send:
    """A piece as it lies in memory; the CPU's writes to it are `clean` before, or must be made so."""

    piece: Piece
    clean: bool


@dataclass(frozen=True)
class Gather:
    """Pieces that the CPU packs at byte `at` of a place of its own: `size` bytes, whole beats."""

    pieces: tuple[Piece, ...]
    at: int
    size: int


@dataclass(frozen=True)
class Receive:
    """The next packet, straight to its place."""

    piece: Piece


@dataclass(frozen=True)
class Scatter:
    """The next packet, `size` bytes at byte `at` of a place of its own; the CPU takes it apart at a fence."""

    pieces: tuple[Piece, ...]
    at: int
    size: int


@dataclass(frozen=True)
class Fence:
    """All that was sent has been taken, all that was to come is there."""


Step: TypeAlias = Words | Send | Gather | Receive | Scatter | Fence


@dataclass(frozen=True)
class Plan:
    """`packed` and `unpacked`: bytes of the places where the CPU packs and takes apart."""

    program: Program
    stream_width: int
    steps: tuple[Step, ...]
    packed: int
    unpacked: int

    @property
    def bytes_in(self) -> int:
        """That the device takes, words of commands too."""
        return sum(_sent(step) for step in self.steps)

    @property
    def bytes_out(self) -> int:
        return sum(
            step.piece.bytes if isinstance(step, Receive) else step.size
            for step in self.steps
            if isinstance(step, Receive | Scatter)
        )


def _sent(step: Step) -> int:
    match step:
        case Words(words=words):
            return WORD * len(words)
        case Send(piece=piece):
            return piece.bytes
        case Gather(size=size):
            return size
    return 0


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
        steps: list[Step] = []
        for number_, command in enumerate(self.program.commands):
            inputs = encoder.inputs(command)
            touched = access(self.isa, command.instruction, inputs)
            where = f"command {number_}, {command.instruction}"
            steps += self._fence(touched.reads, touched.writes)
            writes = self._pieces(touched.writes, where)
            steps += self._receive(writes)
            fields = ", ".join(f"{name} {value}" for name, value in command.fields.items())
            steps.append(
                Words(
                    self._words(encoder, command_bits=encoder.bits, word=encoder.words(command)),
                    f"{command.instruction} {fields}".strip(),
                )
            )
            steps += self._send(self._pieces(touched.reads, where), touched.reads)
            self.stored[touched.writes] = True
            self._read_only(touched.writes, where)
        steps.append(Fence())
        return Plan(self.program, self.width, tuple(steps), self.packed, self.unpacked)

    def _words(self, encoder: Encoder, command_bits: int, word: int) -> tuple[int, ...]:
        beats = -(-command_bits // self.width)
        count = beats * self.beat // WORD
        return tuple(word >> 32 * at & 0xFFFFFFFF for at in range(count))

    def _read_only(self, writes: Addresses, where: str) -> None:
        for place in set(self.owner[writes].tolist()):
            array = self.program.arrays[place]
            if array.role in ("in", "constant"):
                raise CompileError(f"{where}: it stores to {array.name}, which is {array.role}")

    def _fence(self, reads: Addresses, writes: Addresses) -> Iterator[Step]:
        if self.stored[reads].any() or self.stored[writes].any():
            self.clean |= self.stored
            self.stored[:] = False
            yield Fence()

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

    def _send(self, pieces: Sequence[Piece], reads: Addresses) -> Iterator[Step]:
        if not pieces:
            return
        if all(_moves(piece, self.beat) for piece in pieces):
            for piece in pieces:
                at = self._bytes(piece)
                yield Send(piece, bool(self.clean[at].all()))
                self.clean[at] = True
            return
        size = -(-sum(piece.bytes for piece in pieces) // self.beat) * self.beat
        yield Gather(tuple(pieces), self.packed, size)
        self.packed += -(-size // LINE) * LINE

    def _receive(self, pieces: Sequence[Piece]) -> Iterator[Step]:
        if not pieces:
            return
        if len(pieces) == 1 and _moves(pieces[0], LINE):
            yield Receive(pieces[0])
            return
        size = -(-sum(piece.bytes for piece in pieces) // self.beat) * self.beat
        yield Scatter(tuple(pieces), self.unpacked, size)
        self.unpacked += -(-size // LINE) * LINE

    def _bytes(self, piece: Piece) -> npt.NDArray[np.int64]:
        """Its bytes in the host's memory."""
        array = next(array for array in self.program.arrays if array.name == piece.array)
        rows = array.base + piece.offset + piece.stride * np.arange(piece.rows)
        return (rows[:, None] + np.arange(piece.size)).ravel()


def _moves(piece: Piece, unit: int) -> bool:
    """Whether a descriptor can say it, in whole units: beats, or cache lines where the DMA writes."""
    return not any(value % unit for value in (piece.offset, piece.size, piece.stride))


def _rows(pieces: Sequence[Piece]) -> list[Piece]:
    """Equal pieces at equal distances become rows."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and (last.array, last.size) == (piece.array, piece.size):
            step = piece.offset - last.offset if last.rows == 1 else last.stride
            follows = piece.offset == last.offset + last.rows * step
            if follows and last.size <= step <= MOST_STRIDE and last.rows < MOST_ROWS:
                merged[-1] = Piece(last.array, last.offset, last.size, last.rows + 1, step)
                continue
        merged.append(piece)
    return merged
