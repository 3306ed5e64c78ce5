"""Fits what the code of drivers costs in the replay (`axiloom.cosim.replay`), and says how far off it is.

Random problems, seeded and none of those of the benchmark `selection`, each with candidates near the cost
model's best and a few others, are simulated through a resumable sweep. Reports say how long each function of
a driver ran: first the costs of each function's parts are fitted to that, then those of calls to the whole
run (both by non-negative least squares of the error relative to the run). Writes
`drivergen/cost/replay_costs.json`, and prints how far off the replay is on problems that the fit has not seen
(each fifth left out in turn); `within` is the error within a problem, of candidates up to 15 % slower than
its fastest.

``python -m benchmarks replay_fit``; ``AXILOOM_FIT_PROBLEMS`` sets the problems a pipeline (default 40).
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from axiloom import boards
from axiloom.base.files import write_whole
from axiloom.cosim.replay import COSTS, Estimate, Replay
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.replay_costs import COHERENT, COSTS_FILE, kind_of
from axiloom.drivergen.cost.selection import Candidate, published_best, reads_in_place
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore.explore import distinct
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Plan
from axiloom.report.types import Report
from axiloom.run.choice import ranked_by_model
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import failures, sweep
from benchmarks.drivers import selection

Array = npt.NDArray[np.float64]

LARGEST = 200**3
"""Multiply-adds of a problem, so that a run takes seconds."""
NEAR, BEYOND, FAR = 6, 4, 1
"""Candidates: the model's first, some up to 35 % slower, some up to three times."""
FOLDS = 5
ROUNDS = 4
"""Of the fit: how long prefetches are waited for depends on what the rest costs."""

PIPELINES = ("copying", "all")


@dataclass(frozen=True)
class Group:
    """Costs that can be told from how long some functions of the driver ran.

    `parts`: what these functions do of the estimate, but for the costs themselves.
    """

    functions: tuple[str, ...]
    parts: tuple[str, ...]
    costs: tuple[str, ...]


COPIES = (
    *("packet", "iteration", "head_word", "put", "put_row", "put_chunk"),
    *("add", "add_row", "add_chunk", "prefetch"),
)
GET = Group(
    ("axl_get_edge",), ("gets",), ("get", "get_row", "get_chunk", "get_quad", "get_rest", "get_turned")
)
EDGE = Group(
    ("axl_put_edge_i8", "axl_put_edge_i16", "axl_put_edge_i32"),
    ("edges",),
    ("edge", "edge_row", "edge_chunk", "edge_rest", "edge_zero", "turned"),
)
START = Group(("_start", "dma_init", "dma_free"), ("end",), ("start",))
PACKETS = (
    Group(("matmul",), ("puts", "adds"), COPIES),
    EDGE,
    GET,
    Group(("axl_cache_clean", "dma_packet_clean"), ("cleans",), ("clean", "clean_line")),
    Group(("axl_cache_invalidate", "axl_cache_discard"), ("discards",), ("discard", "discard_line")),
    START,
)
QUEUE = (
    Group(("add_to_C",), ("adds",), ("add", "add_row", "add_chunk", "prefetch")),
    GET,
    Group(
        ("dma_put_tile_i32", "memcpy", "memset"), ("edges",), ("pad_tile", "pad_row", "pad_word", "pad_zero")
    ),
    Group(
        ("axl_cache_clean_rows", "axl_cache_clean"),
        ("cleans",),
        ("clean", "clean_row", "clean_long_row", "clean_longer_row", "clean_line"),
    ),
    Group(("axl_ocm_invalidate",), ("discards",), ("discard", "discard_line")),
    START,
)
CALLS = (
    *("start", "packet", "iteration", "head_word", "send", "look", "arm", "take", "put", "edge", "clean"),
    *("add", "get", "queue_word", "queue_rows", "queue_receive", "tell", "pad_tile"),
)


@dataclass(frozen=True)
class Measured:
    """A candidate of a problem with its plan and the report of its simulation."""

    problem: Problem
    candidate: Candidate
    plan: Plan
    report: Report

    @property
    def cycles(self) -> float:
        return float(self.report["counters"]["cpu-cycles"])

    def ran(self, functions: Iterable[str]) -> float:
        """CPU cycles in these functions, without waiting."""
        names = set(functions)
        return float(sum(f["cycles"] - f["waiting"] for f in self.report["functions"] if f["name"] in names))


