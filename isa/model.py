"""The functional model of any specification: stream words in, stream words out.

It is the reference that RTL is tested against: what the device computes and sends, and in which error it
stops, but not when.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from axiloom.isa.spec import AcceleratorSpec
from axiloom.isa.types import Clear, Compute, DataType, Load, Opcode, SendDim, SetDims, Skip, Store
from axiloom.isa.words import Words, pack, unpack

_Matrix = npt.NDArray[np.uint32]


class DeviceError(IntEnum):
    """Why a device stopped: the value of ``debug_error``. Only reset gets it out of an error."""

    OK = 0
    UNKNOWN_OPCODE = 1
    """A word where an opcode was due that is no opcode."""
    BAD_DIMS = 2
    """Sizes that are zero, no multiple of the granule, or give an operand a tile larger than its buffer."""
    NOT_LOADED = 3
    """compute before A or B was loaded since reset."""
    DIMS_MISMATCH = 4
    """compute under other sizes than A or B was loaded with, or than C was begun with since it was cleared;
    or store of such a C under other sizes."""


class _StopError(Exception):
    def __init__(self, code: DeviceError, why: str) -> None:
        self.code = code
        super().__init__(why)


class FunctionalModel:
    """A device of `spec`, which must be sound (:func:`axiloom.isa.check.check`).

    Attributes:
        code: the error that stopped the device, `DeviceError.OK` while it runs.
        error: the same as one line for people, or None.
        tlast: one flag for each word that the last :meth:`feed` returned.
        accepted: words taken since reset; a stopped device takes none.
    """

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.spec = spec
        self._opcodes = {op.literal: op for op in spec.opcodes.values()}
        self.reset()

    def reset(self) -> None:
        """Back to the state after power-on: nothing loaded, C cleared, dims of the default tile."""
        self.code = DeviceError.OK
        self.error: str | None = None
        self.tlast: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self.accepted = 0
        self._tile = self.spec.tile.size
        self._loaded: dict[str, tuple[tuple[int, ...], _Matrix]] = {}
        self._sum: _Matrix | None = None  # (m, n); None while C is cleared
        self._sent: list[Words] = []
        self._pending: Words = np.zeros(0, dtype=np.uint32)
        self._beat: list[int] = []  # words of the current beat that nothing has looked at yet
        self._run = self._execute()
        self._wanted = next(self._run)

    def feed(self, words: npt.ArrayLike) -> Words:
        """Take `words` from the stream; returns the words that the device sends because of them (uint32).

        Words may come in any portions; an unfinished payload or beat waits for its rest. After a protocol
        error (:attr:`code`) the device takes no more words.
        """
        self._sent = []
        if self.code is DeviceError.OK:
            self._take(np.asarray(words, dtype=np.uint32).reshape(-1))
        self.tlast = np.concatenate([np.zeros(0, np.bool_), *(_last_flag(tile.size) for tile in self._sent)])
        return np.concatenate([np.zeros(0, np.uint32), *self._sent])

    def _take(self, words: Words) -> None:
        held = self._pending.size
        stream = np.concatenate([self._pending, words])
        at = 0
        while at + self._wanted <= stream.size:
            chunk = stream[at : at + self._wanted]
            at += self._wanted
            try:
                self._wanted = self._run.send(chunk)
            except _StopError as stop:
                self.code = stop.code
                self.accepted += at - held
                self.error = f"{stop.code.name} at word {self.accepted}: {stop}"
                return
        self.accepted += words.size
        self._pending = stream[at:]

    # --- what the device does: a generator that yields the number of words it waits for ------------------

    def _execute(self) -> Generator[int, Words, None]:
        while True:
            yield from self._opcode((yield from self._decode()))
            self._beat = []

    def _word(self) -> Generator[int, Words, int]:
        """The next single word; it may share its beat with the one before."""
        if not self._beat:
            self._beat = [int(word) for word in (yield self.spec.beat_words)]
        return self._beat.pop(0)

    def _decode(self) -> Generator[int, Words, Opcode]:
        if None in self._opcodes:
            return self._opcodes[None]
        word = yield from self._word()
        if word not in self._opcodes:
            known = ", ".join(f"{op.literal:#x} {op.name}" for op in self.spec.opcodes.values())
            raise _StopError(DeviceError.UNKNOWN_OPCODE, f"{word:#x} is no opcode; they are {known}")
        return self._opcodes[word]

    def _opcode(self, opcode: Opcode) -> Generator[int, Words, None]:
        for action, host in opcode.steps():
            if isinstance(action, Load):
                operand = action.operand
                self._beat = []
                words = yield self.spec.operand_words(operand, self._tile)
                shape = self.spec.operand_shape(operand, self._tile)
                self._loaded[operand] = (shape, self._matrix(operand, words, shape))
            elif isinstance(action, Skip):
                yield from self._word()
            elif isinstance(action, SetDims) and isinstance(host, SendDim):
                self._set_dims(host, (yield from self._word()))
            elif isinstance(action, Compute):
                self._compute(opcode)
            elif isinstance(action, Store):
                self._store(opcode)
            elif isinstance(action, Clear):
                self._sum = None

    def _matrix(self, operand: str, words: Words, shape: tuple[int, ...]) -> _Matrix:
        """An operand's tile in the kernel's order, sign-extended to 32 bits."""
        elements = unpack(words, self.spec.operand_type(operand), shape)
        return self._kernel_order(operand, elements.astype(np.int32).view(np.uint32))

    def _kernel_order(self, operand: str, matrix: _Matrix) -> _Matrix:
        """(m, k), (k, n) or (m, n) from the operand's own order of dims, or the reverse."""
        kernel = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}[operand]
        return matrix if self.spec.data[operand] == kernel else matrix.T

    def _set_dims(self, action: SendDim, word: int) -> None:
        sizes = self.spec.sizes(self._tile)
        for field in action.fields:
            sizes[field.dim] = (word >> field.shift) & ((1 << action.field_bits(field)) - 1)
        self._tile = tuple(sizes.values())
        text = "x".join(map(str, self._tile))
        granule = self.spec.tile.granule or self.spec.tile.size
        if any(size == 0 or size % unit for size, unit in zip(self._tile, granule, strict=True)):
            unit = "x".join(map(str, granule))
            raise _StopError(DeviceError.BAD_DIMS, f"{text} is not a multiple of {unit}")
        for operand, capacity in self.spec.buffers.items():
            if self.spec.operand_words(operand, self._tile) > capacity:
                raise _StopError(
                    DeviceError.BAD_DIMS, f"{text}: {operand} does not fit its buffer of {capacity} words"
                )

    def _compute(self, opcode: Opcode) -> None:
        for operand in ("A", "B"):
            if operand not in self._loaded:
                raise _StopError(
                    DeviceError.NOT_LOADED, f"{opcode.name} computes, but {operand} is not loaded"
                )
            shape, _ = self._loaded[operand]
            self._same_shape(opcode, operand, shape)
        if self._sum is None:
            sizes = self.spec.sizes(self._tile)
            self._sum = np.zeros((sizes["m"], sizes["n"]), dtype=np.uint32)
        self._same_shape(opcode, "C", self._kernel_order("C", self._sum).shape)
        self._sum = self._sum + self._loaded["A"][1] @ self._loaded["B"][1]

    def _store(self, opcode: Opcode) -> None:
        if self._sum is None:
            self._sent.append(np.zeros(self.spec.operand_words("C", self._tile), dtype=np.uint32))
            return
        tile = self._kernel_order("C", self._sum)
        self._same_shape(opcode, "C", tile.shape)
        self._sent.append(pack(tile.view(np.int32), DataType.INT32))

    def _same_shape(self, opcode: Opcode, operand: str, shape: tuple[int, ...]) -> None:
        now = self.spec.operand_shape(operand, self._tile)
        if shape != now:
            raise _StopError(
                DeviceError.DIMS_MISMATCH,
                f"{opcode.name}: {operand} has shape {shape}, the dims now say {now}",
            )


def _last_flag(size: int) -> npt.NDArray[np.bool_]:
    flags = np.zeros(size, dtype=np.bool_)
    flags[-1] = True
    return flags
