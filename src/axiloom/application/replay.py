"""Sampled calls again, by commands: on the accelerator's text, and on RTL where there is RTL.

Whole arrays (`numbers/`) are quick and not what a device does. So some calls of the run, with the operands
that it had, are given as commands to the simulator of the accelerator's text, and all bytes are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from axiloom.application.numbers.counts import Array
from axiloom.application.run import Plan
from axiloom.application.units.unit import Call, Operator, Settings

Again = Callable[[Operator, Sequence[Array], Settings, np.random.Generator], Call]
RTL: dict[str, Again] = {}
"""By name of units: a call on their RTL, as `Unit.replay` makes one on the text. None of the units that are
here has RTL yet; the command says so."""
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

    def watch(self, call: int, operator: Operator, arrays: Sequence[Array]) -> None:
        ways: dict[str, Again] = {TEXT: operator.unit.replay}
        if operator.unit.name in RTL:
            ways[ON_RTL] = RTL[operator.unit.name]
        for turn in range(self.pairs.get((call, operator.name), 0)):
            for where, again in ways.items():
                begun = time.perf_counter()
                rng = np.random.default_rng([self.seed, call, turn])
                one = again(operator, arrays, self.plan[operator.name], rng)
                wrong = int(np.count_nonzero(one.found != one.wanted))
                spent = time.perf_counter() - begun
                self.found.append(
                    Replayed(operator.name, where, call, one.what, one.wanted.size, wrong, spent)
                )


def sample(operators: Sequence[Operator], calls: int, plan: Plan, count: int, seed: int) -> Sample:
    """Each operator once before one is drawn again."""
    rng = np.random.default_rng(seed)
    names = [one.name for one in operators]
    pairs: dict[tuple[int, str], int] = {}
    drawn: list[str] = []
    for _ in range(count):
        drawn = drawn or [names[i] for i in rng.permutation(len(names))]
        at = int(rng.integers(calls)), drawn.pop()
        pairs[at] = pairs.get(at, 0) + 1
    return Sample(plan, pairs, seed)


def without_rtl(operators: Sequence[Operator]) -> list[str]:
    """Units whose calls ran on their text alone."""
    return sorted({one.unit.name for one in operators} - {*RTL})
