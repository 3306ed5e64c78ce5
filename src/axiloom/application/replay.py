"""Sampled calls again, by commands: on the accelerator's text, and on RTL where there is RTL.

Whole arrays (`numbers/`) are quick and not what a device does. So some calls of the run, with the operands
that it had, are given as commands to the simulator of the accelerator's text and to the RTL of its units, and
all results are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from axiloom.application.run import Plan
from axiloom.application.units.counts import Array
from axiloom.application.units.unit import Call, Operator
from axiloom.base.errors import BuildError, DriverError

TEXT, ON_RTL = "text", "RTL"


@dataclass(frozen=True)
class Replayed:
    """`elements` results of a call, `wrong` of which differ; `where` is TEXT or ON_RTL."""

    operator: str
    where: str
    call: int
    what: str
    elements: int
    wrong: int
    seconds: float


@dataclass
class Sample:
    """`count` pairs of a call and an operator, drawn from `seed`; `watch` belongs to a run."""

    plan: Plan
    pairs: dict[tuple[int, str], int]
    seed: int
    found: list[Replayed] = field(default_factory=list)
    without_rtl: dict[str, str] = field(default_factory=dict)
    """Units or operators of which a call was not given to RTL, and why."""

    def watch(self, call: int, operator: Operator, arrays: Sequence[Array]) -> None:
        for turn in range(self.pairs.get((call, operator.name), 0)):
            rng = np.random.default_rng([self.seed, call, turn])
            part = operator.unit.replay(operator, arrays, self.plan[operator.name], rng)
            self._compare(operator.name, TEXT, call, part, part.text)
            if part.rtl is None:
                self.without_rtl[operator.unit.name] = "there is none"
                continue
            try:
                self._compare(operator.name, ON_RTL, call, part, part.rtl)
            except (BuildError, ValueError) as error:
                self.without_rtl[operator.name] = str(error)

    def _compare(self, name: str, where: str, number: int, part: Call, again: Callable[[], Array]) -> None:
        begun = time.perf_counter()
        what, wrong = part.what, part.wanted.size
        try:
            wrong = int(np.count_nonzero(again() != part.wanted))
        except DriverError as error:  # a packet of the RTL is not its text's, or it hangs
            what = f"{what} ({error})"
        spent = time.perf_counter() - begun
        self.found.append(Replayed(name, where, number, what, part.wanted.size, wrong, spent))


def sample(operators: Sequence[Operator], calls: int, plan: Plan, count: int, seed: int) -> Sample:
    """Each operator once before one is drawn again."""
    rng = np.random.default_rng(seed)
    names = [operator.name for operator in operators]
    pairs: dict[tuple[int, str], int] = {}
    drawn: list[str] = []
    for _ in range(count):
        drawn = drawn or [names[i] for i in rng.permutation(len(names))]
        at = int(rng.integers(calls)), drawn.pop()
        pairs[at] = pairs.get(at, 0) + 1
    return Sample(plan, pairs, seed)
