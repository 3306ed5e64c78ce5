"""Fits what queues cost behind a coherent port, and the start of programs with scatter-gather on both ports.

Random products, of int8 and int32, on v3_16 and v4_16 with scatter-gather, streams of 64 bits and the
pipeline `all`: each with the first candidates of the cost model and some random ones. Three of four are
multiples of 16, which drivers queue; tiles of the others are copied. Behind a coherent port words and rows of
a queue are calls, small queues are tables, and no cache is maintained: that is `coherent` of the kind `queue`
in `drivergen/cost/replay_costs.json`. Starts are those of `queue` and `packets_sg`, and of `all` in the model
(`drivergen/cost/constants.json`). All else stays as the other fits made it.

Prints for each kind and port how far off the replay is before and after; for queues behind a coherent port
also on each fifth of the problems, left out in turn. ``AXILOOM_FIT_PROBLEMS`` sets the problems (default 32);
simulations are kept.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from axiloom import boards, isa
from axiloom.base.files import write_whole
from axiloom.cosim.replay import Estimate, Replay
from axiloom.drivergen.cost.model import CONSTANTS
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.replay_costs import COHERENT, COSTS_FILE, costs_of, kind_of
from axiloom.drivergen.cost.selection import Candidate, reads_in_place
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore.explore import distinct
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Plan
from axiloom.report.types import Report
from axiloom.run.choice import ranked_by_model
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import failures, sweep
from benchmarks.drivers.edge_fit import fit_model
from benchmarks.drivers.replay_fit import Array, counts_of, solved

COUNT, FIRST, BESIDE, FOLDS = 32, 2, 1, 5
LARGEST = 64**3
"""Multiply-adds of a problem, so that a run takes about a second."""
KIND = "queue"
START = "start"
CALLS = (
    START,
    "iteration",
    "queue_word",
    "queue_rows",
    "queue_receive",
    "take",
    "tell",
    "table",
    "piece",
    "take_tile",
)


@dataclass(frozen=True)
class Run:
    problem: Problem
    spec: AcceleratorSpec
    candidate: Candidate
    plan: Plan
    report: Report

    @property
    def cycles(self) -> float:
        return float(self.report["counters"]["cpu-cycles"])


def problems(count: int) -> list[tuple[AcceleratorSpec, Problem]]:
    rng = random.Random("queues")
    drawn: list[tuple[AcceleratorSpec, Problem]] = []
    while len(drawn) < count:
        unit = 16 if len(drawn) // 4 % 4 else 1
        sizes = [max(16, round(2 ** rng.uniform(4, 7.5)) // unit * unit) for _ in range(3)]
        if math.prod(sizes) <= LARGEST:
            kind = ("int8", "int32")[len(drawn) % 2]
            spec = isa.builtin(("v3_16", "v4_16")[len(drawn) // 2 % 2], data_type=kind)
            dma = replace(spec.link.dma, scatter_gather=True, coherent=len(drawn) % 3 > 0)
            drawn.append((isa.revise(spec, stream_width=64, dma=dma), Problem(*sizes, kind)))
    return drawn


def simulated(count: int) -> list[Run]:
    asked: list[tuple[Problem, AcceleratorSpec, Candidate, Plan, Point]] = []
    for spec, problem in problems(count):
        text = f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}"
        every = list(distinct(ranked_by_model(problem, spec, pipelines=("all",))))
        rng = random.Random(f"{problem}")
        some = every[:FIRST] + rng.sample(every[FIRST:], min(BESIDE, len(every[FIRST:])))
        for candidate in (choice.candidate for choice in some):
            queued = reads_in_place(spec, problem, candidate.tile)
            for plan in plans(spec, problem, [candidate], queued=queued).values():
                use = point(
                    text,
                    spec,
                    flow=candidate.flow,
                    order=candidate.order,
                    tile=candidate.tile,
                    pipeline="all",
                )
                asked.append((problem, spec, candidate, plan, use))
    outcomes = sweep(
        [row[-1] for row in asked], simulate, default_store(), group=hardware, title="queues", jobs=1
    )
    for outcome in failures(outcomes):
        print(f"failed: {outcome}")
    reports = {key(outcome.point): outcome.result for outcome in outcomes if not outcome.error}
    return [Run(*row[:-1], reports[key(row[-1])]) for row in asked if key(row[-1]) in reports]


def fit(runs: Sequence[Run], costs: Mapping[str, float]) -> dict[str, float]:
    """`costs` with those of `CALLS` in place of what they were."""
    counts = counts_of(replayed(runs, costs), CALLS)
    whole = np.array([run.cycles for run in runs])
    own = counts @ np.array([costs.get(name, 0.0) for name in CALLS])
    left = np.array([estimate.cycles for estimate in replayed(runs, costs)]) - own
    fitted = solved(counts, whole - left, whole, CALLS)
    return {name: value for name, value in costs.items() if name not in CALLS} | fitted


def replayed(runs: Sequence[Run], costs: Mapping[str, float]) -> list[Estimate]:
    board = boards.load(boards.DEFAULT)
    return [Replay(run.spec, board, costs).run(run.plan) for run in runs]


def errors(runs: Sequence[Run], costs: Mapping[str, float]) -> Array:
    both = zip(replayed(runs, costs), runs, strict=True)
    return np.array([estimate.cycles / run.cycles - 1 for estimate, run in both])


def start(runs: Sequence[Run], costs: Mapping[str, float]) -> dict[str, float]:
    """`costs` with another start."""
    left = [run.cycles - estimate.cycles for run, estimate in zip(runs, replayed(runs, costs), strict=True)]
    return {**costs, START: float(f"{costs[START] + np.median(left):.4g}")}


def left_out(runs: Sequence[Run], costs: Mapping[str, float]) -> Array:
    """Errors on each fifth of the problems, by a fit to the others."""
    names = list(dict.fromkeys(run.problem for run in runs))
    ratios = np.zeros(len(runs))
    for fold in range(FOLDS):
        left = [names.index(run.problem) % FOLDS == fold for run in runs]
        other = fit([run for run, out in zip(runs, left, strict=True) if not out], costs)
        ratios[left] = errors([run for run, out in zip(runs, left, strict=True) if out], other)
    return ratios


def main() -> None:
    runs = simulated(int(os.environ.get("AXILOOM_FIT_PROBLEMS", COUNT)))
    written = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    print(
        "kind        port      runs   error before: mean  worst   after: mean  worst   left out: mean  worst"
    )
    for kind, coherent in product((KIND, "packets_sg"), (False, True)):
        some = [
            run
            for run in runs
            if kind_of(run.spec, run.plan.is_queued) == kind and run.spec.link.dma.coherent == coherent
        ]
        before = costs_of(kind, coherent)
        calls = kind == KIND and coherent
        costs = fit(some, before) if calls else start(some, before)
        own = written[kind].setdefault(COHERENT, {}) if coherent else written[kind]["costs"]
        own |= {name: costs.get(name, 0.0) for name in (CALLS if calls else (START,))}
        shown = [errors(some, before), errors(some, costs), *([left_out(some, before)] if calls else [])]
        texts = (f"{np.abs(ratios).mean():.1%} {np.abs(ratios).max():6.1%}" for ratios in shown)
        print(f"{kind:<11} {'coherent' if coherent else 'plain':<9} {len(some):4} ", *texts, sep="      ")
    queued = [run for run in runs if kind_of(run.spec, run.plan.is_queued) == KIND]
    fitted, off = fit_model(queued, "all", (START,))
    print(f"all, by the model: {np.abs(off).mean():.1%}, {np.abs(off).max():.1%}")
    constants = json.loads(CONSTANTS.read_text(encoding="utf-8"))
    constants["all"]["constants"] |= fitted
    write_whole(CONSTANTS, json.dumps(constants, indent=2) + "\n")
    write_whole(COSTS_FILE, json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
