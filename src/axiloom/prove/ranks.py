"""Why something is not owed for ever, found from the registers of a circuit.

A *step* is a cycle in which something is owed, and the next one, in which it still is. A run for ever has
infinitely many. Claims take away steps of which there are finitely many in any run, until none is left, or
none in which all fair outputs are high again:

- a number that never rises in the steps that are left: those in which it falls are finitely many;
- registers with few values: steps that lead from one loop of values to another are, too;
- a fair output that is not high in any step that is left, or some steps before they end;
- where no step leads from one loop of a register's values to another: such claims for each loop.

Numbers are guessed: registers, and the difference to what each is compared with. This is how fair runs are
sought by strongly connected components, with registers' values for components (Emerson, Lei, "Efficient model
checking in fragments of the propositional mu-calculus", 1986), and lexicographic ranks.

Claims are asked of steps from any state first. Where they leave some, an engine that knows which states are
reached counts rounds in these steps alone, or proves that a number never rises in them: one that fell, and
did not rise, in the runs that it has shown so far.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import TypeAlias

from axiloom.prove.aiger import Aiger, Builder, Run
from axiloom.prove.liveness import rounds
from axiloom.prove.steps import Circuit, Samples, Steps

SMALL = 4
"""Bits of a register, or of two, whose values are looked at one by one."""
EDGES = 40
"""Of values of a small register, at most."""
CASES = 4
"""Loops of values of a small register of which each is looked at by itself, at most."""
WAITS = 3
"""Steps that may follow what is fair."""
PARTNERS = 6
"""Comparisons of a register that are looked at."""
BOUND = 200
"""Gates of what a register is compared with, at most: products are hard."""
FRESH = 10
"""Steps from a solver that are looked at together."""
ROUNDS = 1, 2
"""That are counted in the steps that claims leave."""
OPEN = 4
"""Questions that the engine has not answered, at most."""

Conditions: TypeAlias = tuple[int, ...]
"""Literals that are high in a step."""
Found: TypeAlias = "tuple[list[Claim], list[Conditions]]"
"""Claims that take away steps, and conditions of those that are left."""
Ask: TypeAlias = Callable[[Aiger], tuple[bool, Run]]
"""Is the output never high, as another engine says too? Else a run in which it is, if there is one."""


@dataclass(frozen=True)
class Claim:
    """In steps of these conditions `event` is not high, `waits` more such steps before the last."""

    conditions: Conditions
    event: int
    waits: int = 0


@dataclass(frozen=True)
class _Measure:
    rises: int
    falls: int
    bounded: bool
    """It is the distance to what a register is compared with."""


class _Search:
    def __init__(self, circuit: Circuit, pairs: int, seconds: float, steps: Steps, ask: Ask) -> None:
        self.circuit, self.steps, self.ask, self.pairs = circuit, steps, ask, pairs
        self.end = time.thread_time() + seconds
        self.owed, *others = circuit.outputs
        plain = len(others) - 2 * pairs
        self.fair, couples = others[:plain], others[plain:]
        self.couples = list(zip(couples[::2], couples[1::2], strict=True))
        self.partners = circuit.compared()
        small = [word for word in circuit.words.values() if len(word) <= SMALL]
        waits = [word for word in small if circuit.hangs([self.owed], word)]
        self.alone, self.waits = small, waits
        self.joint = [
            [*one, *other]
            for one, other in combinations(small, 2)
            if len(one) + len(other) <= SMALL
            and circuit.hangs(circuit.becoming(one), other)
            and circuit.hangs(circuit.becoming(other), one)
        ]
        self.measures = list(self._measures())
        self.possible, self.real = Samples(circuit), Samples(circuit)
        self.fresh: list[list[bool]] = []
        self.open = 0

    def _bounds(self, word: Sequence[int]) -> list[list[int]]:
        """What a register is compared with; what hangs on it is the carry of a sum."""
        every = [self.partners.get(bit & ~1, []) for bit in word]
        named = [[bound for bound in of if not self.circuit.hangs([bound], word)] for of in every]
        bounds: dict[tuple[int, ...], None] = {}
        for k in (k for i in range(PARTNERS) for k in (i, -1 - i)):  # the last ones may belong together, too
            there = [k < len(of) if k >= 0 else -k <= len(of) for of in named]
            bound = [of[k] ^ bit & 1 if has else 0 for of, bit, has in zip(named, word, there, strict=True)]
            if any(bit > 1 for bit in bound) and self.circuit.gates(bound, BOUND) <= BOUND:
                bounds[tuple(bound)] = None
        return [*map(list, bounds)]

    def _measures(self) -> Iterator[_Measure]:
        circuit = self.circuit
        for word in circuit.words.values():
            if len(word) == 1:
                continue
            numbers = [word, [bit ^ 1 for bit in word]]
            for bound in self._bounds(word):
                for other in (bound, [bit ^ 1 if bit > 1 else bit for bit in bound]):
                    numbers += [circuit.minus(other, word), circuit.minus(word, other)]
            for i, number in enumerate(numbers):
                later = [circuit.later(bit) for bit in number]
                yield _Measure(circuit.less(number, later), circuit.less(later, number), i > 1)

    # --- questions

    def _asked(self, claim: Claim) -> list[int]:
        literal = self.steps.literal
        asked = [literal(claim.event)]
        for cycle in range(claim.waits + 1):
            asked += [literal(self.owed, cycle), *(literal(one, cycle) for one in claim.conditions)]
        return [*asked, literal(self.owed, claim.waits + 1)]

    def can(self, conditions: Conditions, event: int = 1, waits: int = 0) -> bool:
        """Is there a step, from any state, against this claim?"""
        if time.thread_time() > self.end:
            raise TimeoutError
        if not waits and self._met(conditions, event):
            return True
        try:
            can = self.steps.can(self._asked(Claim(conditions, event, waits)))
        except TimeoutError:
            return True
        if can and not waits:
            self.fresh.append(self.steps.columns())
        return can

    def _met(self, conditions: Conditions, event: int) -> int:
        """Steps against a claim among those that a solver has found before."""
        if len(self.fresh) >= FRESH:
            for columns in self.fresh:
                self.possible.add(columns)
            self.fresh = []
        return self.possible.of_all((*conditions, event))

    def _never(self, question: Aiger) -> bool:
        """What the engine says; steps of a run that it shows are kept."""
        never, run = self.ask(question)
        self.open += not (never or run)
        for columns in self.circuit.run(run):
            self.real.add(columns)
        return never

    # --- the search

    def claims(self, conditions: Conditions = (), *, splits: bool = True) -> Found:
        """That take away steps of these, and conditions of the steps that are left."""
        claims: list[Claim] = []
        while True:
            for event in (1, *self.fair):
                if not self.can(conditions, event):
                    return [*claims, Claim(conditions, event)], []
            before = len(claims)
            for way in (self._ends, self._falls, partial(self._onwards, self.alone)):
                for claim, rest in way(conditions):
                    claims.append(claim)
                    conditions = (*conditions, rest)
                if len(claims) > before:
                    break
            else:
                if end := self._end(conditions):
                    return [*claims, end], []
                for claim, rest in self._onwards(self.joint, conditions):
                    claims.append(claim)
                    conditions = (*conditions, rest)
                    break
                else:
                    last, left = self._apart(conditions) if splits else ([], [conditions])
                    return [*claims, *last], left

    def reached(self, conditions: Conditions) -> Found:
        """The same of steps that are left, where an engine knows which are reached."""
        claims: list[Claim] = []
        left = [] if self._counted(conditions) else [conditions]
        while len(left) == 1 and (measure := self._falling(left[0])):
            more, left = self.claims((*left[0], measure.falls ^ 1))
            claims += more
        if claims and len(left) == 1 and self._counted(left[0]):
            left = []
        return claims, left

    def _counted(self, conditions: Conditions) -> bool:
        """Are there not so many rounds of these steps?"""
        rest = _steps(self.circuit, conditions)
        return any(self._never(rounds(rest, count, self.pairs)) for count in ROUNDS)

    def _falling(self, conditions: Conditions) -> _Measure | None:
        """A number that never rises in these steps, and may fall."""
        real = self.real.of_all

        def order(measure: _Measure) -> tuple[bool, bool]:
            return not real((*conditions, measure.falls)), not measure.bounded

        for measure in sorted(self.measures, key=order):
            if self.open > OPEN:
                break
            if real((*conditions, measure.rises)) or not self.can(conditions, measure.falls):
                continue
            if self._never(proof(self.circuit, [Claim(conditions, measure.rises)])):
                return measure
        return None

    # Each gives claims of steps, with a condition that the steps that are left then meet.

    def _ends(self, conditions: Conditions) -> Iterator[tuple[Claim, int]]:
        """Of a pair whose second is not high any more: nor is the first."""
        for first, second in self.couples:
            both = self.circuit.both(first, second)
            if self.can(conditions, first) and not self.can(conditions, both):
                yield Claim(conditions, both), first ^ 1

    def _falls(self, conditions: Conditions) -> Iterator[tuple[Claim, int]]:
        """Numbers that fall and never rise."""
        for measure in self.measures:
            if self.can(conditions, measure.falls) and not self.can(conditions, measure.rises):
                yield Claim(conditions, measure.rises), measure.falls ^ 1
                conditions = (*conditions, measure.falls ^ 1)

    def _onwards(self, words: Sequence[list[int]], conditions: Conditions) -> Iterator[tuple[Claim, int]]:
        """Steps of small registers from one loop of values to another, of which there is no way back."""
        for word in words:
            edges = self._edges(conditions, word)
            inside = [edge for edge in edges for loop in _loops(edges) if {*edge} <= loop]
            if len(inside) < len(edges):
                rest = self._any_of(word, inside)
                yield Claim(conditions, self._any_of(word, edges) ^ 1), rest
                conditions = (*conditions, rest)

    def _apart(self, conditions: Conditions, *, blind: bool = True) -> Found:
        """A case a loop of values, where no step leads to another loop: a run ends in one of them.

        Where no such cases help at once, those of a register that says whether something is owed are taken,
        once: an engine may know more of each.
        """
        tries = [(word, False) for word in self.alone]
        tries += [(word, True) for word in sorted(self.waits, key=len, reverse=True) if blind]
        for word, anyhow in tries:
            edges = self._edges(conditions, word)
            loops = _loops(edges)
            stays = all(any({*edge} <= loop for loop in loops) for edge in edges)
            if not (stays and 2 <= len(loops) <= CASES):
                continue
            here = [self._any_of(word, [edge for edge in edges if edge[0] in loop]) for loop in loops]
            cases = [self.claims((*conditions, loop), splits=False) for loop in here]
            undecided = [left for _, lefts in cases for left in lefts]
            if len(undecided) == len(cases) and not anyhow:
                continue
            claims = [Claim(conditions, self._any_of(word, edges) ^ 1)]
            for case, _ in cases:
                claims += case
            lefts: list[Conditions] = []
            for left in undecided:
                case, rest = self._apart(left, blind=blind and not anyhow)
                claims += case
                lefts += rest
            return claims, lefts
        return [], [conditions]

    def _any_of(self, word: Sequence[int], edges: Sequence[tuple[int, int]]) -> int:
        circuit = self.circuit
        later = [circuit.later(bit) for bit in word]

        def steps(one: int, other: int) -> int:
            now, after = ([value >> i & 1 for i in range(len(word))] for value in (one, other))
            return circuit.both(circuit.same(word, now), circuit.same(later, after))

        return circuit.all([steps(*edge) ^ 1 for edge in edges]) ^ 1

    def _edges(self, conditions: Conditions, word: Sequence[int]) -> list[tuple[int, int]]:
        if time.thread_time() > self.end:
            raise TimeoutError
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

    def _end(self, conditions: Conditions) -> Claim | None:
        """That something fair is not high, or some steps before the last."""
        every = (Claim(conditions, event, waits) for waits, event in product(range(1, WAITS + 1), self.fair))
        return next((one for one in every if not self.can(conditions, one.event, one.waits)), None)


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


def _over(circuit: Circuit) -> tuple[Builder, Callable[[int], int], int]:
    """What is built on a circuit, its literals there, and whether this is not the first cycle."""
    builder = Builder(circuit.cone)
    place = {number: 2 * number for number in range(1 + circuit.cone.inputs + len(circuit.cone.latches))}

    def now(literal: int) -> int:
        return circuit.over(literal, place, builder.both, lambda part: part ^ 1)

    return builder, now, builder.all([builder.states[latch] for latch in circuit.begun])


def _steps(circuit: Circuit, conditions: Conditions) -> Aiger:
    """The circuit with something owed in cycles of these conditions alone."""
    builder, now, begun = _over(circuit)
    owed, *fair = builder.outputs
    return builder.file(builder.all([begun, owed, *map(now, conditions)]), *fair)


def proof(circuit: Circuit, claims: Sequence[Claim]) -> Aiger:
    """High where a claim does not hold."""
    builder, now, begun = _over(circuit)
    owed = builder.outputs[0]
    refuted = []
    for claim in claims:
        stays = builder.all([begun, owed, *map(now, claim.conditions)])
        here = builder.both(stays, now(claim.event))
        for _ in range(claim.waits):
            latch = builder.latch()
            builder.become(latch, here)
            here = builder.both(latch, stays)
        latch = builder.latch()
        builder.become(latch, here)
        refuted.append(builder.both(latch, owed))
    return builder.file(builder.all([one ^ 1 for one in refuted]) ^ 1)


def argue(cone: Aiger, pairs: int, seconds: float, ask: Ask) -> bool:
    """Is the first output of `cone` not high for ever in a fair run? False: nothing is known.

    The search takes `seconds` of CPU at most; `ask` has its own limits.
    """
    circuit = Circuit(cone)
    with Steps(circuit) as steps:
        search = _Search(circuit, pairs, seconds, steps, ask)
        try:
            claims, left = search.claims()
            while left:
                conditions = left.pop()
                more, rest = search.reached(conditions)
                if conditions in rest:
                    return False
                claims, left = [*claims, *more], [*left, *rest]
        except TimeoutError:
            return False
    return not claims or ask(proof(circuit, claims))[0]
