"""Accesses of a program beside the arrays that it was given: what the core saw in their guards, as lines.

:mod:`axiloom.cosim.build.guards` makes the guards, ``native/memory/watch.hpp`` looks. An accelerator that
reads and writes memory itself is watched too, by the pointers that it was given (``pointed.hpp``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axiloom.cosim import diagnosis, lines, native
from axiloom.cosim.elf import Program, Symbol
from axiloom.isa.contract.rtl import REGISTERS_AT
from axiloom.isa.contract.types import WORD_BITS

if TYPE_CHECKING:
    from axiloom.isa import AcceleratorSpec

ACCELERATOR = "the accelerator"
WORD_BYTES = WORD_BITS // 8
_DOES = ("reads", "writes", "lets the hardware read", "lets the hardware write")
"""By axl_outside_kind."""


@dataclass(frozen=True)
class Arrays:
    """The arrays of a program that are watched, by their numbers in the core."""

    symbols: tuple[Symbol, ...] = ()
    source: lines.Source = lines.NOWHERE

    def lines(self, library: Any) -> list[str]:
        """One for each place in the program and array, oldest first: a line may be several instructions."""
        places: dict[tuple[str, int, int], list[Any]] = {}
        for number in range(library.axl_outside_count()):
            raw = library.axl_outside(number).contents
            places.setdefault((self.source.place(raw.pc, raw.call), raw.kind, raw.array), []).append(raw)
        return [self._line(place, kind, array, accesses) for (place, kind, array), accesses in places.items()]

    def _line(self, place: str, kind: int, number: int, accesses: Sequence[Any]) -> str:
        array = self.symbols[number]
        first = min(raw.first for raw in accesses) - array.address
        last = max(raw.end for raw in accesses) - array.address - 1
        count = sum(raw.count for raw in accesses)
        times = f"{count} time{'s' if count != 1 else ''}, first at fabric cycle {accesses[0].cycle}"
        return (
            f"{place} {_DOES[kind]} bytes {first} to {last} of {array.name}, "
            f"which has bytes 0 to {array.size - 1}; {times}"
        )


NONE = Arrays()


@dataclass(frozen=True)
class Pointers:
    """The operands that an accelerator reads and writes itself, by their numbers in the core."""

    operands: tuple[tuple[str, str, int], ...]
    """Operand, register, bytes."""

    def lines(self, library: Any) -> list[str]:
        """What it accessed beside them, one line an operand and direction."""
        return [self._line(library.axl_strayed(i).contents) for i in range(library.axl_strayed_count())]

    def _line(self, raw: Any) -> str:
        does = f"{ACCELERATOR} {'writes' if raw.writes else 'reads'}"
        times = f"{raw.count} word{'s' if raw.count != 1 else ''}, first at fabric cycle {raw.cycle}"
        if raw.pointer >= len(self.operands):
            return f"{does} at {raw.first:#x}, and no pointer was written; {times}"
        operand, register, size = self.operands[raw.pointer]
        return (
            f"{does} bytes {raw.first} to {raw.last} of {operand}, which has bytes 0 to {size - 1} "
            f"({register} is 0x{raw.address:08X}); {times}"
        )


def point(library: Any, specs: Sequence[AcceleratorSpec]) -> Pointers:
    """Tell the core which registers take pointers, and how much they point to."""
    pointers, raw = [], []
    for spec in (part for link in specs for part in link.parts):
        for opcode in spec.opcodes.values():
            for carrier in (carrier for carrier in opcode.carried if carrier.pointer):
                at = spec.link.dma.address + REGISTERS_AT + spec.link.rtl.registers[carrier.register]
                writes = carrier.operand in opcode.receives
                words = spec.received_words(opcode) if writes else spec.operand_words(carrier.operand)
                pointers.append((carrier.operand, carrier.register, words * WORD_BYTES))
                raw.append(native.Pointer(at, words * WORD_BYTES, writes))
    library.axl_pointers((native.Pointer * len(raw))(*raw), len(raw))
    return Pointers(tuple(pointers))


def refusal(places: Sequence[str]) -> str:
    """What is said of a run that left its arrays."""
    if places[0].startswith(ACCELERATOR):
        return places[0]
    return diagnosis.first_of("the driver left its arrays", places)


def watch(library: Any, program: Program, source: lines.Source) -> Arrays:
    """Tell the core which arrays of `program` have guards."""
    symbols = program.arrays
    if not symbols:
        return NONE
    ranges = [native.Range(symbol.address, symbol.address + symbol.size) for symbol in symbols]
    library.axl_watch((native.Range * len(ranges))(*ranges), len(ranges), *program.guarded)
    return Arrays(symbols, source)
