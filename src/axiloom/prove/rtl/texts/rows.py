"""Which registers of a device hold which elements of its text's memories."""

from __future__ import annotations

import itertools
from math import prod

from axiloom.base.errors import BuildError
from axiloom.isa.formal.values import address_bits
from axiloom.isa.instructions.tree import InstructionSet, Memory
from axiloom.prove.rtl.terms.machine import Machine


def words_of(machine: Machine, isa: InstructionSet) -> dict[str, list[list[str]]]:
    """By memory: the names of each row's words, those of the first elements first. Memories that the RTL does
    not have as such are its units' own.

    Raises BuildError for a row of which bits are missing.
    """
    found = {}
    for memory in isa.memories.values():
        count = sum(name.startswith(f"{memory.name}[") for name in machine.parts)
        if not count:
            continue
        names = [f"{memory.name}[{word}]" for word in range(count)]
        bits, rows = memory.type.bits * prod(memory.shape[1:]), memory.shape[0]
        each, rest = divmod(count, rows)
        sizes = {
            sum(high - low + 1 for low, high, _ in machine.parts[name])
            for name in names
            if name in machine.parts
        }
        if rest or not all(name in machine.parts for name in names) or sizes != {bits // each}:
            raise BuildError(f"{machine.top}: memory {memory.name} is not whole in what Yosys made of it")
        found[memory.name] = [names[each * row : each * (row + 1)] for row in range(rows)]
    return found


def addresses(memory: Memory, row: int) -> list[int]:
    """Of the elements of a row, lane by lane, as the model has them."""
    bits = [(size - 1).bit_length() for size in memory.shape[1:]]
    places = itertools.product(*(range(size) for size in memory.shape[1:]))
    found = []
    for place in places:
        at = row
        for own, size in zip(place, bits, strict=True):
            at = at << size | own
        found.append(at)
    assert max(found) < 1 << address_bits(memory)
    return found
