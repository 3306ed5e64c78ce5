"""Which loop goes in blocks, so that what is read again is in the board's L2 still.

A loop is moved only if nothing but loops is around it. Then the device keeps no tile from one iteration to
the next that a block could take away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from axiloom.plan.numbers import Num
from axiloom.plan.rewrite import blocked
from axiloom.plan.tree import Plan

WORTHWHILE = 0.95
"""Blocks must cost less than this part of what the nest costs without them."""

Block = tuple[int, int]
"""Number of a loop, and iterations a block; of one: it becomes the outermost."""


def best(plan: Plan, cost: Callable[[Plan], Num]) -> list[Block | None]:
    """Of each candidate (of one plan: a list of one) the blocks that cost least; None: nothing is gained."""
    candidates = plan.count or 1
    least = WORTHWHILE * np.broadcast_to(cost(plan), candidates)
    chosen: list[Block | None] = [None] * candidates
    for number in movable(plan):
        trips = np.broadcast_to(plan.levels[number].trips, candidates)
        variants = [(i, count) for i, n in enumerate(trips) for count in divisors(int(n))]
        if not variants:
            continue
        which, counts = map(np.array, zip(*variants, strict=True))
        costs = np.broadcast_to(cost(blocked(plan[which], number, counts)), len(variants))
        for (i, count), cycles in zip(variants, costs, strict=True):
            if cycles < least[i]:
                least[i], chosen[i] = cycles, (number, count)
    return chosen


def movable(plan: Plan) -> Iterator[int]:
    """Loops that may go in blocks: nothing happens in the loops around such a loop but in it."""
    for number, level in enumerate(plan.levels):
        if number:
            yield number
        if level.all:
            return


def divisors(trips: int) -> list[int]:
    """Iterations a block: blocks are of equal size, so that a prime number of tiles has none but of one."""
    return [count for count in range(1, trips) if trips % count == 0]
