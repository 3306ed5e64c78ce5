"""Branch and bound over the lanes of all nests: the best `wanted` points, in order, and whether they are.

Nests that work long lead: their lanes are free, but for those of one pipe that sum up, which have the same
number of lanes along their sums (else their additions are in chains of different lengths, which cannot be
shared). The others follow: in each dimension of each array that they have in common with a leader they have
its lanes or one, and of these choices the one with the fewest cycles.

A partial point is left if even the fewest iterations that the other nests can have do not give fewer cycles
than the worst point kept, or if what is decided does not fit.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil

from axiloom.nests.program import Program
from axiloom.nests.search.forecast import Chosen, Forecast, forecast
from axiloom.nests.search.limits import Limits
from axiloom.nests.search.shapes import Lanes, Shape, cost

NODES = 200_000
"""Partial points that are looked at before the search gives up the proof."""
LEAVES = 1_000
"""Whole points of which those with equal cycles are told apart by LUTs; after so many, only fewer cycles
count; after three times as many the search gives up the proof."""
LEADS = 0.125
"""Of the most work of any nest: a nest with as much leads."""

Point = tuple[int, ...]
"""For each nest the number of its choice."""


@dataclass(order=True, frozen=True)
class Kept:
    key: tuple[int, int, int]
    point: Point
    forecast: Forecast = field(compare=False)


@dataclass(frozen=True)
class Partial:
    """What is decided of a pipe. `units`: DSP slices' kinds in turn."""

    iterations: int = 0
    interval: int = 1
    path: int = 0
    count: int = 0
    sums: int = 0
    units: tuple[int, ...] = ()


