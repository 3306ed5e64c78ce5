"""Choosing how to use an accelerator for a problem: the model's ranking, and what a simulation says of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from axiloom import boards, drivergen
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen.cost.model import Choice
from axiloom.drivergen.cost.selection import Candidate, published_best, squares
from axiloom.drivergen.pipeline import conv_choice
from axiloom.drivergen.problems.matmul import Problem
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW
from axiloom.run.choice import ranked, ranks
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import Outcome, sweep

PAPER = "paper's Best"
PUBLISHED = "published"
RANKED = 256
"""Tiles and orders of each flow that are asked for where the model says a time alone."""


@dataclass(frozen=True)
class Way:
    """A way to use an accelerator whose model says a time in seconds alone."""

    candidate: Candidate
    pipeline: str
    seconds: float
    words: int | None = None
    limit_ratio: float | None = None


Ranked = TypeVar("Ranked", Choice, Way)


@dataclass(frozen=True)
class Row:
    """A choice as the table shows it. Times in seconds; `names`: what it is known as."""

    choice: Choice | Way
    names: tuple[str, ...] = ()
    simulated: float | None = None
    simulated_ratio: float | None = None
    """Simulated fabric cycles over the limit."""
    error: str | None = None
    called: float | None = None
    """Simulated, from call to return."""

    @property
    def foretold(self) -> float | None:
        """What of the simulation the model foretells: of a `Way` the call, else the whole program."""
        return self.called if isinstance(self.choice, Way) else self.simulated


@dataclass(frozen=True)
class Exploration:
    """What `explore` found for one problem: the first row is what to take."""

    problem: str
    spec: AcceleratorSpec
    board: str
    rows: tuple[Row, ...]
    candidates: int
    seconds: float
    """Wall time that the model took for all candidates."""
    outcomes: tuple[Outcome, ...] = ()
    user_rtl: UserRtl | None = None
    """What is simulated in place of the generated accelerator. The model's times are not its own."""

    @property
    def chosen(self) -> Row:
        """The fastest in simulation; without a simulation, the model's first."""
        simulated = [row for row in self.rows if row.simulated is not None]
        return min(simulated, key=lambda row: row.simulated or 0.0) if simulated else self.rows[0]


def explore(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    pipelines: Sequence[str] | None = None,
    board: str = boards.DEFAULT,
    top: int = 10,
    user_rtl: UserRtl | None = None,
) -> Exploration:
    """The `top` choices by the model, and beside them the paper's `Best` and its square tiles.

    Those have the pipeline of the first, so that flow, order and tile alone are compared. Raises
    CompileError where nothing fits, and UsageError for an accelerator that does not multiply matrices.
    """
    if not ranks(spec):
        raise UsageError(f"{spec.name} computes {spec.kernel}, not matrix products")
    started = time.perf_counter()
    every = ranked(problem, spec, board=board, pipelines=pipelines)
    seconds = time.perf_counter() - started
    if not every:
        raise CompileError(f"{spec.name} has no tile that fits its buffers and windows")
    pipeline = every[0].pipeline
    ours = "model's first" if user_rtl else "best (ours)"
    names: dict[Candidate, tuple[str, ...]] = {every[0].candidate: (ours,)}
    best = published_best(spec, problem)
    others = [(PAPER, best)] if best else []
    others += [(f"square {square.flow}", square) for square in squares(spec, problem)]
    for name, named in others:
        names[named] = (*names.get(named, ()), name)
    shown = [
        Row(choice, names.get(choice.candidate, ()) if choice.pipeline == pipeline else ())
        for choice in islice(distinct(every), top)
    ]
    missing = [
        candidate
        for candidate in names
        if candidate not in {row.choice.candidate for row in shown if row.names}
    ]
    beside = ranked(problem, spec, board=board, pipelines=(pipeline,), among=missing)
    shown += [Row(choice, names[choice.candidate]) for choice in beside]
    text = f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}"
    return Exploration(text, spec, board, tuple(shown), len(every), seconds, user_rtl=user_rtl)


