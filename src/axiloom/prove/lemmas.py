"""What is always so of registers, guessed from walks and kept if a cycle keeps all of it together.

A lemma says that two bits are the same while a small register has some value: bits of registers, or how a
counter compares with its bound. All that no walk refutes are taken at once; a state in which all are so, and
behind which some are not, splits them, until there is none (van Eijk, "Sequential equivalence checking based
on structural similarities", IEEE TCAD 2000, with conditions). None is lost because what it needs came later.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from axiloom.prove import certify
from axiloom.prove.steps import Circuit, Samples, Steps

NARROW = 8
"""Bits of a register that may be the same as others': wider ones are data and addresses."""

LIKE = 256
"""Cycles like one in which lemmas break."""
FLIPS = 8
"""Bits in which such a cycle differs from it, at most."""


@dataclass(frozen=True)
class Lemma:
    """Where `when` is high, the other two are the same."""

    when: int
    first: int
    second: int


class Lemmas:
    """Parameters
    ----------
    steps : of `circuit`; clauses are added to it
    samples : of real walks
    kept : the register that says that all assumptions have held, a literal
    whens, atoms : literals over registers
    """

    def __init__(
        self,
        circuit: Circuit,
        steps: Steps,
        samples: Samples,
        kept: int,
        whens: Iterable[int],
        atoms: Iterable[int],
    ) -> None:
        self._circuit, self._steps, self._kept = circuit, steps, kept
        self._names: dict[Lemma, int] = {}
        self._random = random.Random(0)
        self._atoms = [*dict.fromkeys(atom & ~1 for atom in atoms if atom > 1)]
        of = samples.of
        self._never = [when for when in whens if when > 1 and not of(when)]
        every = (1 << samples.count) - 1
        self._classes = {when: [*self._groups(of, of(when) & every)] for when in (1, *whens) if of(when)}

    def find(self, end: float) -> dict[Lemma, int]:
        """Those that keep each other, with the solver's names of them. Raises TimeoutError."""
        circuit, steps = self._circuit, self._steps
        for latch in range(len(circuit.cone.latches)):
            steps.literal(2 * (circuit.cone.inputs + 1 + latch), 1)
        kept = steps.literal(self._kept, 1)
        while True:
            if time.thread_time() > end:
                raise TimeoutError
            lemmas = [*dict.fromkeys(self._lemmas())]
            names = {lemma: self.name(lemma) for lemma in lemmas}
            some = steps.new()
            steps.clause([-some, *(steps.literal(self.broken(lemma), 1) for lemma in lemmas)])
            if steps.can([*names.values(), kept, some]):
                self._split(*self._behind(steps.columns(), lemmas))
            elif not self._from_the_start():
                return names

    def _from_the_start(self) -> bool:
        """Whether there were lemmas that are not so behind the first cycle."""
        count = 0
        with certify.Cycles(self._circuit.cone, begins=True) as run:
            run.cycle()
            literal = self._circuit.behind(run)
            kept = literal(self._kept)
            while True:
                some = run.any_of([literal(self.broken(lemma))] for lemma in {*self._lemmas()})
                if (model := run.model([some, kept])) is None:
                    return count > 0
                count += 1
                self._split(*self._first([model(name) for name in run.inputs]))

    def _first(self, inputs: Sequence[bool]) -> tuple[Samples, int]:
        """What follows the first cycle with such inputs, and with others like these."""
        cone = self._circuit.cone
        every = (1 << LIKE) - 1
        values = [0, *self._like(inputs), *[0] * len(cone.latches)]

        def of(literal: int) -> int:
            return values[literal >> 1] ^ (every if literal & 1 else 0)

        for first, second in cone.gates:
            values.append(of(first) & of(second))
        after = Samples(self._circuit, [*[0] * cone.inputs, *map(of, cone.latches)], LIKE)
        return after, after.of(self._kept)

    def _like(self, bits: Sequence[bool]) -> list[int]:
        """These first, and others that differ in a few."""
        pick = self._random.randrange
        values = [(1 << LIKE) - 1 if value else 0 for value in bits]
        for cycle in range(1, LIKE):
            for _ in range(pick(1, FLIPS)):
                values[pick(len(values))] ^= 1 << cycle
        return values

    def broken(self, lemma: Lemma) -> int:
        return self._circuit.both(lemma.when, self._circuit.xor(lemma.first, lemma.second))

    def name(self, lemma: Lemma) -> int:
        if lemma not in self._names:
            name = self._names[lemma] = self._steps.new()
            parts = lemma.when, lemma.first, lemma.second
            when, first, second = map(self._steps.literal, parts)
            self._steps.clause([-name, -when, first, -second])
            self._steps.clause([-name, -when, -first, second])
        return self._names[lemma]

    def _groups(self, of: Callable[[int], int], mask: int) -> Iterator[list[int]]:
        """Literals that are the same in these samples, 0 first."""
        lowest = mask & -mask
        classes: dict[int, list[int]] = {0: [0]}
        for atom in self._atoms:
            values, literal = of(atom) & mask, atom
            if values & lowest:
                values, literal = values ^ mask, atom ^ 1
            classes.setdefault(values, []).append(literal)
        return (same for same in classes.values() if len(same) > 1)

    def _behind(self, columns: Sequence[bool], lemmas: Sequence[Lemma]) -> tuple[Samples, int]:
        """What follows this cycle, and others like it in which all lemmas are so, too: those of a mask."""
        circuit, every = self._circuit, (1 << LIKE) - 1
        now = Samples(circuit, self._like(columns), LIKE)
        for lemma in lemmas:
            every &= ~now.of(self.broken(lemma))
        states = [now.of(following) for following in circuit.becomes]
        after = Samples(circuit, [*[0] * circuit.cone.inputs, *states], LIKE)
        return after, every & after.of(self._kept)

    def _split(self, after: Samples, mask: int) -> None:
        """By more states."""
        of = after.of
        self._never = [when for when in self._never if not of(when) & mask]
        for when, classes in self._classes.items():
            if here := of(when) & mask:
                self._classes[when] = [part for same in classes for part in _parts(same, of, here)]

    def _lemmas(self) -> Iterator[Lemma]:
        for when in self._never:
            yield Lemma(1, when, 0)
        always = {other & ~1 for same in self._classes[1] for other in same[1:]}
        for when, classes in self._classes.items():
            for same in classes:
                for other in same[1:]:
                    if when == 1 or not (other & ~1 in always or when & ~1 in (other & ~1, same[0] & ~1)):
                        yield Lemma(when, same[0], other)


def _parts(same: Sequence[int], of: Callable[[int], int], mask: int) -> Iterator[list[int]]:
    parts: dict[int, list[int]] = defaultdict(list)
    for literal in same:
        parts[of(literal) & mask].append(literal)
    return (part for part in parts.values() if len(part) > 1)


def narrow(circuit: Circuit, partners: Callable[[Sequence[int]], Iterable[list[int]]]) -> Iterator[int]:
    """Bits that lemmas may be about: registers that hold a state, and how they compare with `partners`."""
    for word in circuit.words.values():
        if not circuit.feeds_itself(word):
            continue
        if len(word) <= NARROW:
            yield from word
        if len(word) > 1:
            yield circuit.all([bit ^ 1 for bit in word])
            for bound in partners(word):
                if len(word) <= NARROW:
                    yield from bound
                yield circuit.all([bit ^ 1 for bit in bound])
                yield from (circuit.same(word, bound), circuit.less(word, bound), circuit.less(bound, word))
