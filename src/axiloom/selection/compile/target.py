"""`Target`: an instruction set as selection sees it: what its instructions compute, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

from axiloom.base.errors import CompileError
from axiloom.graph.graph import Type
from axiloom.graph.numbers import number
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.compile.offered import Offers, Steps
from axiloom.selection.machine.derive import Meaning, Meanings, Operand
from axiloom.selection.program.program import Program

Cost: TypeAlias = Callable[[str, Mapping[str, int]], int]
"""Cycles of an instruction with the values of its fields."""


@dataclass(frozen=True)
class Target:
    """`cost` None: rows moved and multiply-adds, an element of 64 each; good for comparisons alone.
    `offers`: what it computes in blocks of commands."""

    isa: InstructionSet
    meanings: Meanings
    cost: Cost | None = None
    offers: Offers | None = None
    whole: Callable[[Program], int] | None = None
    """Cycles of a block by itself."""

    @cached_property
    def host(self) -> str:
        names = [name for name, memory in self.isa.memories.items() if memory.host]
        if len(names) != 1:
            raise CompileError(f"{self.isa.name} has {len(names)} memories of the host; programs need one")
        return names[0]

    @cached_property
    def _known(self) -> dict[tuple[int, ...], list[Meaning]]:
        return {}

    def instructions(self, types: Iterable[Type]) -> list[Meaning]:
        """Meanings at the sizes that values of these types have; none where blocks are offered."""
        if self.offers is not None:
            return []
        most = max(memory.shape[0] for memory in self.isa.memories.values() if not memory.host)
        rows = {type_.shape[0] for type_ in types if len(type_.shape) == 2}
        sizes = tuple(sorted(row for row in rows if 0 < row <= most))
        if sizes not in self._known:
            self._known[sizes] = self.meanings.at(sizes)
        return self._known[sizes]

    def cycles(self, meaning: Meaning) -> int:
        if self.offers is not None and isinstance(meaning, Steps):
            return self._of_block(meaning)
        if self.cost is not None:
            addresses = {operand.field: 0 for operand in (*meaning.operands, meaning.result) if operand.field}
            return self.cost(meaning.instruction, {**addresses, **meaning.sizes})
        rows = [prod(operand.type.shape[:-1]) for operand in (*meaning.operands, meaning.result)]
        return max(rows) * (64 if len(meaning.operands) > 1 else 1)

    def _of_block(self, block: Steps) -> int:
        return self.whole(block.own) if self.whole is not None else len(block.commands)

    def units(self, memory: str, type_: Type) -> int:
        """What an address of that memory counts: rows of the device's, bytes of the host's."""
        if memory == self.host:
            return type_.elements * element_bytes(type_)
        return type_.shape[0]

    def size(self, memory: str) -> int:
        return self.isa.memories[memory].shape[0]


def element_bytes(type_: Type) -> int:
    return number(type_.number).host.itemsize


def is_move(meaning: Meaning) -> bool:
    """Whether the result is the operand, in another memory."""
    return meaning.value.op == "parameter"


def path(meanings: Iterable[Meaning], source: str, target: str, type_: Type) -> Meaning | None:
    """The move of a value of this type from one memory to another."""
    for meaning in meanings:
        if is_move(meaning) and meaning.result.type == type_ and _from(meaning) == (source, target):
            return meaning
    return None


def _from(meaning: Meaning) -> tuple[str, str]:
    operand: Operand = meaning.operands[0]
    return operand.memory, meaning.result.memory
