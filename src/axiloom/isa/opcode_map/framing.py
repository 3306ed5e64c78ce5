"""How words of a stream belong to instructions: an opcode word, single words, and tiles in between.

A single word may share its beat with the one before; the words of a tile begin with a beat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from axiloom.isa.instructions.tree import Const, Expr

ONE = Const(1)


class Kind(Enum):
    """What happens between two statements."""

    SINGLE = auto()
    """A word comes: the next 32 bits of the input `word`."""
    LOAD = auto()
    """Words come: the first `amount` words of `memory`."""
    STORE = auto()
    """The first `amount` words of `memory` go, TLAST on the last one."""
    WORK = auto()
    """`amount` multiply-adds, which take cycles, have been done."""


@dataclass(frozen=True)
class Event:
    """What happens before statement `at` of an instruction's body."""

    at: int
    kind: Kind
    amount: Expr = ONE
    memory: str = ""


@dataclass(frozen=True)
class Framing:
    """Of all instructions of a set."""

    beat_words: int
    """32-bit words of a beat."""
    opcodes: Mapping[int | None, str]
    """Opcode word to instruction; None: the one that is executed for ever, without an opcode word."""
    events: Mapping[str, tuple[Event, ...]]
    titles: Mapping[str, str]
    """Instruction to the opcode's name, for people."""
    bits: tuple[int, ...] = ()
    """Opcode words that a word may combine: their instructions follow each other in this order, each with
    that word as its opcode word."""

    def decode(self, word: int) -> tuple[str, ...]:
        """The instructions of an opcode word; none if it is no opcode."""
        if word in self.opcodes:
            return (self.opcodes[word],)
        parts = [bit for bit in self.bits if bit & word]
        return tuple(self.opcodes[bit] for bit in parts) if word == sum(parts) else ()

    @property
    def known(self) -> str:
        """All opcode words, for people."""
        words = ", ".join(
            f"{word:#x} {self.titles[name]}" for word, name in self.opcodes.items() if word is not None
        )
        return words + (", and combinations of bits" if self.bits else "")
