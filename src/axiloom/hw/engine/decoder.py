"""Opcode words to programs: the only place where the encoding of a specification becomes hardware.

A program is the list of an opcode's device actions, the first in the lowest bits. An action of all zeros
is `FETCH`, so a program that is used up makes the device fetch the next opcode.

On a stream wider than a word, several single words come in one beat (:mod:`axiloom.isa.contract.framing`).
Which of
them share a beat is known here, so what only has to be skipped costs nothing, and the last action that looks
at a beat takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.isa.contract.spec import AcceleratorSpec, combined
from axiloom.isa.contract.types import (
    WORD_BITS,
    Clear,
    Compute,
    Load,
    Opcode,
    Requantise,
    Save,
    SendDim,
    SetDims,
    Skip,
    Store,
)

FETCH = 0
COMPUTE = 1
STORE = 2
CLEAR = 3
SKIP = 4
OTHERS = 5
"""Loads (:meth:`Programs.load`), `requantise` and `save` where there are such, words that set dims
(:meth:`Programs.set_dims`)."""


@dataclass(frozen=True)
class DimsWord:
    """A word that sets the dims: its layout, its place in a beat, whether nothing behind it there counts."""

    layout: SendDim
    lane: int
    last: bool


class Programs:
    """The opcodes of a specification as programs of actions of `action_width` bits."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.operands = tuple(
            operand
            for operand in spec.operands
            if any(Load(operand) in opcode.device for opcode in spec.opcodes.values())
        )
        """What the device loads."""
        self.requantises = any(opcode.requantises for opcode in spec.opcodes.values())
        self.saves = any(Save() in opcode.device for opcode in spec.opcodes.values())
        self.dims_words: list[DimsWord] = []
        """The distinct words that set the dims."""
        self._beat_words = spec.link.beat_words
        opcodes = _with_combinations(spec)
        self._literals = {name: opcode.literal for name, opcode in opcodes.items()}
        self._shared: set[str] = set()
        self._actions = {name: self._actions_of(opcode) for name, opcode in opcodes.items()}

    def _actions_of(self, opcode: Opcode) -> list[int]:
        steps = list(opcode.steps())
        beats = self._beats(opcode)
        sets = [index for index, (action, _) in enumerate(steps) if isinstance(action, SetDims)]
        looked_at = {beats[index][0] for index in sets}
        if opcode.literal is not None:
            if 0 in looked_at:
                self._shared.add(opcode.name)
            looked_at.add(0)
        actions = []
        for index, (action, host) in enumerate(steps):
            if isinstance(action, Load):
                actions.append(self.load(action.operand))
            elif isinstance(action, Compute):
                actions.append(COMPUTE)
            elif isinstance(action, Store):
                actions.append(STORE)
            elif isinstance(action, Requantise):
                actions.append(self.requantise)
            elif isinstance(action, Clear):
                actions.append(CLEAR)
            elif isinstance(action, Save):
                actions.append(self.save)
            elif isinstance(action, Skip):
                if beats[index][0] not in looked_at:
                    actions.append(SKIP)
                    looked_at.add(beats[index][0])
            elif isinstance(host, SendDim):
                beat, lane = beats[index]
                word = DimsWord(host, lane, not any(i > index and beats[i][0] == beat for i in sets))
                if word not in self.dims_words:
                    self.dims_words.append(word)
                actions.append(self.set_dims(self.dims_words.index(word)))
        return actions

    def load(self, operand: str) -> int:
        """The action that loads `operand`."""
        return OTHERS + self.operands.index(operand)

    @property
    def requantise(self) -> int:
        """The action that sends the result requantised, if :attr:`requantises`."""
        return OTHERS + len(self.operands)

    @property
    def save(self) -> int:
        """The action that keeps the result and begins the next one, if :attr:`saves`."""
        return OTHERS + len(self.operands) + self.requantises

    @property
    def queued(self) -> tuple[int, ...]:
        """The actions that the receiver queues for others: one that is missing here would never end."""
        kept = (self.save,) if self.saves else ()
        return COMPUTE, STORE, CLEAR, *((self.requantise,) if self.requantises else ()), *kept

    def set_dims(self, index: int) -> int:
        """The action that sets dims from a word like ``dims_words[index]``."""
        return OTHERS + len(self.operands) + self.requantises + self.saves + index

    def _beats(self, opcode: Opcode) -> dict[int, tuple[int, int]]:
        """Of each step that reads a single word: which beat of single words it is in, and where in it."""
        places = {}
        word = 0 if opcode.literal is None else 1
        for index, (action, _) in enumerate(opcode.steps()):
            if isinstance(action, Load):
                word += -word % self._beat_words
            elif isinstance(action, Skip | SetDims):
                places[index] = divmod(word, self._beat_words)
                word += 1
        return places

    @property
    def any_shared(self) -> bool:
        return bool(self._shared)

    def shared(self, name: str) -> bool:
        """Whether the beat of an opcode word holds dims too, so that fetching must not take it."""
        return name in self._shared

    @property
    def action_width(self) -> int:
        return self.set_dims(max(0, len(self.dims_words) - 1)).bit_length()

    @property
    def width(self) -> int:
        """Bits of the longest program."""
        return self.action_width * max(1, *map(len, self._actions.values()))

    @property
    def endless(self) -> int | None:
        """The program of an accelerator without opcode words, which it repeats for ever."""
        for name, literal in self._literals.items():
            if literal is None:
                return self._pack(self._actions[name])
        return None

    def words(self) -> dict[str, tuple[int, int]]:
        """Opcode name to its opcode word and program."""
        return {
            name: (literal, self._pack(self._actions[name]))
            for name, literal in self._literals.items()
            if literal is not None
        }

    def _pack(self, actions: list[int]) -> int:
        return sum(action << (index * self.action_width) for index, action in enumerate(actions))


def _with_combinations(spec: AcceleratorSpec) -> dict[str, Opcode]:
    """All that an opcode word may ask for: one opcode, or several at once where the device decodes bits."""
    opcodes = dict(spec.opcodes)
    literals = {opcode.literal for opcode in spec.opcodes.values()}
    for count in range(2, len(spec.bits) + 1):
        for names in combinations(spec.bits, count):
            parts = [spec.opcodes[name] for name in names]
            word = sum(part.literal or 0 for part in parts)
            if word not in literals:
                both = combined(word, parts)
                opcodes[both.name] = both
    return opcodes


class Decoder(wiring.Component):
    """Combinational: `known` if `word` is an opcode word, and its `program`. `shared`, a port only where that
    can be: the beat of the opcode word holds dims too.
    """

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        shared = {"shared": Out(1)} if programs.any_shared else {}
        super().__init__({"word": In(WORD_BITS), "known": Out(1), "program": Out(programs.width), **shared})

    @property
    def programs(self) -> Programs:
        return self._programs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.Switch(self.word):
            for name, (literal, program) in self.programs.words().items():
                with m.Case(literal):
                    m.d.comb += [self.known.eq(1), self.program.eq(Const(program, self.programs.width))]
                    if self.programs.shared(name):
                        m.d.comb += self.shared.eq(1)
        return m
