"""`by_steps`: the state after a known number of steps, each element made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from axiloom.graph.ops.op import Index, Read

Step = Callable[[Any, Sequence[Read]], Sequence[Read]]
"""From a step's number and the states before it to those after it."""


def by_steps(count: int, first: Sequence[Read], step: Step, which: int, at: Index) -> Any:
    """What `Algebra.scan` is where `count` is an integer."""
    known: dict[tuple[int, int, tuple[Any, ...]], Any] = {}

    def reader(k: int, i: int) -> Read:
        def read(at: Index) -> Any:
            key = (k, i, tuple(at))
            if key not in known:
                known[key] = states(k)[i](at)
            return known[key]

        return read

    def states(k: int) -> Sequence[Read]:
        return first if k == 0 else step(k - 1, [reader(k - 1, i) for i in range(len(first))])

    return reader(count, which)(at)
