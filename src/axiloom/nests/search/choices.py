"""The declared space of lanes: for each loop the least factor of each number of steps, and powers of two."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from axiloom.nests.search.limits import Limits
from axiloom.nests.search.shapes import Lanes, Shape, carries, cost

CHAIN = 8
"""Additions of integers in a cycle, one after the other: more would be slower than the clock of any part."""
FREE = 64
"""Lanes of a nest without operators: they only write."""


def factors(extent: int, most: int) -> list[int]:
    """``factors(10, 6) == [1, 2, 3, 4, 5]``: 6 takes as many steps as 5."""
    distinct = {f for f in range(1, min(extent, most) + 1) if f == ceil(extent / ceil(extent / f))}
    power = 1
    while power <= min(extent, most):
        distinct.add(power)
        power *= 2
    return sorted(distinct)


def choices(shape: Shape, limits: Limits) -> list[Lanes]:
    """All lanes of a nest that fit by themselves, from the fewest cycles on."""
    work = sum(1 for _ in shape.operated)
    most = max(1, limits.lanes // work) if work else FREE
    fitting = []
    for product in _products(shape, most, 0):
        by_loop = dict(zip(shape.loops, product, strict=True))
        if any(carries(placed, by_loop) > CHAIN for placed in shape.nest.statements):
            continue
        lanes = shape.lanes(product)
        need = sum(ceil(count / lanes.interval) * cost(kinds).dsp for kinds, count in lanes.units.items())
        if need <= limits.amount.dsp:
            fitting.append(lanes)
    fitting.sort(key=lambda lanes: (lanes.cycles, lanes.count, lanes.factors))
    return fitting or [shape.lanes((1,) * len(shape.loops))]


def _products(shape: Shape, most: int, position: int) -> Iterator[tuple[int, ...]]:
    if position == len(shape.loops):
        yield ()
        return
    name = shape.loops[position]
    for f in factors(shape.extents[name], most) if name in shape.open else [1]:
        for rest in _products(shape, most // f, position + 1):
            yield (f, *rest)
