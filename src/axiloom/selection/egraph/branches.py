"""The cheapest choice of a small problem by trying its ways, the dear ones cut off.

A block of a network has a dozen classes, and few of them have two ways. To go through these takes less time
than to state them to a solver.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic

from axiloom.selection.egraph.parts import certain
from axiloom.selection.egraph.problem import Problem, T, used
from axiloom.selection.egraph.saturated import SaturationError

MOST_STEPS = 500
"""Ways that are tried: some 5 ms."""


def branched(
    problem: Problem[T], start: dict[int, int], steps: int = MOST_STEPS
) -> tuple[dict[int, int], int] | None:
    """The cheapest choice and its cost, `start` where nothing is cheaper; None: there is too much to try.

    Of two that cost the same, the one with fewer classes is cheaper.
    """
    search = _Search(problem, start, steps)
    return used(problem, search.best) if search.run() else None


@dataclass
class _Search(Generic[T]):
    problem: Problem[T]
    best: dict[int, int]
    left: int
    chosen: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ways = self.problem.ways
        self.scale = len(ways) + 1
        self.place = {way: i for i, way in enumerate(ways)}
        self.least = [self._paid(min(way[0] for way in of)) for of in ways.values()]
        self.below = certain(self.problem)
        self.rank = {eclass: i for i, eclass in enumerate(x for group in self.problem.order for x in group)}
        chosen, _ = used(self.problem, self.best)
        self.cost = sum(self._paid(ways[eclass][way][0]) for eclass, way in chosen.items())

    def _paid(self, cost: int) -> int:
        """A class weighs 1 beside its cost: all of them together less than one cycle."""
        return cost * self.scale + 1

    def run(self) -> bool:
        """Whether all was tried, or is too dear."""
        return self._try(frozenset(self.problem.roots), 0, 0)

    def _try(self, open_: frozenset[int], done: int, paid: int) -> bool:
        """What `open_` needs, with the classes of the bits `done` chosen and paid for."""
        if not open_:
            try:
                used(self.problem, self.chosen)
            except SaturationError:  # a circle
                return True
            self.best, self.cost = dict(self.chosen), paid
            return True
        eclass = max(open_, key=self.rank.__getitem__)
        here = done | 1 << self.place[eclass]
        rest = open_ - {eclass}
        for i, (cost, needs, _) in sorted(enumerate(self.problem.ways[eclass]), key=lambda way: way[1][0]):
            if not self.left:
                return False
            self.left -= 1
            then = rest | {need for need in needs if not here >> self.place[need] & 1}
            now = paid + self._paid(cost)
            if now + self._ahead(then, here) >= self.cost:
                continue
            self.chosen[eclass] = i
            if not self._try(then, here, now):
                return False
            del self.chosen[eclass]
        return True

    def _ahead(self, open_: frozenset[int], done: int) -> int:
        """What these cost at least, with all that they need in any case."""
        bits = 0
        for eclass in open_:
            bits |= self.below[eclass]
        bits &= ~done
        total = 0
        while bits:
            lowest = bits & -bits
            total += self.least[lowest.bit_length() - 1]
            bits ^= lowest
        return total