def explore_convolution(
    text: str,
    spec: AcceleratorSpec,
    *,
    pipeline: str | None = None,
    board: str = boards.DEFAULT,
    top: int = 10,
    user_rtl: UserRtl | None = None,
) -> Exploration:
    """The `top` choices by the model for the convolution that `text` names, on `spec`, which computes one."""
    able = PUBLISHED, drivergen.default_pipeline(spec)
    used = pipeline or able[1]
    if used not in able:
        raise UsageError(
            f"--pipeline {used}: of convolutions on {spec.name} the model knows {' and '.join(able)}"
        )
    started = time.perf_counter()
    every = conv_choice.flows(drivergen.parse_workload(text).mlir, spec, name=text, count=RANKED)
    seconds, hz = time.perf_counter() - started, boards.load(board).fabric_hz

    def cycles(flow: conv_choice.Flow) -> float:
        return flow.choice.published if used == PUBLISHED else flow.choice.cycles

    ways = [
        Way(Candidate(flow.name, flow.choice.order, flow.choice.tile), used, cycles(flow) / hz)
        for flow in sorted(every, key=cycles)
    ]
    ours = "model's first" if user_rtl else "best (ours)"
    shown = islice(distinct(ways), top)
    rows = tuple(Row(way, () if number else (ours,)) for number, way in enumerate(shown))
    return Exploration(text, spec, board, rows, len(ways), seconds, user_rtl=user_rtl)


def distinct(choices: Iterable[Ranked]) -> Iterator[Ranked]:
    """One of those that differ in the names of flow and loops alone: they move the same in the same time."""
    seen = set()
    for choice in choices:
        same = (choice.pipeline, choice.candidate.tile, choice.words, choice.seconds)
        if same not in seen:
            seen.add(same)
            yield choice


def _point(exploration: Exploration, choice: Choice | Way) -> Point:
    candidate = choice.candidate
    return point(
        exploration.problem,
        exploration.spec,
        flow=candidate.flow,
        order=candidate.order,
        tile=candidate.tile,
        pipeline=choice.pipeline,
        board=exploration.board,
        user_rtl=exploration.user_rtl,
    )


def of_workload(
    text: str,
    spec: AcceleratorSpec,
    *,
    pipeline: str | None = None,
    board: str = boards.DEFAULT,
    top: int = 10,
    user_rtl: UserRtl | None = None,
) -> Exploration:
    """The `top` choices for what `text` names. UsageError where no model ranks drivers of `spec`."""
    if spec.form in (IMAGE, WINDOW):
        return explore_convolution(text, spec, pipeline=pipeline, board=board, top=top, user_rtl=user_rtl)
    if spec.form != MATMUL:
        raise UsageError(
            f"{spec.name} computes {spec.kernel}: there is no cost model that ranks its drivers; "
            f"`axiloom run {text} --flow FLOW --tile TILE` simulates one"
        )
    problem = drivergen.parse_workload(text)
    if not isinstance(problem, Problem):
        raise UsageError(
            f"{text}: of {spec.name} explore ranks drivers of matrix products, matmul:MxNxK[:TYPE]"
        )
    pipelines = (pipeline,) if pipeline else None
    return explore(problem, spec, pipelines=pipelines, board=board, top=top, user_rtl=user_rtl)


def confirm(
    explorations: Sequence[Exploration],
    count: int,
    *,
    store: Path | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
) -> list[Exploration]:
    """Simulate the first `count` of each, and all that have a name; what failed says so in its row."""
    wanted = [
        [
            _point(exploration, row.choice) if i < count or row.names else None
            for i, row in enumerate(exploration.rows)
        ]
        for exploration in explorations
    ]
    outcomes = sweep(
        [point for points in wanted for point in points if point],
        simulate,
        store or default_store(),
        jobs=jobs,
        dask=dask,
        progress=progress,
        group=hardware,
        title="simulating",
    )
    known = {key(outcome.point): outcome for outcome in outcomes}
    done = []
    for exploration, points in zip(explorations, wanted, strict=True):
        own = [known[key(point)] if point else None for point in points]
        rows = tuple(_with(row, outcome) for row, outcome in zip(exploration.rows, own, strict=True))
        done.append(replace(exploration, rows=rows, outcomes=tuple(o for o in own if o)))
    return done


def _with(row: Row, outcome: Outcome | None) -> Row:
    if outcome is None:
        return row
    if outcome.error:
        return replace(row, error=f"{outcome.error['class']}: {outcome.error['message']}")
    report = outcome.result
    seconds = report["counters"]["task-clock"] / 1e9
    called = report["limit"].get("call_cycles")
    return replace(
        row,
        simulated=seconds,
        simulated_ratio=report["limit"]["ratio"],
        called=called / report["config"]["clocks"]["fabric_hz"] if called else None,
    )