@dataclass
class Search:
    """`pipes`: for each shape the number of its pipe. `choices` are sorted by cycles."""

    shapes: Sequence[Shape]
    choices: Sequence[Sequence[Lanes]]
    pipes: Sequence[int]
    program: Program
    limits: Limits
    wanted: int = 1
    nodes: int = NODES
    unshared: frozenset[int] = frozenset()
    """Additions to one sum at once, of whose chains it is known that nests of a pipe cannot share them."""
    bounded: bool = True
    """False: every point is looked at."""
    looked_at: int = 0
    leaves: int = 0

    def __post_init__(self) -> None:
        work = [shape.lanes((1,) * len(shape.loops)).cycles for shape in self.shapes]
        order = sorted(range(len(self.shapes)), key=lambda n: (-work[n], n))
        self.leaders = [n for n in order if work[n] >= LEADS * max(work)]
        self.followers = [n for n in order if n not in self.leaders]
        self.kept: list[Kept] = []
        self._kinds = sorted({kinds for some in self.choices for kinds in some[0].units})
        self._slices = [cost(kinds).dsp for kinds in self._kinds]
        self._units = [
            [tuple(lanes.units.get(kinds, 0) for kinds in self._kinds) for lanes in some]
            for some in self.choices
        ]
        self._slowest = {
            pipe: max(
                lanes.interval
                for some, mine in zip(self.choices, self.pipes, strict=True)
                for lanes in some
                if mine == pipe
            )
            for pipe in set(self.pipes)
        }
        self._rest = [self._fewest(self.leaders[depth:]) for depth in range(len(self.leaders) + 1)]
        self._following: dict[object, int] = {}

    def _fewest(self, others: Sequence[int]) -> dict[int, tuple[int, int, int]]:
        """Iterations, interval and path of nests not decided yet, at least, by pipe."""
        fewest = dict.fromkeys(set(self.pipes), (0, 1, 0))
        for n in (*others, *self.followers):
            iterations, interval, path = fewest[self.pipes[n]]
            some = self.choices[n]
            fewest[self.pipes[n]] = (
                iterations + min(lanes.iterations for lanes in some),
                max(interval, min(lanes.interval for lanes in some)),
                max(path, min(lanes.short for lanes in some)),
            )
        return fewest

    @property
    def space(self) -> int:
        """Points: the choices of leaders, whom the others follow."""
        total = 1
        for n in self.leaders:
            total *= len(self.choices[n])
        return total

    @property
    def complete(self) -> bool:
        """Whether no better point was left out."""
        return self.looked_at < self.nodes and not self._is_tired()

    def _is_tired(self) -> bool:
        return self.bounded and self.leaves >= 3 * LEAVES

    def run(self) -> list[Kept]:
        empty = Partial(units=(0,) * len(self._kinds))
        self._visit(0, dict.fromkeys(self.pipes, empty), {})
        return self.kept

    def least(self, depth: int, partial: dict[int, Partial]) -> int:
        """Cycles of any completion, at least."""
        most = 0
        for pipe, (iterations, interval, path) in self._rest[depth].items():
            now = partial[pipe]
            total = (now.iterations + iterations - 1) * max(interval, now.interval) + 1
            most = max(most, total + max(path, now.path))
        return most

    def _visit(self, depth: int, partial: dict[int, Partial], decided: dict[int, int]) -> None:
        if depth == len(self.leaders):
            self._leaf(decided)
            return
        n = self.leaders[depth]
        pipe = self.pipes[n]
        now = partial[pipe]
        for k, lanes in enumerate(self.choices[n]):
            if self.looked_at >= self.nodes or self._is_tired():
                return
            self.looked_at += 1
            if now.sums and lanes.sums and (now.sums != lanes.sums or now.sums in self.unshared):
                continue
            new = {**partial, pipe: self.added(now, n, k)}
            if self.bounded and self._is_hopeless(depth + 1, new):
                continue
            if self._fits(new):
                decided[n] = k
                self._visit(depth + 1, new, decided)
                del decided[n]

    def added(self, now: Partial, n: int, k: int) -> Partial:
        """Of a pipe, with choice `k` of nest `n` too."""
        lanes = self.choices[n][k]
        return Partial(
            now.iterations + lanes.iterations,
            max(now.interval, lanes.interval),
            max(now.path, lanes.short),
            max(now.count, lanes.count),
            max(now.sums, lanes.sums),
            tuple(map(max, now.units, self._units[n][k])),
        )

    def _is_hopeless(self, depth: int, partial: dict[int, Partial]) -> bool:
        if len(self.kept) < self.wanted:
            return False
        return self.least(depth, partial) + int(self.leaves >= LEAVES) > self.kept[-1].key[0]

    def _fits(self, partial: dict[int, Partial]) -> bool:
        """Whether a completion can. Operations take turns in the cycles of the interval, which the nests that
        are not decided may make longer."""
        lanes = slices = 0
        for pipe, taken in partial.items():
            turns = self._slowest[pipe]
            lanes += taken.count
            slices += sum(ceil(n / turns) * dsp for n, dsp in zip(taken.units, self._slices, strict=True))
        return lanes <= self.limits.lanes and slices <= self.limits.amount.dsp

    # --- whole points ---

    def _leaf(self, decided: dict[int, int]) -> None:
        self.leaves += 1
        point = self.whole(decided)
        forecast = self.forecast(point)
        if forecast.amount.fits(self.limits.amount):
            insort(self.kept, Kept(forecast.key(), point, forecast))
            del self.kept[self.wanted :]

    def whole(self, decided: Mapping[int, int]) -> Point:
        """The point of which the leaders' choices are `decided`."""
        all_of_it = {**decided, **{n: self._follow(n, decided) for n in self.followers}}
        return tuple(all_of_it[n] for n in range(len(self.shapes)))

    def every(self) -> Iterator[Point]:
        """All points, whether they fit or not."""
        for numbers in product(*(range(len(self.choices[n])) for n in self.leaders)):
            yield self.whole(dict(zip(self.leaders, numbers, strict=True)))

    def forecast(self, point: Point, intervals: Mapping[int, int] | None = None) -> Forecast:
        return forecast(self.chosen(point), self.program, intervals)

    def chosen(self, point: Point) -> list[Chosen]:
        return [
            Chosen(shape, some[k], pipe)
            for shape, some, k, pipe in zip(self.shapes, self.choices, point, self.pipes, strict=True)
        ]

    def _follow(self, n: int, decided: Mapping[int, int]) -> int:
        """The first choice whose lanes agree with the leaders'."""
        allowed: dict[str, list[set[int]]] = {}
        sums = 0
        units = [0] * len(self._kinds)
        for leader in self.leaders:
            lanes = self.choices[leader][decided[leader]]
            if self.pipes[leader] == self.pipes[n]:
                sums = max(sums, lanes.sums)
                units = list(map(max, units, self._units[leader][decided[leader]]))
            for array in self.choices[n][0].banks.keys() & lanes.banks.keys():
                there = allowed.setdefault(array, [{1} for _ in lanes.banks[array]])
                for values, banks in zip(there, lanes.banks[array], strict=True):
                    values.add(banks)
        key = (
            n,
            sums,
            tuple(units),
            tuple(sorted((a, tuple(map(frozenset, s))) for a, s in allowed.items())),
        )
        if key not in self._following:
            self._following[key] = next(self._agreeing(n, allowed, sums, units), self._single(n))
        return self._following[key]

    def _agreeing(
        self, n: int, allowed: dict[str, list[set[int]]], sums: int, units: list[int]
    ) -> Iterator[int]:
        for k, lanes in enumerate(self.choices[n]):
            agrees = all(
                banks in values
                for array, there in allowed.items()
                for values, banks in zip(there, lanes.banks[array], strict=True)
            )
            # No operators but those that the leaders have; of kinds they have none of, as many as wanted.
            has = all(
                mine <= max(most, 1) or most == 0 for mine, most in zip(self._units[n][k], units, strict=True)
            )
            if agrees and has and (not lanes.sums or not sums or lanes.sums == sums):
                yield k

    def _single(self, n: int) -> int:
        """Without lanes."""
        return min(range(len(self.choices[n])), key=lambda k: self.choices[n][k].count)
