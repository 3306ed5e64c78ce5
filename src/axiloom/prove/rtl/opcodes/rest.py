"""What is known of a device at rest: an invariant for each control state of the model.

A bit of a register is 0, is 1, is another bit that came before, or its opposite, or is free; bits of one
register that do not take all values are one choice of those that they were seen to take. That is read off
samples, and it is a guess: :mod:`axiloom.prove.rtl.refine` proves that reset establishes it and that every
instruction keeps it. Where one does not, what it left is one more sample.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import z3

from axiloom.prove.rtl.opcodes.trial import Sample

_WORD = re.compile(r"\S\[\d+\]( \[[\d:]+\])?$|\._\d+_\b")
"""A word of a memory, or what Yosys calls the register behind a memory that holds the word read last."""
Rewrite: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class Flag:
    """A free choice: a constant of z3, and the values that it may have."""

    name: str
    bits: int
    values: tuple[int, ...]

    @property
    def term(self) -> Any:
        return z3.BitVec(self.name, self.bits)


@dataclass(frozen=True)
class Bit:
    """A constant (`flag` is None), or a bit of a flag."""

    flag: Flag | None
    place: int
    inverted: bool = False

    def term(self, choice: Mapping[str, Any]) -> Any:
        if self.flag is None:
            return z3.BitVecVal(self.place, 1)
        value = choice.get(self.flag.name, self.flag.term)
        bit = z3.Extract(self.place, self.place, value) if self.flag.bits > 1 else value
        return ~bit if self.inverted else bit


@dataclass(frozen=True)
class Rest:
    """`bits` of each register, the lowest first, and the `flags` that they are made of. Each flag's own bits
    are where `shown` says: register and place."""

    bits: Mapping[str, tuple[Bit, ...]]
    flags: tuple[Flag, ...]
    shown: Mapping[str, tuple[tuple[str, int], ...]]

    @cached_property
    def constants(self) -> Mapping[str, Any]:
        """Registers without a free bit, to their terms."""
        return {
            name: z3.BitVecVal(sum(bit.place << place for place, bit in enumerate(bits)), len(bits))
            for name, bits in self.bits.items()
            if all(bit.flag is None for bit in bits)
        }

    def value(self, name: str, choice: Mapping[str, Any], simplify: Rewrite = z3.simplify) -> Any:
        """The term of a register."""
        if name in self.constants:
            return self.constants[name]
        bits = [bit.term(choice) for bit in reversed(self.bits[name])]
        return simplify(z3.Concat(*bits) if len(bits) > 1 else bits[0])

    def draw(self, source: random.Random) -> dict[str, int]:
        """Values of all registers in one of these states."""
        choice = {flag.name: source.choice(flag.values) for flag in self.flags}
        return {
            name: sum(_known(bit, choice) << place for place, bit in enumerate(bits))
            for name, bits in self.bits.items()
        }

    def holds(self, values: Mapping[str, int]) -> bool:
        """Is a state (registers to integers) one of these?"""
        choice = {
            flag.name: sum(
                (values[name] >> place & 1) << i for i, (name, place) in enumerate(self.shown[flag.name])
            )
            for flag in self.flags
        }
        if any(choice[flag.name] not in flag.values for flag in self.flags):
            return False
        return all(
            values[name] == sum(_known(bit, choice) << place for place, bit in enumerate(bits))
            for name, bits in self.bits.items()
        )

    def matched(
        self, values: Mapping[str, Any], simplify: Rewrite = z3.simplify
    ) -> tuple[dict[str, Any], Any]:
        """Each flag's value in a state (registers to terms), and what says that the state is one of these."""
        choice = {}
        for flag in self.flags:
            parts = [_bit(values[name], place) for name, place in reversed(self.shown[flag.name])]
            choice[flag.name] = simplify(z3.Concat(*parts) if len(parts) > 1 else parts[0])
        wanted = ((values[name], self.value(name, choice, simplify)) for name in self.bits)
        same = [now == value for now, value in wanted if not z3.eq(now, value)]
        within = [
            z3.Or(*(choice[flag.name] == value for value in flag.values))
            for flag in self.flags
            if len(flag.values) < 1 << flag.bits
        ]
        return choice, z3.And(*same, *within)


def _known(bit: Bit, choice: Mapping[str, int]) -> int:
    if bit.flag is None:
        return bit.place
    return (choice[bit.flag.name] >> bit.place & 1) ^ bit.inverted


def _bit(term: Any, place: int) -> Any:
    return z3.Extract(place, place, term) if term.size() > 1 else term


def guess(
    samples: Sequence[Sample],
    names: Iterable[tuple[str, int]],
    prefix: str,
    *,
    loose: bool = False,
    most: int | None = None,
) -> Rest:
    """What all samples have in common; `names` are registers of model and machine with their bits. `loose`:
    bits that were seen to be both are free, each by itself; so they are in registers that were seen with more
    than `most` values, of which there would be one more each time."""
    known: dict[int, Bit] = {}
    bits: dict[str, tuple[Bit, ...]] = {}
    flags: list[Flag] = []
    shown: dict[str, tuple[tuple[str, int], ...]] = {}
    everyone = (1 << len(samples)) - 1
    known[0], known[everyone] = Bit(None, 0), Bit(None, 1)
    for name, width in names:
        values = _values(samples, name)
        if values.count(values[0]) == len(values):
            bits[name] = tuple(Bit(None, values[0] >> place & 1) for place in range(width))
            continue
        columns = _columns(values, width)
        new = [place for place, column in enumerate(columns) if column not in known]
        new = [place for place in new if columns[place] not in [columns[p] for p in new if p < place]]
        seen = sorted({sum((value >> p & 1) << n for n, p in enumerate(new)) for value in {*values}})
        # A word of a memory may be anything.
        many = most is not None and len(seen) > most
        joint = not loose and not many and len(seen) < 1 << len(new) and not _WORD.search(name)
        for group in [new] if joint and new else [[place] for place in new]:
            label = f"{prefix}{name}" + ("" if joint else f".{group[0]}")
            flag = Flag(label, len(group), tuple(seen) if joint else (0, 1))
            flags.append(flag)
            shown[label] = tuple((name, place) for place in group)
            for number, place in enumerate(group):
                known.setdefault(columns[place], Bit(flag, number))
                known.setdefault(columns[place] ^ everyone, Bit(flag, number, inverted=True))
        bits[name] = tuple(known[column] for column in columns)
    return Rest(bits, tuple(flags), shown)


def _values(samples: Sequence[Sample], name: str) -> list[int]:
    """Of the model, if the model has it: its names and those of the machine have a mark between them."""
    where, _, own = name.partition(":")
    if where == "model":
        return [sample.model[own] for sample in samples]
    return [sample.registers[own] for sample in samples]


def _columns(values: Sequence[int], width: int) -> list[int]:
    """Of each place, the bits of all values, the first value's the lowest."""
    text = [f"{value:0{width}b}" for value in reversed(values)]
    return [int("".join(column), 2) for column in zip(*text, strict=True)][::-1]
