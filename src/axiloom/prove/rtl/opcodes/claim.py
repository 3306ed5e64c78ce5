"""What is claimed of a device: cases of a claim, and what came out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from axiloom.isa.formal.ila import Instruction
from axiloom.prove.rtl.opcodes.trial import Control

WORD = z3.BitVec("word", 32)


@dataclass(frozen=True)
class Case:
    """A start: a control state, an instruction (None: no word), its word, what is chosen and assumed."""

    control: Control
    instruction: Instruction | None
    word: Any = WORD
    limits: tuple[Any, ...] = ()
    """What is known of the word."""
    choice: Mapping[str, Any] = field(default_factory=dict)
    assumed: tuple[tuple[Any, Any], ...] = ()


@dataclass
class Outcome:
    """Of all cases of one claim."""

    name: str
    text: str
    holds: bool | None = True
    states: int = 0
    cases: int = 0
    seconds: float = 0.0
    solver: str = "z3"
    why: str = ""
    bound: int | None = None
    """Words to which it was looked at; None: of any number."""
    words: set[int] = field(default_factory=set)
    """The words that were looked at, where these are not all."""
    never: bool = False
    """Of an instruction: no case is one."""
    done: set[str] = field(default_factory=set)
    certified: str = ""
    fault: Fault | None = None


@dataclass(frozen=True)
class Fault:
    """Where a claim fails: the case, the cycles until then, and values of the free constants."""

    case: Case
    path: tuple[tuple[int, int], ...]
    values: Mapping[str, int]
    words: tuple[int, ...] = ()
    """A stream from reset that shows it, where one is known."""


class GuessedWrongError(Exception):
    """An invariant was guessed too strong; it is weaker now, and what led there is to be proved again."""