def problems(count: int) -> list[Problem]:
    """As those of `selection`, and none of them: half of them multiples of 16, some powers of two."""
    known = set(selection.problems())
    rng = random.Random("train selection")
    drawn: list[Problem] = []
    while len(drawn) < count:
        sizes = [round(2 ** rng.uniform(4, 9)) for _ in range(3)]
        form = rng.random()
        if form < 0.5:
            sizes = [max(16, size // 16 * 16) for size in sizes]
        elif form < 0.6:
            sizes = [rng.choice([16, 32, 64, 128, 256, 512]) for _ in range(3)]
        problem = Problem(*sizes)
        if 32**3 <= math.prod(sizes) <= LARGEST and problem not in known and problem not in drawn:
            drawn.append(problem)
    return drawn


def wanted(problem: Problem, spec: AcceleratorSpec, pipeline: str) -> list[Candidate]:
    every = list(distinct(ranked_by_model(problem, spec, pipelines=(pipeline,))))
    rng = random.Random(f"{problem}")
    best, rest = every[0].seconds, every[NEAR:]
    beyond = [choice for choice in rest if choice.seconds < 1.35 * best]
    far = [choice for choice in rest if 1.35 * best <= choice.seconds < 3 * best]
    some = every[:NEAR] + rng.sample(beyond, min(BEYOND, len(beyond))) + rng.sample(far, min(FAR, len(far)))
    candidates = [choice.candidate for choice in some]
    paper = published_best(spec, problem)
    return candidates if paper is None or paper in candidates else [*candidates, paper]


def points(
    problem: Problem, spec: AcceleratorSpec, pipeline: str, candidates: Sequence[Candidate]
) -> list[Point]:
    text = f"matmul:{problem.M}x{problem.N}x{problem.K}"
    return [
        point(text, spec, flow=candidate.flow, order=candidate.order, tile=candidate.tile, pipeline=pipeline)
        for candidate in candidates
    ]


def planned(
    problem: Problem, spec: AcceleratorSpec, pipeline: str, candidates: Sequence[Candidate]
) -> dict[Candidate, Plan]:
    queued = [
        candidate
        for candidate in candidates
        if pipeline == "all" and reads_in_place(spec, problem, candidate.tile)
    ]
    packed = [candidate for candidate in candidates if candidate not in queued]
    return plans(spec, problem, queued, queued=True) | plans(spec, problem, packed, queued=False)


def groups(kind: str) -> tuple[Group, ...]:
    return QUEUE if kind == "queue" else PACKETS


def fit(runs: Sequence[Measured], spec: AcceleratorSpec, kind: str) -> dict[str, float]:
    """Costs with the least squares of errors relative to the runs; outliers are left out."""
    whole = np.array([run.cycles for run in runs])
    costs = {
        "put_chunk": 10.0,
        "add_chunk": 17.0,
        "edge_chunk": 8.0,
        "clean_line": 22.0,
        "discard_line": 22.0,
    }
    for _ in range(ROUNDS):
        estimates = replayed(runs, spec, costs)
        fitted: dict[str, float] = {}
        for group in groups(kind):
            parts = np.array([sum(estimate.parts[name] for name in group.parts) for estimate in estimates])
            inside = [
                name for name in group.costs if name not in ("start", "packet", "iteration", "head_word")
            ]
            own = counts_of(estimates, inside) @ np.array([costs.get(name, 0.0) for name in inside])
            ran = np.array([run.ran(group.functions) for run in runs])
            fitted |= solved(counts_of(estimates, group.costs), ran - (parts - own), whole, group.costs)
        costs = fitted
    for _ in range(ROUNDS):
        estimates = replayed(runs, spec, costs)
        counts = counts_of(estimates, CALLS)
        now = np.array([estimate.cycles for estimate in estimates])
        own = counts @ np.array([costs.get(name, 0.0) for name in CALLS])
        polls = np.array([estimate.parts["polls"] for estimate in estimates])
        busy = polls < 0.01 * whole  # where nothing is waited for, time is the sum of costs
        costs |= solved(counts[busy], (whole - now + own)[busy], whole[busy], CALLS)
    return costs


def replayed(runs: Sequence[Measured], spec: AcceleratorSpec, costs: Mapping[str, float]) -> list[Estimate]:
    replay = Replay(spec, boards.load(boards.DEFAULT), costs)
    return [replay.run(run.plan) for run in runs]


def counts_of(estimates: Sequence[Estimate], names: Sequence[str]) -> Array:
    return np.array([[estimate.counts[name] for name in names] for estimate in estimates])


def solved(counts: Array, wanted_: Array, whole: Array, names: Sequence[str]) -> dict[str, float]:
    used = np.flatnonzero(counts.any(axis=0))
    if not used.size:
        return {}
    weight, good = 1 / whole, np.full(len(whole), True)
    scale = counts[:, used].max(axis=0)
    for _ in range(5):
        x, _ = nnls(counts[good][:, used] / scale * weight[good, None], wanted_[good] * weight[good])
        error = (counts[:, used] @ (x / scale) - wanted_) * weight
        good = np.abs(error) <= max(4 * float(np.sqrt(np.mean(error[good] ** 2))), 0.004)
    return {names[i]: float(f"{value:.4g}") for i, value in zip(used, x / scale, strict=True) if value > 0}


def errors(runs: Sequence[Measured], spec: AcceleratorSpec, costs: Mapping[str, float]) -> Array:
    estimates = replayed(runs, spec, costs)
    return np.array([estimate.cycles / run.cycles - 1 for estimate, run in zip(estimates, runs, strict=True)])


def within(runs: Sequence[Measured], error: Array) -> Array:
    """The errors of those within 15 % of their problem's fastest, from their mean."""
    ratios: list[float] = []
    for problem in dict.fromkeys(run.problem for run in runs):
        own = [i for i, run in enumerate(runs) if run.problem == problem]
        fastest = min(runs[i].cycles for i in own)
        near = error[[i for i in own if runs[i].cycles <= 1.15 * fastest]]
        ratios += list(near - near.mean())
    return np.array(ratios)


def main() -> None:
    count = int(os.environ.get("AXILOOM_FIT_PROBLEMS", "40"))
    asked = [
        (problem, pipeline, wanted(problem, selection.accelerator(pipeline), pipeline))
        for pipeline in PIPELINES
        for problem in problems(count)
    ]
    every = [points(problem, selection.accelerator(name), name, some) for problem, name, some in asked]
    outcomes = sweep(
        [point for some in every for point in some], simulate, default_store(), group=hardware, title="replay"
    )
    for outcome in failures(outcomes):
        print(f"failed: {outcome}")
    reports = {key(outcome.point): outcome.result for outcome in outcomes if not outcome.error}
    runs: dict[str, list[Measured]] = {}
    for (problem, pipeline, some), own in zip(asked, every, strict=True):
        spec = selection.accelerator(pipeline)
        for candidate, plan in planned(problem, spec, pipeline, some).items():
            report = reports.get(key(own[some.index(candidate)]))
            if report:
                runs.setdefault(kind_of(spec, plan.is_queued), []).append(
                    Measured(problem, candidate, plan, report)
                )
    before, written = json.loads(COSTS_FILE.read_text(encoding="utf-8")), {}
    print("driver       problems  runs   error: mean  worst   of problems left out: mean  worst  within")
    for kind, measured in runs.items():
        spec = selection.accelerator("copying" if kind == "packets" else "all")
        costs = fit(measured, spec, kind)
        inside = np.abs(errors(measured, spec, costs))
        names = list(dict.fromkeys(run.problem for run in measured))
        outside = np.zeros(len(measured))
        for fold in range(FOLDS):
            left = np.array([names.index(run.problem) % FOLDS == fold for run in measured])
            other = fit([run for run, out in zip(measured, left, strict=True) if not out], spec, kind)
            outside[left] = errors([run for run, out in zip(measured, left, strict=True) if out], spec, other)
        near = float(np.sqrt(np.mean(within(measured, outside) ** 2)))
        outside = np.abs(outside)
        print(
            f"{kind:12} {len(names):8} {len(measured):5} {inside.mean():13.1%} {inside.max():6.1%} "
            f"{outside.mean():27.1%} {outside.max():6.1%} {near:7.1%}"
        )
        figures = {"mean": outside.mean(), "worst": outside.max(), "within": near}
        written[kind] = {
            "costs": {name: costs[name] for name in COSTS if name in costs},
            **{name: value for name, value in before.get(kind, {}).items() if name == COHERENT},
            "error": {"problems": len(names), "runs": len(measured)}
            | {name: round(float(x), 4) for name, x in figures.items()},
        }
    write_whole(COSTS_FILE, json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
