"""A circuit as steps from one cycle to the next: what it holds, simulated on many cycles at once, and asked
of a solver over a few cycles in a row from any state.

What registers hold in the very first cycle is left out: all here is said of later ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from axiloom.prove import certify
from axiloom.prove.aiger import Aiger, Gates, Run

SOLVER = "glucose4"
"""Quick where many small questions are about the same clauses."""
EFFORT = 20_000
"""Conflicts in a question."""
_BIT = re.compile(r"(!?)(.+?)(?:\[(\d+)\])?$")

T = TypeVar("T")


class Circuit(Gates):
    """`cone` without its first cycle, and logic beside it.

    Members: `outputs`, `becomes` (what each latch holds next), `words` (registers by their names, the lowest
    bit first), `begun` (latches that are high from the second cycle on, by number).
    """

    def __init__(self, cone: Aiger) -> None:
        super().__init__()
        self.cone = cone
        self.begun = [i for i, following in enumerate(cone.latches) if following == 1]
        self.pairs: list[tuple[int, int] | None] = [None] * (1 + cone.inputs + len(cone.latches))
        self._of_state = bytearray(len(self.pairs))
        self._of_state[0] = 1
        for i in range(len(cone.latches)):
            self._of_state[cone.inputs + 1 + i] = 1
        place = [2 * number for number in range(len(self.pairs))]
        for latch in self.begun:
            place[cone.inputs + 1 + latch] = 1

        def now(literal: int) -> int:
            return place[literal >> 1] ^ literal & 1

        for first, second in cone.gates:
            place.append(self.both(now(first), now(second)))
        self.outputs = [now(output) for output in cone.outputs]
        self.becomes = [now(following) for following in cone.latches]
        first = cone.inputs + 1
        self._next = {0: 0} | {first + latch: becomes for latch, becomes in enumerate(self.becomes)}
        self.words = self._words()

    def _gate(self, first: int, second: int) -> int:
        self.pairs.append((first, second))
        self._of_state.append(self._of_state[first >> 1] & self._of_state[second >> 1])
        return 2 * (len(self.pairs) - 1)

    def _words(self) -> dict[str, list[int]]:
        bits: dict[str, dict[int, int]] = defaultdict(dict)
        for i in range(len(self.cone.latches)):
            if i not in self.begun:
                matched = _BIT.match(self.cone.symbols.get(f"l{i}", f"latch{i}"))
                assert matched is not None
                bits[matched[2]][int(matched[3] or 0)] = 2 * (self.cone.inputs + 1 + i) + bool(matched[1])
        return {name: [of.get(i, 0) for i in range(max(of) + 1)] for name, of in bits.items()}

    def is_state(self, literal: int) -> bool:
        """Whether it hangs on registers alone."""
        return bool(self._of_state[literal >> 1])

    def values(self, word: Sequence[int]) -> list[int]:
        """That it holds 0, 1, ..."""
        return [
            self.same(word, [value >> i & 1 for i in range(len(word))]) for value in range(1 << len(word))
        ]

    def becoming(self, word: Iterable[int]) -> list[int]:
        """What a register holds next."""
        return [self.becomes[(bit >> 1) - self.cone.inputs - 1] for bit in word if bit > 1]

    def hangs(self, literals: Iterable[int], word: Iterable[int]) -> bool:
        """Whether any of these hangs on what the register holds in this cycle."""
        own = {bit >> 1 for bit in word}
        seen: set[int] = set()
        left = [one >> 1 for one in literals]
        while left:
            number = left.pop()
            if number in own:
                return True
            if (pair := self.pairs[number]) is not None and number not in seen:
                seen.add(number)
                left += [one >> 1 for one in pair]
        return False

    def gates(self, literals: Iterable[int], most: int) -> int:
        """How many these hang on; it is counted up to `most`."""
        seen: set[int] = set()
        left = [one >> 1 for one in literals]
        while left and len(seen) <= most:
            number = left.pop()
            if (pair := self.pairs[number]) is not None and number not in seen:
                seen.add(number)
                left += [one >> 1 for one in pair]
        return len(seen)

    def over(
        self, literal: int, values: dict[int, T], both: Callable[[T, T], T], flipped: Callable[[T], T]
    ) -> T:
        """`literal` made of `values`, which are by numbers: those of gates that it hangs on are added."""

        def value(part: int) -> T:
            return flipped(values[part >> 1]) if part & 1 else values[part >> 1]

        left = [literal >> 1]
        while left:
            number = left[-1]
            pair = self.pairs[number] or ()
            if number in values:
                left.pop()
            elif missing := [part >> 1 for part in pair if part >> 1 not in values]:
                left += missing
            else:
                values[left.pop()] = both(*map(value, pair))
        return value(literal)

    def run(self, inputs: Run) -> Iterator[list[int]]:
        """Inputs and latches in a run, cycle by cycle, where the first output is high in the next one, too;
        without the first cycle."""
        columns = [*map(self.cone.bits, inputs)]
        before: list[int] = []
        for cycle, (state, outputs) in enumerate(self.cone.run(columns)):
            if outputs[0] and before:
                yield before
            before = [*columns[cycle], *state] if outputs[0] and cycle else []

    def later(self, literal: int) -> int:
        """What this, which hangs on registers alone, is in the next cycle."""
        return self.over(literal, self._next, self.both, lambda part: part ^ 1)

    def same(self, first: Sequence[int], second: Sequence[int]) -> int:
        return self.all([self.xor(a, b) ^ 1 for a, b in zip(first, second, strict=True)])

    def xor(self, first: int, second: int) -> int:
        return self.choose(first, second ^ 1, second)

    def less(self, first: Sequence[int], second: Sequence[int]) -> int:
        below = 0
        for a, b in zip(first, second, strict=True):
            below = self.choose(self.xor(a, b), b, below)
        return below

    def minus(self, first: Sequence[int], second: Sequence[int]) -> list[int]:
        """Modulo a power of two."""
        borrow, bits = 0, []
        for a, b in zip(first, second, strict=True):
            differ = self.xor(a, b)
            bits.append(self.xor(differ, borrow))
            borrow = self.choose(differ, b, borrow)
        return bits

    def compared(self) -> dict[int, list[int]]:
        """Of each latch's literal, what it is compared with or added to, in the order of the gates."""
        partners: dict[int, list[int]] = defaultdict(list)
        first_latch = 2 * (self.cone.inputs + 1)
        last_latch = first_latch + 2 * len(self.cone.latches)
        for pair in self.pairs:
            if pair is None or not (pair[0] & pair[1] & 1):
                continue
            below, above = self.pairs[pair[0] >> 1], self.pairs[pair[1] >> 1]
            if below is None or above is None or {one ^ 1 for one in below} != set(above):
                continue
            for a, b in (below, below[::-1]):
                if first_latch <= a < last_latch and self.is_state(b):
                    partners[a & ~1].append(b ^ a & 1)
        return partners


