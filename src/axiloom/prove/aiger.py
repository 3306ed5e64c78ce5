"""AIGER files in their binary form: read one of many outputs, write the cones of some.

Yosys could write one file an output, which takes it longer than the proofs. Format:
The format is "AIGER 1.9.4" (Biere): inputs, latches and gates are numbered in this order from 1, a literal
is twice that, one more where it is inverted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

_BIT = re.compile(r"(.+?)(?:\[(\d+)\])?$")

Run: TypeAlias = Sequence[Mapping[str, int]]
"""Inputs by their names, cycle by cycle."""


@dataclass(frozen=True)
class Aiger:
    """Latches begin at 0. `latches` are what they become, `gates` what each is the conjunction of.

    `symbols` are the names of the inputs and outputs, such as ``name[3]``, by ``i0``, ``o0``, ...
    """

    inputs: int
    latches: tuple[int, ...]
    outputs: tuple[int, ...]
    gates: tuple[tuple[int, int], ...]
    symbols: dict[str, str]

    @classmethod
    def read(cls, data: bytes) -> Aiger:
        """Raises ValueError for what is no binary AIGER file, or has latches that begin elsewhere."""
        header, _, rest = data.partition(b"\n")
        words = header.split()
        if len(words) != 6 or words[0] != b"aig":
            raise ValueError(f"no binary AIGER file: it begins with {header[:40]!r}")
        _, inputs, latches, outputs, gates = map(int, words[1:])
        lines = rest.split(b"\n", latches + outputs)
        numbers, body = [line.split() for line in lines[:-1]], lines[-1]
        if any(len(line) != 1 for line in numbers):
            raise ValueError("a latch that does not begin at 0")
        values = [int(line[0]) for line in numbers]
        pairs, at = [], 0
        for number in range(inputs + latches + 1, inputs + latches + gates + 1):
            first, at = _difference(body, at)
            second, at = _difference(body, at)
            pairs.append((2 * number - first, 2 * number - first - second))
        symbols = {}
        for line in body[at:].decode().split("\n"):
            if line == "c":
                break
            place, _, name = line.partition(" ")
            if name:
                symbols[place] = name
        return cls(inputs, tuple(values[:latches]), tuple(values[latches:]), tuple(pairs), symbols)

    def output(self, name: str) -> int:
        """The number of the output of this name."""
        return next(i for i in range(len(self.outputs)) if self.symbols.get(f"o{i}") == name)

    @cached_property
    def words(self) -> dict[str, dict[int, int]]:
        """The inputs by their names: the number of each bit."""
        words: dict[str, dict[int, int]] = {}
        for i in range(self.inputs):
            if named := _BIT.match(self.symbols.get(f"i{i}", f"input{i}")):
                words.setdefault(named[1], {})[int(named[2] or 0)] = i
        return words

    def bits(self, values: Mapping[str, int]) -> list[int]:
        """Inputs by their numbers; those that are not named are 0."""
        bits = [0] * self.inputs
        for name, places in self.words.items():
            for bit, place in places.items():
                bits[place] = values.get(name, 0) >> bit & 1
        return bits

    def run(self, inputs: Iterable[Sequence[int]], every: int = 1) -> Iterator[tuple[list[int], list[int]]]:
        """Latches and outputs in each cycle, from the start: of many runs at once, a bit of `every` each."""
        state = [0] * len(self.latches)
        for columns in inputs:
            values = [0, *columns, *state]

            def of(literal: int, values: list[int] = values) -> int:
                return values[literal >> 1] ^ every if literal & 1 else values[literal >> 1]

            for first, second in self.gates:
                values.append(of(first) & of(second))
            yield state, [*map(of, self.outputs)]
            state = [*map(of, self.latches)]

    def cone(self, *outputs: int) -> Aiger:
        """A file of these outputs alone, and what they depend on."""
        latch, gate = self.inputs + 1, self.inputs + len(self.latches) + 1
        seen: set[int] = set()
        left = [self.outputs[output] >> 1 for output in outputs]
        while left:
            number = left.pop()
            if number in seen:
                continue
            seen.add(number)
            if number >= gate:
                left += [literal >> 1 for literal in self.gates[number - gate]]
            elif number >= latch:
                left.append(self.latches[number - latch] >> 1)
        kept = sorted(seen - {0})
        place = {number: i for i, number in enumerate(kept, start=1)} | {0: 0}

        def now(literal: int) -> int:
            return 2 * place[literal >> 1] + (literal & 1)

        inputs = [number for number in kept if number < latch]
        latches = [number for number in kept if latch <= number < gate]
        gates = [number for number in kept if number >= gate]
        numbers = list(map(now, (self.latches[number - latch] for number in latches)))
        pairs = [
            (now(first), now(second)) for first, second in (self.gates[number - gate] for number in gates)
        ]
        names = {
            f"i{i}": name for i, number in enumerate(inputs) if (name := self.symbols.get(f"i{number - 1}"))
        }
        names |= {
            f"l{i}": name
            for i, number in enumerate(latches)
            if (name := self.symbols.get(f"l{number - latch}"))
        }
        names |= {f"o{i}": self.symbols.get(f"o{output}", f"o{output}") for i, output in enumerate(outputs)}
        shown = tuple(now(self.outputs[output]) for output in outputs)
        return Aiger(len(inputs), tuple(numbers), shown, tuple(pairs), names)

    def numbered(self) -> Aiger:
        """With latches that are called by their numbers: their own names may be missing or the same."""
        names = {place: name for place, name in self.symbols.items() if place[0] != "l"}
        return replace(self, symbols=names | {f"l{i}": f"r{i}" for i in range(len(self.latches))})

    def step(self) -> Aiger:
        """The step of an induction over cycles, as a question about two cycles.

        The first cycle begins in any state, and a new output is high in the second one if the output was low
        in the first and is high then. If it is never high in these two, and the output not in the first cycle
        after the start, then that is never high.
        """
        inputs, latches = self.inputs, len(self.latches)
        begun, *clean = (2 * (inputs + 2 * latches + 1 + i) for i in range(1 + len(self.outputs)))
        gates: list[tuple[int, int]] = []

        def both(first: int, second: int) -> int:
            gates.append((max(first, second), min(first, second)))
            return 2 * (inputs + 2 * latches + 1 + len(self.outputs) + len(gates))

        place = {number: 2 * number for number in range(inputs + 1)}
        for i in range(latches):  # what it holds, or in the first cycle a new input
            held, free = 2 * (inputs + latches + 1 + i), 2 * (inputs + 1 + i)
            place[inputs + 1 + i] = both(both(begun, held) ^ 1, both(begun ^ 1, free) ^ 1) ^ 1

        def now(literal: int) -> int:
            return place[literal >> 1] ^ literal & 1

        for number, (first, second) in enumerate(self.gates, start=inputs + latches + 1):
            place[number] = both(now(first), now(second))
        bad = [now(output) for output in self.outputs]
        shows = [both(both(begun, before), literal) for before, literal in zip(clean, bad, strict=True)]
        following = (*map(now, self.latches), 1, *(literal ^ 1 for literal in bad))
        names = {place: name for place, name in self.symbols.items() if place[0] in "io"}
        names |= {f"i{inputs + i}": self.symbols.get(f"l{i}", f"latch{i}") for i in range(latches)}
        return Aiger(inputs + latches, following, tuple(shows), tuple(gates), names)

    def write(self) -> bytes:
        gate = self.inputs + len(self.latches) + 1
        last = gate + len(self.gates) - 1
        header = f"aig {last} {self.inputs} {len(self.latches)} {len(self.outputs)} {len(self.gates)}\n"
        data = bytearray(
            (header + "".join(f"{literal}\n" for literal in (*self.latches, *self.outputs))).encode()
        )
        for number, pair in enumerate(self.gates, start=gate):
            first, second = max(pair), min(pair)
            _put(data, 2 * number - first)
            _put(data, first - second)
        data += "".join(f"{place} {name}\n" for place, name in self.symbols.items()).encode()
        return bytes(data)


class Gates:
    """Logic of conjunctions, simplified as it is made; a class of this one says what a new gate is."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], int] = {}

    def _gate(self, first: int, second: int) -> int:
        raise NotImplementedError

    def both(self, first: int, second: int) -> int:
        if 0 in (first, second) or first == second ^ 1:
            return 0
        if first in (1, second) or second == 1:
            return second if first == 1 else first
        pair = (max(first, second), min(first, second))
        if pair not in self._known:
            self._known[pair] = self._gate(*pair)
        return self._known[pair]

    def either(self, first: int, second: int) -> int:
        return self.both(first ^ 1, second ^ 1) ^ 1

    def choose(self, which: int, high: int, low: int) -> int:
        return self.either(self.both(which, high), self.both(which ^ 1, low))

    def all(self, literals: Sequence[int]) -> int:
        """A tree: chains are slow to reason about."""
        left = list(literals) or [1]
        while len(left) > 1:
            left = [
                self.both(*left[i : i + 2]) if i + 1 < len(left) else left[i] for i in range(0, len(left), 2)
            ]
        return left[0]


