"""Why something is not owed for ever, found from the registers of a circuit.

A *step* is a cycle in which something is owed, and the next one, in which it still is. A run for ever has
infinitely many. Claims take away steps of which there are finitely many in any run, until none is left, or
none in which all fair outputs are high again:

- a number that never rises in the steps that are left: those in which it falls are finitely many;
- a register with few values: steps that lead from one loop of values to another are, too;
- a fair output that is not high in any step that is left, or some steps before they end;
- where no step leads from one loop of a register's values to another: such claims for each loop.

Numbers are guessed: registers, and the difference to what each is compared with. This is how fair runs are
sought by strongly connected components, with registers' values for components (Emerson, Lei, "Efficient model
checking in fragments of the propositional mu-calculus", 1986), and lexicographic ranks. Where
claims are refuted from states that no run is in, lemmas exclude these (:mod:`axiloom.prove.lemmas`). What is
found is only a proposal: :func:`proof` makes questions of it for engines.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from axiloom.prove.aiger import Aiger, Builder
from axiloom.prove.lemmas import Lemma, Lemmas, narrow
from axiloom.prove.steps import Circuit, Samples, Steps
from axiloom.prove.walks import Walks

SMALL = 4
"""Bits of a register whose values are looked at one by one."""
EDGES = 40
"""Of values of a small register, at most."""
WAITS = 3
"""Steps that may follow what is fair."""
PARTNERS = 6
"""Comparisons of a register that are looked at."""
BOUND = 200
"""Gates of what a register is compared with, at most: products are hard."""
QUICK, WALKS, LEMMAS = 0.2, 0.2, 0.7
"""The parts of the time that claims without lemmas may take, and walks and lemmas of what is left."""
FRESH = 10
"""Steps from a solver that are looked at together."""
KEPT = "assumptions_held"


@dataclass(frozen=True)
class Claim:
    """In steps of these conditions `event` is not high, `waits` more such steps before the last."""

    conditions: tuple[int, ...]
    event: int
    waits: int = 0


@dataclass(frozen=True)
class Argument:
    circuit: Circuit
    claims: tuple[Claim, ...]
    lemmas: tuple[Lemma, ...]


@dataclass(frozen=True)
class _Measure:
    rises: int
    falls: int


class _Search:
    def __init__(self, circuit: Circuit, pairs: int, seconds: float, steps: Steps) -> None:
        self.circuit, self.steps = circuit, steps
        self.end = time.thread_time() + seconds
        self.owed, *others = circuit.outputs
        plain = len(others) - 2 * pairs
        self.fair, couples = others[:plain], others[plain:]
        self.couples = list(zip(couples[::2], couples[1::2], strict=True))
        self.partners = circuit.compared()
        self.small = {n: w for n, w in circuit.words.items() if len(w) <= SMALL}
        self.measures = list(self._measures())
        kept = circuit.words.get(KEPT)
        self.kept = kept[0] if kept else 1
        self.all = steps.literal(1)
        self.lemmas: dict[Lemma, int] = {}
        self.broken: dict[Lemma, int] = {}
        self.samples, self.possible = Samples(circuit), Samples(circuit)
        self.fresh: list[list[bool]] = []

    def _bounds(self, word: Sequence[int]) -> Iterator[list[int]]:
        """What a register is compared with."""
        named = [self.partners.get(bit & ~1, []) for bit in word]
        for k in range(PARTNERS):
            bound = [of[k] ^ bit & 1 if len(of) > k else 0 for of, bit in zip(named, word, strict=True)]
            if not any(bit > 1 for bit in bound):
                break
            if self.circuit.gates(bound, BOUND) <= BOUND:
                yield bound

    def _measures(self) -> Iterator[_Measure]:
        circuit = self.circuit
        for word in circuit.words.values():
            if len(word) == 1:
                continue
            numbers = [word, [bit ^ 1 for bit in word]]
            for bound in self._bounds(word):
                for other in (bound, [bit ^ 1 if bit > 1 else bit for bit in bound]):
                    numbers += [circuit.minus(other, word), circuit.minus(word, other)]
            for number in numbers:
                later = [circuit.later(bit) for bit in number]
                yield _Measure(circuit.less(number, later), circuit.less(later, number))

    # --- questions

    def _asked(self, claim: Claim) -> list[int]:
        literal = self.steps.literal
        asked = [literal(claim.event)]
        for cycle in range(claim.waits + 1):
            asked += [literal(self.owed, cycle), *(literal(one, cycle) for one in claim.conditions)]
        return [*asked, literal(self.owed, claim.waits + 1), self.all]

    def can(self, conditions: Sequence[int], event: int = 1, waits: int = 0) -> bool:
        """Is there, as far as lemmas say, a step against this claim?"""
        if time.thread_time() > self.end:
            raise TimeoutError
        if not waits and self._met(conditions, event):
            return True
        try:
            can = self.steps.can(self._asked(Claim(tuple(conditions), event, waits)))
        except TimeoutError:
            return True
        if can and not waits:
            self.fresh.append(self.steps.columns())
        return can

    def _met(self, conditions: Sequence[int], event: int) -> int:
        """Steps against a claim among those that a solver has found before."""
        if len(self.fresh) >= FRESH:
            for columns in self.fresh:
                self.possible.add(columns)
            self.fresh = []
        of = self.possible.of
        met = of(event)
        for one in conditions:
            met &= of(one)
        return met

    # --- lemmas

    def learn(self) -> bool:
        """Whether there are lemmas with which questions are asked from now on."""
        circuit, left = self.circuit, self.end - time.thread_time()
        begun = time.thread_time()
        small = [word for word in self.small.values() if circuit.feeds_itself(word)]
        whens = [when for word in small for when in circuit.values(word) if when > 1]
        Walks(circuit, self.samples, self.kept, whens).run(WALKS * left)
        atoms = (*whens, *narrow(circuit, self._bounds))
        lemmas = Lemmas(circuit, self.steps, self.samples, self.kept, whens, atoms)
        with contextlib.suppress(TimeoutError):
            self.lemmas = lemmas.find(begun + LEMMAS * left)
        self.broken = {lemma: lemmas.broken(lemma) for lemma in self.lemmas}
        self.all = self.steps.new()
        for name in self.lemmas.values():
            self.steps.clause([-self.all, name])
        self.fresh, self.possible = [], Samples(circuit)
        return bool(self.lemmas)

    def needed(self, claims: Sequence[Claim]) -> tuple[Lemma, ...]:
        """The lemmas that these and each other need. Raises TimeoutError."""
        needed: dict[Lemma, None] = {}
        left: list[Claim | Lemma] = [*claims]
        after = self.steps.literal(self.kept, 1)
        while left:
            goal = left.pop()
            if isinstance(goal, Claim):
                asked = self._asked(goal)
            else:
                asked = [self.steps.literal(self.broken[goal], 1), after]
            can = self.steps.can([*(one for one in asked if one != self.all), *self.lemmas.values()])
            assert not can, "a claim that held does not"
            core = self.steps.core()
            new = [lemma for lemma, name in self.lemmas.items() if name in core and lemma not in needed]
            needed |= dict.fromkeys(new)
            left += new
        return tuple(needed)

    # --- the search

    def claims(self, conditions: tuple[int, ...] = ()) -> list[Claim] | None:
        """That take away all steps of these; None: too few were found."""
        claims: list[Claim] = []
        while True:
            for event in (1, *self.fair):
                if not self.can(conditions, event):
                    return [*claims, Claim(conditions, event)]
            before = len(claims)
            for ways in (self._ends, self._falls, self._onwards):
                for claim, rest in ways(conditions):
                    claims.append(claim)
                    conditions = (*conditions, rest)
                if len(claims) > before:
                    break
            else:
                last = self._end(conditions) or self._apart(conditions)
                return [*claims, *last] if last else None

    def quick(self) -> list[Claim] | None:
        """Those that need no lemma."""
        end, self.end = self.end, self.end - (1 - QUICK) * (self.end - time.thread_time())
        try:
            return self.claims()
        except TimeoutError:
            return None
        finally:
            self.end = end

    # Each gives claims of steps, with a condition that the steps that are left then meet.

    def _ends(self, conditions: tuple[int, ...]) -> Iterator[tuple[Claim, int]]:
        """Of a pair whose second is not high any more: nor is the first."""
        for first, second in self.couples:
            both = self.circuit.both(first, second)
            if self.can(conditions, first) and not self.can(conditions, both):
                yield Claim(conditions, both), first ^ 1

    def _falls(self, conditions: tuple[int, ...]) -> Iterator[tuple[Claim, int]]:
        """Numbers that fall and never rise."""
        for measure in self.measures:
            if self.can(conditions, measure.falls) and not self.can(conditions, measure.rises):
                yield Claim(conditions, measure.rises), measure.falls ^ 1
                conditions = (*conditions, measure.falls ^ 1)

    def _onwards(self, conditions: tuple[int, ...]) -> Iterator[tuple[Claim, int]]:
        """Steps of a small register from one loop of values to another, of which there is no way back."""
        for word in self.small.values():
            edges = self._edges(conditions, word)
            inside = [edge for edge in edges for loop in _loops(edges) if {*edge} <= loop]
            if len(inside) < len(edges):
                rest = self._any_of(word, inside)
                yield Claim(conditions, self._any_of(word, edges) ^ 1), rest
                conditions = (*conditions, rest)

    def _apart(self, conditions: tuple[int, ...]) -> list[Claim] | None:
        """A case a loop of values, where no step leads to another loop: a run ends in one of them."""
        for word in self.small.values():
            edges = self._edges(conditions, word)
            loops = _loops(edges)
            if len(loops) < 2 or not all(any({*edge} <= loop for loop in loops) for edge in edges):
                continue
            claims = [Claim(conditions, self._any_of(word, edges) ^ 1)]
            for loop in loops:
                here = self._any_of(word, [edge for edge in edges if edge[0] in loop])
                if (case := self.claims((*conditions, here))) is None:
                    break
                claims += case
            else:
                return claims
        return None

    def _any_of(self, word: Sequence[int], edges: Sequence[tuple[int, int]]) -> int:
        circuit = self.circuit
        later = [circuit.later(bit) for bit in word]

        def steps(one: int, other: int) -> int:
            now, after = ([value >> i & 1 for i in range(len(word))] for value in (one, other))
            return circuit.both(circuit.same(word, now), circuit.same(later, after))

        return circuit.all([steps(*edge) ^ 1 for edge in edges]) ^ 1

    def _edges(self, conditions: tuple[int, ...], word: Sequence[int]) -> list[tuple[int, int]]:
        circuit, active = self.circuit, self.steps.new()
        later = [circuit.later(bit) for bit in word]
        names = [self.steps.literal(bit) for bit in (*word, *later)]
        asked = [*self._asked(Claim(conditions, 1)), active]
        edges: list[tuple[int, int]] = []

        def add(value: int, after: int) -> None:
            edges.append((value, after))
            number = value | after << len(word)
            self.steps.clause([-active, *(-n if number >> i & 1 else n for i, n in enumerate(names))])

        met = self._met(conditions, 1)
        while met and len(edges) < EDGES:
            at = met.bit_length() - 1
            values = [self.possible.of(bit) for bit in (*word, *later)]
            number = sum((value >> at & 1) << i for i, value in enumerate(values))
            add(number & (1 << len(word)) - 1, number >> len(word))
            same = (1 << self.possible.count) - 1
            for i, value in enumerate(values):
                same &= value if number >> i & 1 else ~value
            met &= ~same
        while self.steps.can(asked):
            if len(edges) == EDGES:
                return []
            value, after = (
                sum(self.steps.value(bit) << i for i, bit in enumerate(of)) for of in (word, later)
            )
            add(value, after)
            self.fresh.append(self.steps.columns())
        return edges

    def _end(self, conditions: tuple[int, ...]) -> list[Claim] | None:
        """That something fair is not high, or some steps before the last."""
        every = (Claim(conditions, event, waits) for waits, event in product(range(1, WAITS + 1), self.fair))
        return next(([one] for one in every if not self.can(conditions, one.event, one.waits)), None)


def _loops(edges: Sequence[tuple[int, int]]) -> list[set[int]]:
    """Values from which a way leads back to themselves, those on the same way together."""
    after: dict[int, set[int]] = defaultdict(set)
    for one, other in edges:
        after[one].add(other)
    reached = {value: set(to) for value, to in after.items()}
    for _ in range(len(reached)):
        for to in reached.values():
            for value in list(to):
                to |= reached.get(value, set())
    loops: list[set[int]] = []
    for value, to in reached.items():
        if value in to:
            loop = {other for other in to if value in reached.get(other, set())}
            if loop not in loops:
                loops.append(loop)
    return loops


def proof(argument: Argument) -> tuple[Aiger, Aiger]:
    """That a lemma does not hold, as an output; and that a claim does not while all lemmas have."""
    circuit = argument.circuit
    builder = Builder(circuit.cone)
    place: dict[int, int] = {0: 0} | {
        number: 2 * number for number in range(1, 1 + circuit.cone.inputs + len(circuit.cone.latches))
    }

    def now(literal: int) -> int:
        return circuit.over(literal, place, builder.both, lambda part: part ^ 1)

    begun = builder.all([builder.states[latch] for latch in circuit.begun])
    kept = circuit.words.get(KEPT, [1])[0]
    broken = [
        builder.all([begun, now(kept), now(circuit.both(lemma.when, circuit.xor(lemma.first, lemma.second)))])
        for lemma in argument.lemmas
    ]
    empty = builder.all([state ^ 1 for state in builder.states])
    broken.append(builder.both(begun ^ 1, empty ^ 1))  # before the first cycle all registers are 0
    before, helps = builder.latch(), builder.all([one ^ 1 for one in broken])
    builder.become(before, builder.either(before, helps ^ 1))
    owed = builder.outputs[0]
    refuted = []
    for claim in argument.claims:
        stays = builder.all([begun, owed, *map(now, claim.conditions)])
        here = builder.both(stays, now(claim.event))
        for _ in range(claim.waits):
            latch = builder.latch()
            builder.become(latch, here)
            here = builder.both(latch, stays)
        latch = builder.latch()
        builder.become(latch, here)
        refuted.append(builder.both(latch, owed))
    shown = builder.all([before ^ 1, helps, builder.all([one ^ 1 for one in refuted]) ^ 1])
    return builder.file(helps ^ 1), builder.file(shown)


def argue(cone: Aiger, pairs: int, seconds: float) -> Argument | None:
    """Why the first output of `cone` is not high for ever in a fair run, or None if nothing is found."""
    circuit = Circuit(cone)
    with Steps(circuit) as steps, contextlib.suppress(TimeoutError):
        search = _Search(circuit, pairs, seconds, steps)
        claims = search.quick()
        if claims is None and search.learn():
            claims = search.claims()
        if claims is not None:
            return Argument(circuit, tuple(claims), search.needed(claims))
    return None
