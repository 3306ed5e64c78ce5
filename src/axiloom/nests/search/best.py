"""`auto`: a schedule for a program under limits, with what was searched and whether it is the best."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from axiloom.base.processes import EndedError
from axiloom.nests.poly.checks import check_circuit
from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import ScheduleError
from axiloom.nests.schedule.replay import replay
from axiloom.nests.search.arrange import Pipes, arrangements, text
from axiloom.nests.search.bodies import ladder
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
class SearchResult:
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
    stopped: int = 0
    """The signal that ended it."""

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
        if point.amount.dsp > limits.amount.dsp and any(lane.sums > 1 for lane in lanes):
            self.unshared |= {lane.sums for lane in lanes}
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
) -> SearchResult:
    """The schedule with the fewest cycles, then LUTs, that fits `limits`. Deterministic.

    What cannot be improved stays as written.
    """
    limits = limits or Limits.of()
    return _Run(program, limits, Points(program, points), evaluations, progress).result()


class _Run:
    """A search that a signal can end: then what it has counts."""

    def __init__(
        self, program: Program, limits: Limits, store: Points, evaluations: int, progress: Progress | None
    ) -> None:
        self.program, self.limits, self.store, self.evaluations = program, limits, store, evaluations
        self.tell = progress or (lambda done, total, best: None)
        self.cases: list[_Case] = []
        self.seen: dict[str, Exact] = {}
        self.best: Exact | None = None
        self.searched = self.bound = self.steps = 0
        self.complete = self.proven = False
        self.notes: list[str] = []

    def result(self) -> SearchResult:
        start, stopped = time.monotonic(), 0
        try:
            self._lanes()
            self._bodies()
            self._as_written()
        except (KeyboardInterrupt, EndedError) as end:
            stopped, self.proven = getattr(end, "signal", signal.SIGINT), False
            self.notes.append("stopped before its end: this is the best so far")
        if self.best is None:
            self.best = self.store[""]
            self.proven = False
            self.notes += [] if stopped else ["nothing that was tried fits: it stays as written"]
        return SearchResult(
            self.best,
            tuple(self.seen.values()),
            sum(case.space for case in self.cases) + self.steps,
            self.searched,
            time.monotonic() - start,
            self.proven,
            min(self.bound, self.best.cycles or self.bound),
            tuple(self.notes),
            stopped,
        )

    def _lanes(self) -> None:
        """Points of the declared space, by their forecasts."""
        for case in _cases(self.program, self.limits):
            self.cases.append(case)
            case.run()
            self.searched += case.search.looked_at
        self.complete = all(case.search.complete for case in self.cases)
        while True:
            candidates = [
                (entry.key, number, entry)
                for number, case in enumerate(self.cases)
                for entry in case.search.kept
                if case.text(entry) not in self.seen
            ]
            if not candidates:
                return
            key, number, entry = min(candidates, key=lambda candidate: candidate[:2])
            self.bound = key[0]
            if self.best is not None and self.best.cycles is not None and self.bound >= self.best.cycles:
                self.proven = self.complete
                return
            if len(self.seen) >= self.evaluations:
                return
            case = self.cases[number]
            point = self._point(case.text(entry))
            if point.cycles is not None and not point.amount.fits(self.limits.amount):
                case.learn(entry, point, self.limits)
                self.searched += case.search.looked_at
                self.complete = self.complete and case.search.complete

    def _bodies(self) -> None:
        """Of nests that are not perfect, beside what was found: more lanes as long as they fit and help."""
        if self.best is None:
            return
        base = self.best.text
        try:
            lines = ladder(replay(self.program, base))
        except ScheduleError:
            return
        before = self.best
        if lines:
            self.bound = 0
            self.notes.append("of loops around several nests, only lanes of the nests inside were tried")
        for step in lines:
            self.steps += 1
            self.proven = False
            point = self._point(base + step)
            worse = before is not None and _key(before)[0] < (point.cycles or 0)
            if point.cycles is None or worse or not point.amount.fits(self.limits.amount):
                break
            before = point
        self.searched += self.steps

    def _as_written(self) -> None:
        plain = min((case.plain for case in self.cases if not case.base.log), default=0)
        best = self.best
        if best is not None and best.text and best.cycles is not None and plain < best.cycles:
            self._point("")
            if self.best is not best:
                self.notes.append(
                    "nothing that was tried takes fewer cycles than the loops as they are written"
                )

    def _point(self, text: str) -> Exact:
        """The point, which is the best from now on if it fits and no other is better."""
        point = self.seen[text] = self.store[text]
        fits = point.cycles is not None and point.amount.fits(self.limits.amount)
        if fits and (self.best is None or _key(point) < _key(self.best)):
            self.best = point
        best = f"{self.best.cycles:,} cycles" if self.best else "none fits yet"
        self.tell(len(self.seen), max(len(self.seen), self.evaluations), best)
        return point


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
    check_circuit(program)
    for structure in structures(Schedule.of(program)):
        for base, pipes in arrangements(structure):
            yield _case(structure, base, pipes, limits)


def _case(structure: Structure, base: Schedule, pipes: Pipes, limits: Limits) -> _Case:
    names = {nest.number: nest.statements[0].statement.name for nest in structure.schedule.nests}
    pipe_of = {names[n]: k for k, pipe in enumerate(pipes) for n in pipe}
    shapes = [Shape(base, nest) for nest in base.nests]
    return _Case(
        structure,
        base,
        shapes,
        [choices(shape, limits) for shape in shapes],
        [pipe_of[shape.statements[0]] for shape in shapes],
        limits,
    )