class Builder(Gates):
    """A file with more logic beside what is there. Literals are its own, until :meth:`file`.

    Members: `outputs`, `states` (what each latch of the first file holds).
    """

    def __init__(self, first: Aiger) -> None:
        super().__init__()
        self._first = first
        self._inputs: list[str] = []
        self._gates: list[tuple[int, int]] = []
        self._becomes: dict[int, int] = {}
        self._number = first.inputs + len(first.latches) + len(first.gates)
        self._new: dict[int, tuple[str, int]] = {}
        self.outputs = first.outputs
        self.states = [2 * (first.inputs + 1 + i) for i in range(len(first.latches))]

    def _literal(self, kind: str, place: int) -> int:
        self._number += 1
        self._new[self._number] = (kind, place)
        return 2 * self._number

    def input(self, name: str) -> int:
        self._inputs.append(name)
        return self._literal("input", len(self._inputs) - 1)

    def latch(self) -> int:
        """It begins at 0, and becomes what :meth:`become` says."""
        latch = self._literal("latch", len(self._becomes))
        self._becomes[latch] = 0
        return latch

    def become(self, latch: int, value: int) -> None:
        self._becomes[latch] = value

    def _gate(self, first: int, second: int) -> int:
        self._gates.append((first, second))
        return self._literal("gate", len(self._gates) - 1)

    def file(self, *outputs: int) -> Aiger:
        """What was built, with these outputs alone."""
        first = self._first
        inputs, latches = first.inputs + len(self._inputs), len(first.latches) + len(self._becomes)
        gates = inputs + latches + len(first.gates)
        old = first.inputs + len(first.latches)
        begins = {"input": first.inputs + 1, "latch": inputs + len(first.latches) + 1, "gate": gates + 1}

        def now(literal: int) -> int:
            number = literal >> 1
            if number > old + len(first.gates):
                kind, place = self._new[number]
                number = begins[kind] + place
            elif number > old:
                number += inputs + latches - old
            elif number > first.inputs:
                number += len(self._inputs)
            return 2 * number + (literal & 1)

        pairs = [(now(a), now(b)) for a, b in (*first.gates, *self._gates)]
        symbols = {place: name for place, name in first.symbols.items() if place[0] in "il"}
        symbols |= {f"i{first.inputs + i}": name for i, name in enumerate(self._inputs)}
        becomes = (*map(now, first.latches), *map(now, self._becomes.values()))
        return Aiger(inputs, becomes, tuple(map(now, outputs)), tuple(pairs), symbols | {"o0": "bad"})


def _difference(data: bytes, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first; and where the next begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _put(data: bytearray, value: int) -> None:
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
