"""`Held`: a command's own register, so that the front may go on to the next one while its unit works."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from amaranth.hdl import Cat, Module, Signal, Value

from axiloom.hw.command.decode import Decoded


class Worker(Protocol):
    """`start` is high for a cycle, `done` in the last cycle of a command."""

    start: Signal
    done: Signal


class Held:
    """Of the commands of one unit: `wanted` is high while such a one waits at the front.

    `words` and `active` are those of the command under way: by input, and by instruction.
    """

    def __init__(
        self,
        name: str,
        words: Mapping[str, Value],
        instructions: Mapping[str, Decoded],
        of: Iterable[str],
    ) -> None:
        """`of`: names of instructions."""
        self.name = name
        self._given, self._enabled = (
            words,
            {instruction: instructions[instruction].enabled for instruction in of},
        )
        self.wanted = Cat(*self._enabled.values()).any()
        self.words = {word: Signal(value.shape(), name=f"{name}_{word}") for word, value in words.items()}
        self.active = {instruction: Signal(name=f"{name}_is_{instruction}") for instruction in self._enabled}
        self.running = Signal(name=f"{name}_running")

    def build(self, m: Module, begins: Value, unit: Worker) -> None:
        """`begins`: the command at the front is taken in this cycle. Its unit starts a cycle later."""
        taken, start = Signal(name=f"{self.name}_taken"), Signal(name=f"{self.name}_start_held")
        m.d.comb += [taken.eq(begins & self.wanted), unit.start.eq(start)]
        m.d.sync += start.eq(taken)
        with m.If(unit.done):
            m.d.sync += self.running.eq(0)
        with m.If(taken):
            m.d.sync += self.running.eq(1)
            m.d.sync += [word.eq(self._given[name]) for name, word in self.words.items()]
            m.d.sync += [signal.eq(self._enabled[name]) for name, signal in self.active.items()]
