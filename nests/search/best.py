"""`auto`: a schedule for a program under limits, with what was searched and whether it is the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.search.arrange import Pipes, arrangements, text
from axiloom.nests.search.branch import Kept, Search
from axiloom.nests.search.choices import choices
from axiloom.nests.search.exact import Exact
from axiloom.nests.search.limits import Limits
from axiloom.nests.search.points import Points
from axiloom.nests.search.shapes import Lanes, Shape
from axiloom.nests.search.structures import Structure, structures

WANTED = 8
"""Best points of each structure that are kept for exact figures."""
EVALUATIONS = 6
"""Circuits that are made at most."""


@dataclass(frozen=True)
class Found:
    """`best` is the schedule and its exact figures; `points`, all that were made exact. `space`: points that
    were declared; `searched`: those looked at, alone or with all that continue them.

    `proven`: no other point of the declared space that fits by the forecast can take fewer cycles; if not,
    `bound` says what would be the fewest. The forecast's cycles are never more than the circuit's; its DSP
    slices are those at the interval that sums ask for.
    """

    best: Exact
    points: tuple[Exact, ...]
    space: int
    searched: int
    seconds: float
    proven: bool
    bound: int
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.best.text


Progress = Callable[[int, int, str], None]
"""Told after each step: how many of how many are done, and what is the best so far."""


@dataclass
class _Case:
    """A structure with its pipes."""

    structure: Structure
    base: Schedule
    shapes: list[Shape]
    choices: list[list[Lanes]]
    pipes: list[int]
    limits: Limits
    unshared: frozenset[int] = frozenset()
    search: Search = field(init=False)

    def run(self) -> None:
        self.search = Search(
            self.shapes, self.choices, self.pipes, self.base.program, self.limits, WANTED,
            unshared=self.unshared,
        )  # fmt: skip
        self.search.run()

    def learn(self, kept: Kept, point: Exact, limits: Limits) -> None:
        """`point` does not fit, though its forecast does: nothing like it again."""
        lanes = [self.choices[n][kept.point[n]] for n in self.search.leaders]
        if point.amount.dsp > limits.amount.dsp and any(each.sums > 1 for each in lanes):
            self.unshared |= {each.sums for each in lanes}
        else:
            self.limits = _tighter(self.limits, kept, point, limits)
        self.run()

    @property
    def space(self) -> int:
        return self.search.space

    @property
    def plain(self) -> int:
        """Cycles without lanes, at least."""
        ones = [shape.lanes((1,) * len(shape.loops)) for shape in self.shapes]
        return max(
            sum(o.iterations for o, p in zip(ones, self.pipes, strict=True) if p == q) for q in self.pipes
        )

    def text(self, kept: Kept) -> str:
        return text(self.base, self.search.chosen(kept.point))


def auto(
    program: Program,
    limits: Limits | None = None,
    *,
    points: Path | None = None,
    evaluations: int = EVALUATIONS,
    progress: Progress | None = None,
) -> Found:
    """The schedule with the fewest cycles, then LUTs, that fits `limits`. Deterministic.

    What cannot be improved stays as written.
    """
    start = time.monotonic()
    limits = limits or Limits.of()
    store = Points(program, points)
    tell = progress or (lambda done, total, best: None)
    cases = list(_cases(program, limits))
    for case in cases:
        case.run()
    searched = sum(each.search.looked_at for each in cases)
    seen: dict[str, Exact] = {}
    best: Exact | None = None
    bound = 0
    complete = all(each.search.complete for each in cases)
    proven = False
    while True:
        candidates = [
            (kept.key, number, kept)
            for number, case in enumerate(cases)
            for kept in case.search.kept
            if case.text(kept) not in seen
        ]
        if not candidates:
            break
        key, number, kept = min(candidates, key=lambda each: each[:2])
        bound = key[0]
        if best is not None and best.cycles is not None and bound >= best.cycles:
            proven = complete
            break
        if len(seen) >= evaluations:
            break
        case = cases[number]
        point = store[case.text(kept)]
        seen[point.text] = point
        if point.cycles is not None and point.amount.fits(limits.amount):
            if best is None or _key(point) < _key(best):
                best = point
        elif point.cycles is not None:
            case.learn(kept, point, limits)
            searched += case.search.looked_at
            complete = complete and case.search.complete
        tell(len(seen), evaluations, f"{best.cycles:,} cycles" if best else "none fits yet")
    notes: list[str] = []
    plain = min((case.plain for case in cases if not case.base.log), default=0)
    if best is not None and best.cycles is not None and plain < best.cycles:
        written = store[""]
        seen[""] = written
        if written.cycles is not None and written.amount.fits(limits.amount) and _key(written) < _key(best):
            best = written
            notes.append("nothing that was tried takes fewer cycles than the loops as they are written")
    if best is None:
        best = store[""]
        notes.append("nothing that was tried fits: it stays as written")
        proven = False
    return Found(
        best,
        tuple(seen.values()),
        sum(each.space for each in cases),
        searched,
        time.monotonic() - start,
        proven,
        min(bound, best.cycles or bound),
        tuple(notes),
    )


def _key(point: Exact) -> tuple[int, int, int]:
    assert point.cycles is not None
    return (point.cycles, point.amount.lut, point.amount.dsp)


def _tighter(now: Limits, kept: Kept, point: Exact, limits: Limits) -> Limits:
    """The forecast was too low: a limit for it as much lower."""
    lut = now.amount.lut
    if point.amount.lut > limits.amount.lut:
        lut = int(limits.amount.lut * kept.forecast.amount.lut / point.amount.lut)
    return replace(now, amount=replace(now.amount, lut=min(lut, kept.forecast.amount.lut - 1)))


def _cases(program: Program, limits: Limits) -> Iterator[_Case]:
    for structure in structures(Schedule.of(program)):
        for base, pipes in arrangements(structure):
            yield _case(structure, base, pipes, limits)


def _case(structure: Structure, base: Schedule, pipes: Pipes, limits: Limits) -> _Case:
    names = {each.number: each.statements[0].statement.name for each in structure.schedule.nests}
    pipe_of = {names[n]: k for k, pipe in enumerate(pipes) for n in pipe}
    shapes = [Shape(base, nest) for nest in base.nests]
    return _Case(
        structure,
        base,
        shapes,
        [choices(each, limits) for each in shapes],
        [pipe_of[each.statements[0]] for each in shapes],
        limits,
    )
