"""The functional model of any specification: stream words in, stream words out.

It is the reference that RTL is tested against: what the device computes and sends, and in which error it
stops, but not when. What an opcode does is its instruction (``reader.py``), which the simulator executes in
pieces, between the words that come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from axiloom.isa.contract.errors import DeviceError, StopError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.isa.contract.words import Words
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import RefusedError
from axiloom.isa.instructions.tree import Const
from axiloom.isa.opcode_map.framing import Event, Kind
from axiloom.isa.opcode_map.reader import read

Step = tuple[Callable[..., int] | int, Event | None]
"""A piece of an instruction, which returns the amount of the event behind it; or the amount alone."""


class FunctionalModel:
    """A device of `spec`, which must be sound (:func:`axiloom.isa.check.check.check`).

    Attributes:
        code: the error that stopped the device, `DeviceError.OK` while it runs.
        error: the same as one line for people, or None.
        tlast: one flag for each word that the last :meth:`feed` returned.
        accepted: words taken since reset; a stopped device takes none.
        multiply_adds: of what the last :meth:`feed` computed, without what an array rounds up.
    """

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.spec = spec
        opcodes = read(spec)
        self._framing, self._simulator = opcodes.framing, Simulator(opcodes.instructions)
        self._steps = cache(self._compiled)
        self.reset()

    def reset(self) -> None:
        """Back to the state after power-on: nothing loaded, the result cleared, the default tile, settings
        at their reset values."""
        self.code = DeviceError.OK
        self.error: str | None = None
        self.tlast: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self.accepted = 0
        self.multiply_adds = 0
        self._simulator.reset()
        self._state = self._simulator.state
        host = [name for name, memory in self._simulator.isa.memories.items() if memory.host]
        self._words = {name: self._state[name].view(np.uint32) for name in host}
        self._sent: list[Words] = []
        self._pending: Words = np.zeros(0, dtype=np.uint32)
        self._beat: list[int] = []  # words of the current beat that nothing has looked at yet
        self._run = self._execute()
        self._wanted = next(self._run)

    @property
    def wanted(self) -> int:
        """Words that are missing until something happens: the rest of a beat or of a payload."""
        return self._wanted - self._pending.size

    def feed(self, words: npt.ArrayLike) -> Words:
        """Take `words` from the stream; returns the words that the device sends because of them (uint32).

        Words may come in any portions; an unfinished payload or beat waits for its rest. After a protocol
        error (:attr:`code`) the device takes no more words.
        """
        self._sent = []
        self.multiply_adds = 0
        if self.code is DeviceError.OK:
            self._take(np.asarray(words, dtype=np.uint32).reshape(-1))
        self.tlast = np.concatenate([np.zeros(0, np.bool_), *(_last_flag(tile.size) for tile in self._sent)])
        return np.concatenate([np.zeros(0, np.uint32), *self._sent])

    def _take(self, words: Words) -> None:
        held = self._pending.size
        stream = np.concatenate([self._pending, words]) if held else words
        at = 0
        while at + self._wanted <= stream.size:
            chunk = stream[at : at + self._wanted]
            at += self._wanted
            try:
                self._wanted = self._run.send(chunk)
            except StopError as stop:
                self.code = stop.code
                self.accepted += at - held
                self.error = f"{stop.code.name} at word {self.accepted}: {stop}"
                return
        self.accepted += words.size
        self._pending = stream[at:].copy()

    # --- what the device does: a generator that yields the number of words it waits for ------------------

    def _execute(self) -> Generator[int, Words, None]:
        endless = self._framing.opcodes.get(None)
        while True:
            word = 0 if endless else (yield from self._word())
            names = (endless,) if endless else self._framing.decode(word)
            if not names:
                why = f"{word:#x} is no opcode; they are {self._framing.known}"
                raise StopError(DeviceError.UNKNOWN_OPCODE, why)
            for name in names:
                try:
                    yield from self._instruction(name, word, 0 if endless else WORD_BITS)
                except RefusedError as refused:
                    title = " ".join(self._framing.titles[part] for part in names)
                    why = refused.requirement.message.format(opcode=title, **refused.values)
                    raise StopError(DeviceError(refused.requirement.code or 0), why) from None
            self._beat = []

    def _word(self) -> Generator[int, Words, int]:
        """The next single word; it may share its beat with the one before."""
        if not self._beat:
            self._beat = (yield self._framing.beat_words).tolist()
        return self._beat.pop(0)

    def _instruction(self, name: str, word: int, taken: int) -> Generator[int, Words, None]:
        """One instruction, whose input `word` has `taken` bits so far."""
        state = self._state
        for piece, event in self._steps(name):
            amount = piece if isinstance(piece, int) else piece(state, word)
            if event is None:
                continue
            if event.kind is Kind.SINGLE:
                word |= (yield from self._word()) << taken
                taken += WORD_BITS
            elif event.kind is Kind.LOAD:
                self._beat = []
                self._words[event.memory][:amount] = yield amount
            elif event.kind is Kind.STORE:
                self._sent.append(self._words[event.memory][:amount].copy())
            else:
                self.multiply_adds += amount

    def _compiled(self, name: str) -> list[Step]:
        return list(self._pieces(name))

    def _pieces(self, name: str) -> Iterator[Step]:
        instruction = self._simulator.isa.instructions[name]
        events = self._framing.events[name]
        cuts = [0, *(event.at for event in events), len(instruction.body)]
        for number, (low, high) in enumerate(pairwise(cuts)):
            event = events[number] if number < len(events) else None
            amount = event.amount if event else Const(0)
            body = instruction.body[low:high]
            if body or not isinstance(amount, Const):
                piece = replace(instruction, name=f"{name}_{number}", body=body)
                yield self._simulator.part(piece, amount), event
            elif event:
                yield amount.value, event


def _last_flag(size: int) -> npt.NDArray[np.bool_]:
    flags = np.zeros(size, dtype=np.bool_)
    flags[-1:] = True
    return flags
