"""How many cycles each command takes, exactly, while its payload is there and its results are taken.

A command's cycles are those from the one in which its first beat is taken to the one in which the next
command's first beat can be. A program takes one more: the register in front of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from axiloom.accelerators.flexasr.rtl import activate, pool, product
from axiloom.accelerators.flexasr.rtl.meanings import LANES, Machine
from axiloom.hw.command.decode import command_bits
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.state import State

_DECODE = 1
"""Cycles between a command's last word and its unit."""
_STORE = 2
"""Of a vector that is stored, before its beats."""
FRONT = 1


class Cycles:
    """Of `machine` with such streams."""

    def __init__(self, machine: Machine, stream_width: int = 64) -> None:
        self.machine, self.stream_width = machine, stream_width
        self._meanings = {meaning.instruction: meaning for meaning in machine.meanings}
        self._reference = Reference(machine.isa, State(machine.isa))
        self._words = -(-command_bits(machine.isa) // stream_width)

    def command(self, instruction: str, fields: Mapping[str, int]) -> int:
        """Of one command with these fields."""
        meaning = self._meanings[instruction]
        n = meaning.in_fields.get("n")
        many = 0 if n is None else int(self._reference.value(n, fields))
        beats = 8 * LANES // self.stream_width
        work = {
            "load": max(1, many * beats),
            "store": many * (_STORE + beats) or 1,
            "pool": many * pool.CYCLES or 1,
            "product": max(1, LANES * many) + product.LATENCY + product.BEHIND - 1,
            "activate": activate.CYCLES,
        }[meaning.unit]
        return self._words + _DECODE + work

    def program(self, commands: Iterable[tuple[str, Mapping[str, int]]]) -> int:
        """From the first beat offered to the last cycle in which something happens."""
        return FRONT + sum(self.command(*command) for command in commands)
