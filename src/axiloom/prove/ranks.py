"""Why something is not owed for ever, found from the registers of a circuit.

A *step* is a cycle in which something is owed, and the next one, in which it still is. A run for ever has
infinitely many. Claims take away steps of which there are finitely many in any run, until none is left, or
none in which all fair outputs are high again:

- a number that never rises in the steps that are left: those in which it falls are finitely many;
- a register with few values: steps that lead from one loop of values to another are, too;
- a fair output that is not high in any step that is left, or some steps before they end.

Numbers are guessed: registers, and the difference to what each is compared with. This is how fair runs are
sought by strongly connected components, with registers' values for components (Emerson, Lei, "Efficient model
checking in fragments of the propositional mu-calculus", 1986), and lexicographic ranks. Lemmas are guessed
where a claim is refuted from a state that no sampled run is in: a value of a small register with which two
bits are always the same. What is found is only a proposal: :func:`proof` makes questions of it for engines.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from axiloom.prove.aiger import Aiger, Builder
from axiloom.prove.steps import Circuit, Samples, Steps, runs

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
LEMMAS = 8
"""That are tried at once."""
ALONE = 24
"""Of which it is looked whether they keep themselves."""
TURN = 10
"""The part of the time that one claim may take."""
FRESH = 10
"""Steps from a solver that are looked at together."""
CYCLES, RUNS = 24, 16
"""Of the runs that are looked at."""
KEPT = "assumptions_held"


@dataclass(frozen=True)
class Claim:
    """In steps of these conditions `event` is not high, `waits` more such steps before the last."""

    conditions: tuple[int, ...]
    event: int
    waits: int = 0


@dataclass(frozen=True)
class Lemma:
    """Where `when` is high, the others are the same."""

    when: int
    one: int
    other: int


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
        self.seconds, self.end = seconds, time.thread_time() + seconds
        self.owed, *others = circuit.outputs
        plain = len(others) - 2 * pairs
        self.fair, couples = others[:plain], others[plain:]
        self.couples = list(zip(couples[::2], couples[1::2], strict=True))
        self.small = {n: w for n, w in circuit.words.items() if len(w) <= SMALL}
        self.atoms: list[int] = []
        self.measures = list(self._measures())
        self.guards = [
            circuit.same(word, [value >> i & 1 for i in range(len(word))])
            for word in self.small.values()
            for value in range(1 << len(word))
        ]
        latches = (2 * (circuit.cone.inputs + 1 + i) for i in range(len(circuit.cone.latches)))
        self.atoms = [*dict.fromkeys(one & ~1 for one in (*latches, *self.guards, *self.atoms) if one > 1)]
        self.control = {0, *self.guards, *(bit & ~1 for word in self.small.values() for bit in word)}
        kept = circuit.words.get(KEPT)
        self.kept = kept[0] if kept else 1
        self.lemmas: dict[Lemma, int] = {}
        self.dead: set[Lemma] = set()
        self.names: dict[Lemma, int] = {}
        self.tried: dict[Lemma, int] = {}
        self.samples, self.possible = Samples(circuit), Samples(circuit)
        self.fresh: list[list[bool]] = []
        self.real = 0

    def _measures(self) -> Iterator[_Measure]:
        circuit = self.circuit
        partners = circuit.compared()
        for word in circuit.words.values():
            if len(word) == 1:
                continue
            numbers = [word, [bit ^ 1 for bit in word]]
            for k in range(PARTNERS):
                named = [partners.get(bit & ~1, []) for bit in word]
                bound = [of[k] ^ bit & 1 if len(of) > k else 0 for of, bit in zip(named, word, strict=True)]
                if not any(bit > 1 for bit in bound):
                    break
                if circuit.gates(bound, BOUND) > BOUND:
                    continue
                self.atoms += bound
                for other in (bound, [bit ^ 1 if bit > 1 else bit for bit in bound]):
                    numbers += [circuit.minus(other, word), circuit.minus(word, other)]
            for number in numbers:
                later = [circuit.later(bit) for bit in number]
                yield _Measure(circuit.less(number, later), circuit.less(later, number))

    # --- questions

    def sample(self) -> None:
        """Runs from the start."""
        for run in runs(self.circuit.cone, 0, CYCLES, RUNS):
            for at, columns in enumerate(run[1:], start=2):
                self.samples.add(columns, goes_on=at < len(run))
        self.real = self.samples.count

    def _asked(self, claim: Claim) -> list[int]:
        literal = self.steps.literal
        asked = [literal(claim.event)]
        for cycle in range(claim.waits + 1):
            asked += [literal(self.owed, cycle), *(literal(one, cycle) for one in claim.conditions)]
        return [*asked, literal(self.owed, claim.waits + 1), *self.lemmas.values()]

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
        for lemma in self.lemmas if met else ():
            met &= ~of(self._broken(lemma))
        return met

    def seen(self, claim: Claim) -> bool:
        """Does a sampled run refute it?"""
        of, linked = self.samples.of, self.samples.linked
        stays = of(self.owed) & ((1 << self.real) - 1)
        owed = stays
        for one in claim.conditions:
            stays &= of(one)
        now = stays & of(claim.event)
        for wait in range(claim.waits + 1):
            now &= (linked >> wait) & ((stays if wait < claim.waits else owed) >> (wait + 1))
        return bool(now)

    # --- lemmas

    def holds(self, claim: Claim) -> bool:
        """Whether it does, with lemmas that are found for it."""
        before = dict(self.lemmas)
        with contextlib.suppress(TimeoutError):
            if self.seen(claim):
                return False
            if self._settle([claim], time.thread_time() + self.seconds / TURN):
                return True
        self.lemmas = {lemma: name for lemma, name in before.items() if lemma not in self.dead}
        return False

    def settle(self, claims: Sequence[Claim]) -> bool:
        """Whether all of them hold with the lemmas that are left."""
        return self._settle(claims, self.end)

    def _settle(self, claims: Sequence[Claim], until: float) -> bool:
        """Whether all of them hold with lemmas that keep each other."""
        clean = False
        while not clean:
            clean = True
            for goal in (*claims, *self.lemmas):
                while goal in self.lemmas or isinstance(goal, Claim):
                    now = time.thread_time()
                    if now > self.end:
                        raise TimeoutError
                    if isinstance(goal, Claim):
                        possible = self.steps.can(self._asked(goal))
                    else:
                        possible = self.steps.can(self._asked_of(goal))
                    if not possible:
                        break
                    clean = False
                    if now < until and self._exclude(self.steps.state()):
                        continue
                    if isinstance(goal, Claim):
                        return False
                    inputs = [False] * self.circuit.cone.inputs
                    self.samples.add([*inputs, *self.steps.state(1)])
                    del self.lemmas[goal]
                    self.dead.add(goal)
        return True

    def _broken(self, lemma: Lemma) -> int:
        return self.circuit.both(lemma.when, self.circuit.xor(lemma.one, lemma.other))

    def _exclude(self, state: Sequence[bool]) -> bool:
        """Add lemmas that no sample breaks, and this state does."""
        alone = Samples(self.circuit)
        alone.add([*[False] * self.circuit.cone.inputs, *state])
        here = alone.of
        every = [lemma for when in (1, *self.guards) if here(when) for lemma in self._split(when, here)]
        every.sort(key=lambda lemma: not {lemma.one & ~1, lemma.other & ~1} <= self.control)
        kept = (lemma for lemma in every[:ALONE] if self._keeps_itself(lemma))
        lemmas = next(([lemma] for lemma in kept), every[:LEMMAS])
        for lemma in lemmas:
            self.lemmas[lemma] = self._name(lemma)
        return bool(lemmas)

    def _name(self, lemma: Lemma) -> int:
        if lemma not in self.names:
            name = self.names[lemma] = self.steps.new()
            when, one, other = (self.steps.literal(part) for part in (lemma.when, lemma.one, lemma.other))
            self.steps.clause([-name, -when, one, -other])
            self.steps.clause([-name, -when, -one, other])
        return self.names[lemma]

    def _keeps_itself(self, lemma: Lemma) -> bool:
        if self.tried.get(lemma) == len(self.lemmas):
            return False
        self.tried[lemma] = len(self.lemmas)
        return not self.steps.can([*self._asked_of(lemma), self._name(lemma)])

    def _asked_of(self, lemma: Lemma) -> list[int]:
        """That it is broken next."""
        now = [self.steps.literal(self._broken(lemma), 1), self.steps.literal(self.kept, 1)]
        return [*now, *self.lemmas.values()]

    def _split(self, when: int, here: Callable[[int], int]) -> Iterator[Lemma]:
        """Bits that are the same in all samples in which `when` is high, and not in this state."""
        of = self.samples.of
        mask = of(when)
        if not mask:
            return
        lowest = mask & -mask
        classes: dict[int, list[int]] = {0: [0]}
        for atom in self.atoms:
            values = of(atom) & mask
            literal = atom
            if values & lowest:
                values, literal = values ^ mask, atom ^ 1
            classes.setdefault(values, []).append(literal)
        for same in classes.values():
            ones = [one for one in same if here(one)]
            zeros = [one for one in same if not here(one)]
            if ones and zeros:
                lemma = Lemma(when, zeros[0], ones[0])
                if lemma not in self.dead and lemma not in self.lemmas:
                    yield lemma

    # --- the search

    def claims(self) -> list[Claim] | None:
        """That take away all steps; None: too few were found."""
        made: list[Claim] = []
        conditions: tuple[int, ...] = ()
        while True:
            if not self.can(conditions):
                return [*made, Claim(conditions, 1)]
            for event in self.fair:
                if not self.can(conditions, event):
                    return [*made, Claim(conditions, event)]
            before = len(made)
            for ways in (self._ends, self._falls, self._onwards, self._apart):
                for claim, rest in ways(conditions):
                    made.append(claim)
                    conditions = (*conditions, rest)
                if len(made) > before:
                    break
            if len(made) > before:
                continue
            if (last := self._end(conditions)) is not None:
                return [*made, last]
            if not self._learned(conditions):
                return None

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

    def _apart(self, conditions: tuple[int, ...]) -> Iterator[tuple[Claim, int]]:
        """Loops of values in which something fair does not happen, where no step leads to another loop."""
        for word in self.small.values():
            edges = self._edges(conditions, word)
            loops, claim = _loops(edges), Claim(conditions, self._any_of(word, edges) ^ 1)
            for loop in loops if len(loops) > 1 else ():
                here = self._any_of(word, [edge for edge in edges if edge[0] in loop])
                inside = (*conditions, here)
                event = next((event for event in self.fair if not self.can(inside, event)), None)
                if event is not None:
                    yield claim, 1
                    yield Claim(inside, event), here ^ 1
                    conditions = (*conditions, here ^ 1)

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

    def _end(self, conditions: tuple[int, ...]) -> Claim | None:
        """That something fair is not high, or some steps before the last."""
        if not self.real:
            self.sample()
        every = (Claim(conditions, event, waits) for waits, event in product(range(WAITS + 1), self.fair))
        return next((claim for claim in every if self.holds(claim)), None)

    def _learned(self, conditions: tuple[int, ...]) -> bool:
        """Whether lemmas were found with which there is more to claim."""
        for first, second in self.couples:
            both = self.circuit.both(first, second)
            if self.can(conditions, first) and self.holds(Claim(conditions, both)):
                return True
        for word in self.small.values():
            edges = self._edges(conditions, word)
            for edge in edges:
                rest = [other for other in edges if other != edge]
                splits = edge[0] != edge[1] and _loops(edges) != _loops(rest)
                if splits and self.holds(Claim(conditions, self._any_of(word, [edge]))):
                    return True
        return any(
            self.can(conditions, measure.falls) and self.holds(Claim(conditions, measure.rises))
            for measure in self.measures
        )


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
        left = [literal >> 1]
        while left:
            number = left[-1]
            pair = circuit.pairs[number]
            if number in place:
                left.pop()
            elif missing := [one >> 1 for one in pair or () if one >> 1 not in place]:
                left += missing
            else:
                assert pair is not None
                place[number] = builder.both(*(place[one >> 1] ^ one & 1 for one in pair))
        return place[literal >> 1] ^ literal & 1

    begun = builder.all([builder.states[latch] for latch in circuit.begun])
    kept = circuit.words.get(KEPT, [1])[0]
    broken = [
        builder.all([begun, now(kept), now(circuit.both(lemma.when, circuit.xor(lemma.one, lemma.other)))])
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
    with Steps(circuit) as steps:
        search = _Search(circuit, pairs, seconds, steps)
        try:
            claims = search.claims()
            if claims is None or not search.settle(claims):
                return None
        except TimeoutError:
            return None
        return Argument(circuit, tuple(claims), tuple(search.lemmas))
