"""`Context`: what is assumed of sizes and indices, what follows from it, and which way a path goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import z3

from axiloom.isa.formal import limited
from axiloom.selection.rules.prove.conditions import Condition, Dropped, Undecided, computed, holds
from axiloom.selection.rules.prove.sizes import Product, Size, parts_of, replaced, sized

QUERY_S = 0.6
"""Our rules need less than a tenth of it."""
MOST_DECISIONS = 24
MOST_STEPS = 64
SAMPLES = 24
"""Values that are tried before a solver is asked what always holds."""


@dataclass
class Memory:
    """What was asked before, on this path or on another of the same rule."""

    numbers: dict[tuple[Any, ...], int] = field(default_factory=dict)
    answers: dict[tuple[Any, ...], bool] = field(default_factory=dict)
    signs: dict[tuple[Any, ...], bool] = field(default_factory=dict)
    """By what is known of unknowns, and the polynomial: whether it is plainly 0 or more."""

    def number(self, said: tuple[Any, ...]) -> int:
        """The same for what is the same."""
        return self.numbers.setdefault(said, len(self.numbers) + 1)


@dataclass
class Context:
    """`path` are the ways to go where there are several, each with their number; what comes later goes the
    first way, and is added to it."""

    path: list[tuple[int, int]] = field(default_factory=list)
    taken: int = 0
    facts: list[Condition] = field(default_factory=list)
    """What holds on the whole path."""
    assumed: list[Condition] = field(default_factory=list)
    """What holds here besides."""
    ranges: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Unknown to its least value and its greatest (None: any). They are of earlier unknowns."""
    quotients: dict[tuple[Any, Any], tuple[Any, Any]] = field(default_factory=dict)
    origins: dict[str, tuple[Any, Any, int]] = field(default_factory=dict)
    """Unknown quotients (0) and remainders (1): what was divided by what."""
    memory: Memory = field(default_factory=Memory)
    known: int = 0
    """The number of all that is known of unknowns."""
    queries: int = 0

    def unknown(self, name: str, low: Any = 1, high: Any = None) -> Size:
        """An integer of which only its ends are known; its name is made new."""
        name = f"{name}.{len(self.ranges)}" if name in self.ranges else name
        self.ranges[name] = (low, high)
        self.known = self.memory.number((self.known, name, _key(low), _key(high)))
        return Size(self, (((name,), 1),))

    # --- conditions

    def compared(self, value: Any, form: str) -> Any:
        if isinstance(value, int):
            return value >= 0 if form == ">=" else value == 0
        return Condition(self, form, (value,))

    @contextmanager
    def under(self, *conditions: Any) -> Iterator[bool]:
        """What follows if they hold too; False: it is plain that they cannot."""
        before = len(self.assumed)
        try:
            possible = True
            for condition in conditions:
                if condition is False or (condition is not True and self.plain(condition.opposite())):
                    possible = False
                elif condition is not True:
                    self.assumed.append(condition)
            yield possible
        finally:
            del self.assumed[before:]

    def plain(self, condition: Any) -> bool:
        """Whether it holds, as can be seen without a solver."""
        if isinstance(condition, bool):
            return condition
        if condition.form == ">=" and self.nonnegative(condition.parts[0]):
            return True
        key = condition.key
        return any(fact.key == key for fact in (*self.assumed, *self.facts))

    def contradiction(self) -> bool:
        """Whether what is assumed cannot be."""
        return self._asked(self.compared_as(-1))

    def compared_as(self, value: int) -> Condition:
        """A condition on an integer, which is plainly so or not."""
        return Condition(self, ">=", (value,))

    def assume(self, condition: Any) -> None:
        """For the whole path."""
        if condition is not True:
            self.facts.append(condition)

    def decide(self, condition: Condition) -> bool:
        """What it is on this path."""
        if self.valid(condition):
            return True
        if self.valid(condition.opposite()):
            return False
        if any(self.local(name) for name in condition.unknowns):
            raise Undecided(f"a condition on an index: {condition.term()}")
        way = self.pick(2) == 0
        self.facts.append(condition if way else condition.opposite())
        return way

    def local(self, name: str) -> bool:
        """Whether it is an index, or depends on one."""
        if name in self.origins:
            return any(
                self.local(unknown) for value in self.origins[name][:2] for unknown in parts_unknowns(value)
            )
        return self.ranges[name][1] is not None

    def pick(self, count: int) -> int:
        """One of so many ways."""
        if not count:
            raise Dropped
        if self.taken == len(self.path):
            self.path.append((0, count))
        if len(self.path) > MOST_DECISIONS:
            raise Undecided(f"more than {MOST_DECISIONS} decisions")
        way = self.path[self.taken][0]
        self.taken += 1
        return way

    def valid(self, condition: Any) -> bool:
        """Whether it follows from what is assumed."""
        if isinstance(condition, bool):
            return condition
        if condition.form == "and":
            return all(self.valid(part) for part in condition.parts)
        if self.plain(condition):
            return True
        if self.plain(condition.opposite()):
            return False
        nothing_known = not self.assumed and not self.facts
        if condition.form == "==" and nothing_known and self.refuted(condition.parts[0]):
            return False
        assumed = tuple(assumption.key for assumption in self.assumed)
        key = (condition.key, self.known, tuple(fact.key for fact in self.facts), assumed)
        answers = self.memory.answers
        if key not in answers:
            answers[key] = not self._counterexample(condition) and self._asked(condition)
        return answers[key]

    def _counterexample(self, condition: Condition) -> bool:
        """Whether some values that keep to all that is assumed are against it."""
        wanted = [*self.facts, *self.assumed]
        for seed in range(SAMPLES):
            values = self._values(seed)
            if values is None or holds(condition, values):
                continue
            if all(holds(fact, values) for fact in wanted):
                return True
        return False

    def _values(self, seed: int) -> dict[str, int] | None:
        """For each unknown a value within its range; None: its range is empty with the values before it."""
        rng = Random(seed)
        values: dict[str, int] = {}
        most = 1 + seed % 8
        for name, (low, high) in self.ranges.items():
            if name in self.origins:
                value, by, which = self.origins[name]
                divisor = computed(by, values)
                if divisor < 1:
                    return None
                values[name] = divmod(computed(value, values), divisor)[which]
                continue
            least = computed(low, values)
            greatest = least + most if high is None else computed(high, values)
            if greatest < least:
                return None
            values[name] = rng.choice((least, greatest, rng.randint(least, greatest)))
        return values

    def refuted(self, value: Any) -> bool:
        """A polynomial in sizes alone, each any from its least up, is not 0 everywhere."""
        names = parts_unknowns(value)
        return all(self.ranges[name][1] is None and name not in self.origins for name in names)

    def _asked(self, condition: Condition) -> bool:
        """First of what speaks of the same unknowns alone: products of others are what takes long."""
        known = [*self.facts, *self.assumed]
        near = [fact for fact in known if fact.unknowns <= condition.unknowns | self._ends(condition)]
        if len(near) < len(known) and self._follows(condition, near):
            return True
        return self._follows(condition, known)

    def _ends(self, condition: Condition) -> frozenset[str]:
        """Unknowns that ends of ranges speak of."""
        ends = [end for name in condition.unknowns for end in self.ranges[name]]
        return frozenset().union(*map(parts_unknowns, ends))

    def _follows(self, condition: Condition, known: list[Condition]) -> bool:
        self.queries += 1
        solver = limited.solver(QUERY_S, "QF_NIA")
        wanted = [condition, *known]
        names = set().union(*(claim.unknowns for claim in wanted))
        facts: list[z3.BoolRef] = []
        stack, seen = sorted(names), set(names)
        while stack:
            name = stack.pop()
            for value in self._facts(name, facts):
                new = parts_unknowns(value) - seen
                seen |= new
                stack += sorted(new)
        solver.add(*facts, *(claim.term() for claim in wanted[1:]), z3.Not(condition.term()))
        return bool(solver.check() == z3.unsat)

    def _facts(self, name: str, facts: list[z3.BoolRef]) -> list[Any]:
        """What is known of an unknown, and the values that it speaks of."""
        low, high = self.ranges[name]
        unknown = z3.Int(name)
        values = [low]
        if low is not None:
            facts.append(unknown >= self.term(low))
        if high is not None:
            facts.append(unknown <= self.term(high))
            values.append(high)
        if name in self.origins:
            value, by, _ = self.origins[name]
            quotient, rest = self.quotients[_key(value), _key(by)]
            facts.append(self.term(quotient) * self.term(by) + self.term(rest) == self.term(value))
            values += [value, by, quotient, rest]
        return values

    def term(self, value: Any) -> z3.ArithRef:
        total: z3.ArithRef = z3.IntVal(0)
        for names, factor in parts_of(value):
            part: z3.ArithRef = z3.IntVal(factor)
            for name in names:
                part = part * z3.Int(name)
            total = total + part
        return z3.simplify(total)

    # --- what follows without a solver

    def nonnegative(self, value: Any) -> bool:
        """Each unknown takes its worst end, the latest first; then all are 0 or more above their least."""
        if isinstance(value, int):
            return value >= 0
        key = (self.known, value.parts)
        if key not in self.memory.signs:
            self.memory.signs[key] = self._nonnegative(value)
        return self.memory.signs[key]

    def _nonnegative(self, value: Any) -> bool:
        for name in reversed(self.ranges):
            if not isinstance(value, Size):
                break
            if name not in value.unknowns:
                continue
            low, high = self.ranges[name]
            signs = {factor > 0 for names, factor in value.parts if name in names}
            if low is None or any(names.count(name) > 1 for names, _ in value.parts):
                return False
            if signs == {False} and high is not None:
                value = self.with_(value, name, high)
            elif signs == {True}:
                value = self.with_(value, name, low)
            else:
                return self._shifted(value)
        return value >= 0 if isinstance(value, int) else False

    def _shifted(self, value: Any) -> bool:
        """With every unknown written as its least value and more, no part is negative."""
        for _ in range(len(self.ranges)):
            bounded = [n for n in parts_unknowns(value) if self.ranges[n][1] is not None]
            if not bounded:
                break
            name = max(bounded, key=list(self.ranges).index)
            inside = [(names, factor) for names, factor in value.parts if name in names]
            low, high = self.ranges[name]
            if any(names.count(name) > 1 for names, _ in inside):
                return False
            # Linear in it: both ends have to do.
            return all(self.nonnegative(self.with_(value, name, end)) for end in (low, high))
        shifted = replaced(value, lambda unknown: self.alone(unknown) + (self.ranges[unknown][0] or 0))
        free = all(self.ranges[unknown][0] is not None for unknown in parts_unknowns(value))
        return free and all(factor >= 0 for _, factor in parts_of(shifted))

    def with_(self, value: Any, name: str, other: Any) -> Any:
        """The polynomial with another value for one unknown."""
        if not isinstance(value, Size) or name not in value.unknowns:
            return value
        rest = {names: factor for names, factor in value.parts if name not in names}
        result: Any = sized(self, rest)
        for names, factor in value.parts:
            if name in names:
                part: Any = sized(self, {tuple(unknown for unknown in names if unknown != name): factor})
                for _ in range(names.count(name)):
                    part = part * other
                result = result + part
        return result

    def alone(self, name: str) -> Size:
        return Size(self, (((name,), 1),))

    # --- quotients

    def divided(self, value: Any, by: Any) -> tuple[Any, Any]:
        """Quotient and remainder, rounded down; the divisor is at least 1."""
        if isinstance(by, int) and isinstance(value, int):
            return divmod(value, by)
        if isinstance(by, int) and by == 1:
            return value, 0
        whole, rest = self._divisible(value, by)
        rest_known = isinstance(rest, int) and rest == 0
        if rest_known or (self.valid(_as(self, rest, ">=")) and self.valid(_as(self, by - rest - 1, ">="))):
            return whole, rest
        key = (_key(rest), _key(by))
        if key not in self.quotients:
            number = len(self.quotients)
            low = 0 if self.valid(_as(self, rest, ">=")) else None
            quotient = self.unknown(f"q{number}", low)
            remainder = self.unknown(f"r{number}", 0, by - 1)
            self.quotients[key] = (quotient, remainder)
            for which, unknown in enumerate((quotient, remainder)):
                (name,) = unknown.unknowns
                self.origins[name] = (rest, by, which)
                self.known = self.memory.number((self.known, name, _key(rest), _key(by), which))
        quotient, remainder = self.quotients[key]
        return whole + quotient, remainder

    def _divisible(self, value: Any, by: Any) -> tuple[Any, Any]:
        """Division of polynomials by the divisor's first monomial: the quotient, and what is left."""
        names, factor = max(parts_of(by), key=lambda part: (len(part[0]), part[0]))
        whole: Any = 0
        rest: Any = value
        for _ in range(MOST_STEPS):
            step: Any = 0
            for monomial, times in parts_of(rest):
                left = _without(monomial, names)
                if left is not None and times // factor:
                    step = sized(self, {left: times // factor})
                    break
            if isinstance(step, int) and step == 0:
                break
            whole, rest = whole + step, rest - step * by
        return whole, rest


def _as(context: Context, value: Any, form: str) -> Any:
    return context.compared(value, form)


def _key(value: Any) -> Any:
    return value.parts if isinstance(value, Size) else value


def parts_unknowns(value: Any) -> frozenset[str]:
    return value.unknowns if isinstance(value, Size) else frozenset()


def _without(product: Product, names: Product) -> Product | None:
    left = list(product)
    for name in names:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left)


def following(path: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The next way, depth first; None: there is none."""
    left = list(path)
    while left:
        way, count = left.pop()
        if way + 1 < count:
            return [*left, (way + 1, count)]
    return None