class Samples:
    """Cycles of runs, each literal's values in all of them one number, a bit a cycle."""

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self._columns = [0] * (1 + circuit.cone.inputs + len(circuit.cone.latches))
        self._known: dict[int, int] = {}
        self._at = self.count = 0

    def add(self, columns: Iterable[int]) -> None:
        """A cycle: inputs and latches."""
        for number, value in enumerate(columns, start=1):
            self._columns[number] |= value << self.count
        self.count += 1

    def of(self, literal: int) -> int:
        """Only what it hangs on is looked at."""
        if self._at != self.count:
            self._at, self._known = self.count, {}
        pairs, known, mask = self._circuit.pairs, self._known, (1 << self.count) - 1
        left = [literal >> 1]
        while left:
            number = left[-1]
            if number in known:
                left.pop()
            elif (pair := pairs[number]) is None:
                known[number] = self._columns[number]
            else:
                first, second = pair
                if (a := known.get(first >> 1)) is None:
                    left.append(first >> 1)
                elif (b := known.get(second >> 1)) is None:
                    left.append(second >> 1)
                else:
                    known[number] = (a ^ (mask if first & 1 else 0)) & (b ^ (mask if second & 1 else 0))
        return known[literal >> 1] ^ (mask if literal & 1 else 0)

    def of_all(self, literals: Iterable[int]) -> int:
        """Cycles in which all of these are high."""
        met = (1 << self.count) - 1
        for literal in literals:
            if not met:
                break
            met &= self.of(literal)
        return met


class Steps:
    """A few cycles in a row, from any state, for a solver; only what is asked for is written out."""

    def __init__(self, circuit: Circuit) -> None:
        self._circuit, self._solver, self._last = circuit, certify.solver(SOLVER), 1
        self._solver.add_clause([1])
        self._names: dict[tuple[int, int], int] = {}
        self._model: list[int] = []

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._solver.delete()

    def new(self) -> int:
        self._last += 1
        return self._last

    def clause(self, literals: Iterable[int]) -> None:
        self._solver.add_clause(list(literals))

    def literal(self, literal: int, cycle: int = 0) -> int:
        """The solver's name of it in this cycle."""
        circuit, left = self._circuit, [(literal >> 1, cycle)]
        latches = circuit.cone.inputs + 1
        while left:
            number, at = left[-1]
            pair = circuit.pairs[number]
            if (number, at) in self._names:
                left.pop()
            elif number == 0:
                self._names[number, at] = -1
            elif pair is not None:
                parts = [(one >> 1, at) for one in pair]
                if missing := [part for part in parts if part not in self._names]:
                    left += missing
                    continue
                a, b = (-self._names[one >> 1, at] if one & 1 else self._names[one >> 1, at] for one in pair)
                both = self._names[number, at] = self.new()
                self._solver.append_formula([[-both, a], [-both, b], [both, -a, -b]])
            elif at and number >= latches:
                before = circuit.becomes[number - latches]
                name = self._names.get((before >> 1, at - 1))
                if name is None:
                    left.append((before >> 1, at - 1))
                else:
                    self._names[number, at] = -name if before & 1 else name
            else:
                self._names[number, at] = self.new()
        name = self._names[literal >> 1, cycle]
        return -name if literal & 1 else name

    def can(self, assumed: Sequence[int]) -> bool:
        """Can all of these, the solver's own, be? Raises TimeoutError where that is hard to say."""
        self._solver.conf_budget(EFFORT)
        if (can := self._solver.solve_limited(assumptions=list(assumed))) is None:
            raise TimeoutError
        if can:
            self._model = self._solver.get_model()
        return bool(can)

    def value(self, literal: int, cycle: int = 0) -> bool:
        """In what :meth:`can` has just found; False for what does not matter there."""
        name = self._names.get((literal >> 1, cycle), -1)
        known = name != -1 and abs(name) <= len(self._model)
        high = known and (self._model[abs(name) - 1] > 0) == (name > 0)
        return high ^ bool(literal & 1)

    def columns(self, cycle: int = 0) -> list[bool]:
        """Inputs and latches of a cycle."""
        cone = self._circuit.cone
        return [self.value(2 * (1 + i), cycle) for i in range(cone.inputs)] + self.state(cycle)

    def state(self, cycle: int = 0) -> list[bool]:
        cone = self._circuit.cone
        return [self.value(2 * (cone.inputs + 1 + i), cycle) for i in range(len(cone.latches))]
