"""Banks that suit the lanes: the fewest under which no two lanes of an iteration meet in a bank.

Only cyclic partitions are tried. A bank that is the same in every iteration is wired, others are selected, so
that up to four times the banks are taken for wires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod

from axiloom.base.affine import Affine
from axiloom.nests.lower.iteration.graph import Access, Vertex
from axiloom.nests.lower.iteration.guards import Guards
from axiloom.nests.program import Array
from axiloom.nests.schedule import Cyclic

WIRED = 4
MOST_FACTOR = 128


@dataclass(frozen=True)
class Demand:
    """What accesses of an array ask of its partition. `gaps`: constant distances, by dimension, of elements
    that need different banks. `steps`: for each dimension, what all coefficients of counters are multiples
    of (0: there are none)."""

    gaps: frozenset[tuple[int, ...]]
    steps: tuple[int, ...]


def demand(array: Array, vertices: Sequence[Vertex], guards: Guards) -> Demand:
    """Of the accesses of one pipe."""
    gaps: set[tuple[int, ...]] = set()
    steps = [0] * len(array.shape)
    for stores in (False, True):
        accesses = [
            (vertex.what, vertex.guard)
            for vertex in vertices
            if isinstance(vertex.what, Access)
            and vertex.what.array == array.name
            and vertex.what.is_store is stores
        ]
        for what, _ in accesses:
            for dimension, form in enumerate(what.forms):
                steps[dimension] = gcd(steps[dimension], *(factor for _, factor in form.terms))
        for (access, where), (other, guard) in combinations(accesses, 2):
            gap = _gap(access.forms, other.forms)
            if gap is not None and any(gap) and gap not in gaps and not guards.excludes(where, guard):
                gaps.add(gap)
    return Demand(frozenset(gaps), tuple(steps))


def partition(array: Array, demands: Iterable[Demand]) -> Cyclic:
    """For what all pipes ask."""
    demands = list(demands)
    gaps = frozenset().union(*(demand.gaps for demand in demands))
    steps = tuple(gcd(*(demand.steps[d] for demand in demands)) for d in range(len(array.shape)))
    if not gaps:
        return Cyclic((1,) * len(array.shape))
    most = [
        min(n, MOST_FACTOR, max(abs(gap[d]) for gap in gaps) * (1 + WIRED) + 1)
        for d, n in enumerate(array.shape)
    ]
    fewest: tuple[int, ...] | None = None
    banks, limit = 1, prod(most)
    while banks <= limit:
        for factors in _products(banks, most):
            if any(all(x % f == 0 for x, f in zip(gap, factors, strict=True)) for gap in gaps):
                continue
            if fewest is None:
                fewest, limit = factors, WIRED * banks
            if all(step % f == 0 for step, f in zip(steps, factors, strict=True)):
                return Cyclic(factors)
        banks += 1
    return Cyclic(fewest or (1,) * len(array.shape))


def _products(number: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All factors, one a dimension and none above `most`, whose product is `number`."""
    if not most:
        if number == 1:
            yield ()
        return
    for factor in range(1, min(most[0], number) + 1):
        if number % factor == 0:
            for rest in _products(number // factor, most[1:]):
                yield (factor, *rest)


def _gap(affines: tuple[Affine, ...], other: tuple[Affine, ...]) -> tuple[int, ...] | None:
    gaps = [a - b for a, b in zip(affines, other, strict=True)]
    if any(not gap.is_constant for gap in gaps):
        return None
    return tuple(gap.constant for gap in gaps)
