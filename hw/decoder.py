"""Opcode words to programs: the only place where the encoding of a specification becomes hardware.

A program is the list of an opcode's device actions, the first in the lowest bits. An action of all zeros
is `FETCH`, so a program that is used up makes the device fetch the next opcode.
"""

from __future__ import annotations

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.isa.spec import AcceleratorSpec
from axiloom.isa.types import WORD_BITS, Clear, Compute, Load, Opcode, SendDim, Skip, Store

FETCH = 0
LOAD_A = 1
LOAD_B = 2
COMPUTE = 3
STORE = 4
CLEAR = 5
SKIP = 6
SET_DIMS = 7
"""Set dims from a word of the first layout (:attr:`Programs.dims_words`); the next layout is 8, and so on."""


class Programs:
    """The opcodes of a specification as programs of actions of `action_width` bits."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.dims_words: list[SendDim] = []
        """The distinct layouts of a word that sets the dims."""
        self._actions = {name: self._actions_of(opcode) for name, opcode in spec.opcodes.items()}
        self._literals = {name: opcode.literal for name, opcode in spec.opcodes.items()}

    def _actions_of(self, opcode: Opcode) -> list[int]:
        actions = []
        for action, host in opcode.steps():
            if isinstance(action, Load):
                actions.append(LOAD_A if action.operand == "A" else LOAD_B)
            elif isinstance(action, Compute):
                actions.append(COMPUTE)
            elif isinstance(action, Store):
                actions.append(STORE)
            elif isinstance(action, Clear):
                actions.append(CLEAR)
            elif isinstance(action, Skip):
                actions.append(SKIP)
            elif isinstance(host, SendDim):
                if host not in self.dims_words:
                    self.dims_words.append(host)
                actions.append(SET_DIMS + self.dims_words.index(host))
        return actions

    @property
    def action_width(self) -> int:
        return (SET_DIMS + max(0, len(self.dims_words) - 1)).bit_length()

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


class Decoder(wiring.Component):
    """Combinational: `known` if `word` is an opcode word, and its `program`."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        super().__init__({"word": In(WORD_BITS), "known": Out(1), "program": Out(programs.width)})

    @property
    def programs(self) -> Programs:
        return self._programs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.Switch(self.word):
            for literal, program in self.programs.words().values():
                with m.Case(literal):
                    m.d.comb += [self.known.eq(1), self.program.eq(Const(program, self.programs.width))]
        return m
