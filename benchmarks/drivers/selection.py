"""What the cost model chooses, against the best that simulation finds and the paper's `Best`.

On v4_16 as it is built in (DMA in direct register mode, streams of 32 bits) with the pipeline `copying`;
``AXILOOM_SELECTION=all`` has scatter-gather, streams of 64 bits and the
pipeline `all` instead. Problems: the six permutations of (32, 256, 512), and 30 random ones (`problems`).

How exhaustive: of all candidates (every flow, legal order, and tile that is the smallest for its numbers of
tiles) that are distinct (neither words nor predicted time nor tile tell them apart), each is simulated that
the model puts within ``AXILOOM_SELECTION_WITHIN`` (default 1.1) of its best; besides, the paper's `Best`, its
square tiles, and ``AXILOOM_SELECTION_SAMPLE`` (default 2) random ones of the others, to see what the rule
might miss. For the smallest problems nothing is left out (`WHOLE`).

Simulations are kept; the command goes on where it was interrupted.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from axiloom import isa
from axiloom.drivergen.cost.model import Choice
from axiloom.drivergen.cost.selection import Candidate, published_best, squares
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore.explore import distinct
from axiloom.isa import AcceleratorSpec
from axiloom.run.choice import choose, ranked
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import Outcome, failures, sweep

RANDOM = 30
LARGEST, SMALLEST = 256**3, 32**3
"""Multiply-adds of a random problem."""
WHOLE = 80_000
"""Problems of at most so many multiply-adds are simulated with all their candidates."""


def problems() -> list[Problem]:
    """The paper's six, and random ones: sizes from 16 to 512, even in their logarithm; every other one of
    multiples of 16."""
    drawn = [Problem(*sizes) for sizes in permutations((32, 256, 512))]
    rng = random.Random(14)
    while len(drawn) < 6 + RANDOM:
        sizes = [round(2 ** rng.uniform(4, 9)) for _ in range(3)]
        if rng.random() < 0.5:
            sizes = [max(16, size // 16 * 16) for size in sizes]
        if SMALLEST <= math.prod(sizes) <= LARGEST:
            drawn.append(Problem(*sizes))
    return drawn


def accelerator(pipeline: str) -> AcceleratorSpec:
    spec = isa.builtin("v4_16")
    if pipeline != "all":
        return spec
    return isa.revise(spec, stream_width=64, dma=replace(spec.link.dma, scatter_gather=True))


@dataclass(frozen=True)
class Case:
    """A problem with what is simulated of it, by name for what is compared; times in seconds."""

    problem: Problem
    candidates: int
    wanted: tuple[Choice, ...]
    chosen: Candidate
    paper: Candidate
    squares: tuple[Candidate, ...]
    seconds: float
    cpu_seconds: float


def case(problem: Problem, spec: AcceleratorSpec, pipeline: str, within: float, sample: int) -> Case:
    wall, cpu = time.perf_counter(), time.process_time()
    chosen = choose(problem, spec, pipeline=pipeline).candidate
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    every = list(distinct(ranked(problem, spec, pipelines=(pipeline,))))
    whole = problem.M * problem.N * problem.K <= WHOLE
    near = [choice for choice in every if whole or choice.seconds <= within * every[0].seconds]
    far = every[len(near) :]
    rng = random.Random(f"{problem}")
    paper = published_best(spec, problem)
    assert paper is not None  # v4 has the flows
    named = [paper, *squares(spec, problem)]
    wanted = near + rng.sample(far, min(sample, len(far)))
    missing = [candidate for candidate in named if candidate not in {choice.candidate for choice in wanted}]
    wanted += ranked(problem, spec, pipelines=(pipeline,), among=missing)
    return Case(problem, len(every), tuple(wanted), chosen, paper, tuple(named[1:]), wall, cpu)


def points(case: Case, spec: AcceleratorSpec, pipeline: str) -> list[Point]:
    return [
        point(
            f"matmul:{case.problem.M}x{case.problem.N}x{case.problem.K}",
            spec,
            flow=choice.candidate.flow,
            order=choice.candidate.order,
            tile=choice.candidate.tile,
            pipeline=pipeline,
        )
        for choice in case.wanted
    ]


@dataclass(frozen=True)
class Result:
    case: Case
    chosen: float
    best: float
    best_is: Candidate
    paper: float
    square: float
    error: float
    """Of the model, mean over all that was simulated."""

    @property
    def loss(self) -> float:
        return self.chosen / self.best


def result(case: Case, outcomes: Sequence[Outcome]) -> Result:
    """Raises KeyError if one of those to compare failed."""
    seconds = {
        choice.candidate: outcome.result["counters"]["task-clock"] / 1e9
        for choice, outcome in zip(case.wanted, outcomes, strict=True)
        if not outcome.error
    }
    errors = [abs(c.seconds / seconds[c.candidate] - 1) for c in case.wanted if c.candidate in seconds]
    best = min(seconds, key=lambda candidate: seconds[candidate])
    square = min(seconds[candidate] for candidate in case.squares)
    error = sum(errors) / len(errors)
    return Result(case, seconds[case.chosen], seconds[best], best, seconds[case.paper], square, error)


HEAD = (
    f"{'problem':12} {'cand.':>5} {'sim.':>4} {'chosen':25} {'ms':>8} {'/best':>6} {'Best':>5} {'square':>6}"
)
HEAD += f" {'error':>5} {'wall':>5} {'CPU':>5}"


def line(result: Result) -> str:
    case = result.case
    cells = [
        f"{case.problem.M}x{case.problem.N}x{case.problem.K}".ljust(12),
        f"{case.candidates:5} {len(case.wanted):4} {case.chosen!s:25}",
        f"{result.chosen * 1e3:8.3f} {result.loss:6.3f}",
        f"{result.paper / result.chosen:5.2f} {result.square / result.chosen:6.2f}",
        f"{result.error:5.1%} {case.seconds:5.2f} {case.cpu_seconds:5.2f}",
        "" if result.loss == 1 else f"best: {result.best_is}",
    ]
    return " ".join(cells).rstrip()


def main() -> None:
    pipeline = os.environ.get("AXILOOM_SELECTION", "copying")
    within = float(os.environ.get("AXILOOM_SELECTION_WITHIN", "1.1"))
    sample = int(os.environ.get("AXILOOM_SELECTION_SAMPLE", "2"))
    spec = accelerator(pipeline)
    cases = [case(problem, spec, pipeline, within, sample) for problem in problems()]
    every = [points(case, spec, pipeline) for case in cases]
    outcomes = sweep(
        [point for some in every for point in some],
        simulate,
        default_store(),
        group=hardware,
        title=f"selection, {pipeline}",
    )
    for outcome in failures(outcomes):
        print(f"failed: {outcome}")
    known = {key(outcome.point): outcome for outcome in outcomes}
    results = [result(case, [known[key(p)] for p in some]) for case, some in zip(cases, every, strict=True)]
    print(f"pipeline {pipeline}, {len(outcomes)} simulations")
    print(
        "/best: chosen/best found; Best, square: the paper's choices, by the time of ours; error: the model's"
    )
    print("mean; wall, CPU: seconds to choose")
    print(HEAD)
    for row in results:
        print(line(row))
    worst = max(results, key=lambda row: row.loss)
    paper = min(result.paper / result.chosen for result in results)
    mean = math.prod(result.paper / result.chosen for result in results) ** (1 / len(results))
    print(
        f"chosen/best: worst {worst.loss:.3f}, "
        f"mean {sum(result.loss for result in results) / len(results):.3f}, "
        f"within 5 % for {sum(result.loss <= 1.05 for result in results)} of {len(results)}; "
        f"the paper's Best takes {mean:.2f} times as long (geometric mean; at least {paper:.3f}); "
        f"choosing takes {max(result.case.seconds for result in results):.2f} s at most "
        f"({max(result.case.cpu_seconds for result in results):.2f} s of CPU)"
    )


if __name__ == "__main__":
    main()
