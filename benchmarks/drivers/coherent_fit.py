"""Fits what queues cost behind a coherent port, where words and rows are calls and no cache is maintained.

Random products of multiples of 16, of int8 and int32, on v3_16 and v4_16 with scatter-gather, streams of 64
bits, a coherent port and the pipeline `all`: each with the first candidates of the cost model and some random
ones. Writes `coherent` of the kind `queue` in `drivergen/cost/replay_costs.json`; all else stays as
``python -m benchmarks replay_fit`` and ``edge_fit`` made it.

Prints how far off the replay is before and after, and on each fifth of the problems left out in turn.
``AXILOOM_FIT_PROBLEMS`` sets the problems (default 16); simulations are kept.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from axiloom import boards, isa
from axiloom.cosim.replay import Estimate, Replay
from axiloom.drivergen.cost.plans import Plan, plans
from axiloom.drivergen.cost.replay_costs import COHERENT, COSTS_FILE, costs_of
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore.explore import distinct
from axiloom.files import write_whole
from axiloom.isa import AcceleratorSpec
from axiloom.report.types import Report
from axiloom.run.choice import ranked_by_model
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import failures, sweep
from benchmarks.drivers.replay_fit import Array, counts_of, solved

COUNT, FIRST, BESIDE, FOLDS = 16, 2, 2, 5
LARGEST = 64**3
"""Multiply-adds of a problem, so that a run takes about a second."""
KIND = "queue"
CALLS = ("start", "iteration", "queue_word", "queue_rows", "queue_receive", "take", "tell")


@dataclass(frozen=True)
class Run:
    problem: Problem
    spec: AcceleratorSpec
    plan: Plan
    report: Report

    @property
    def cycles(self) -> float:
        return float(self.report["counters"]["cpu-cycles"])


def problems(count: int) -> list[tuple[AcceleratorSpec, Problem]]:
    rng = random.Random("coherent")
    found: list[tuple[AcceleratorSpec, Problem]] = []
    while len(found) < count:
        sizes = [max(16, round(2 ** rng.uniform(4, 8)) // 16 * 16) for _ in range(3)]
        if math.prod(sizes) <= LARGEST:
            kind = ("int8", "int32")[len(found) % 2]
            spec = isa.builtin(("v3_16", "v4_16")[len(found) // 2 % 2], data_type=kind)
            dma = replace(spec.dma, scatter_gather=True, coherent=True)
            found.append((isa.revise(spec, stream_width=64, dma=dma), Problem(*sizes, kind)))
    return found


def simulated(count: int) -> list[Run]:
    asked: list[tuple[Problem, AcceleratorSpec, Plan, Point]] = []
    for spec, problem in problems(count):
        text = f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}"
        every = list(distinct(ranked_by_model(problem, spec, pipelines=("all",))))
        rng = random.Random(f"{problem}")
        some = every[:FIRST] + rng.sample(every[FIRST:], min(BESIDE, len(every[FIRST:])))
        for one, plan in plans(spec, problem, [one.candidate for one in some], queued=True).items():
            use = point(text, spec, flow=one.flow, order=one.order, tile=one.tile, pipeline="all")
            asked.append((problem, spec, plan, use))
    outcomes = sweep(
        [one[-1] for one in asked], simulate, default_store(), group=hardware, title="queues", jobs=1
    )
    for outcome in failures(outcomes):
        print(f"failed: {outcome}")
    reports = {key(one.point): one.result for one in outcomes if not one.error}
    return [Run(*one[:-1], reports[key(one[-1])]) for one in asked if key(one[-1]) in reports]


def fit(runs: Sequence[Run], costs: Mapping[str, float]) -> dict[str, float]:
    """`costs` with those of `CALLS` in place of what they were."""
    counts = counts_of(replayed(runs, costs), CALLS)
    whole = np.array([run.cycles for run in runs])
    own = counts @ np.array([costs.get(name, 0.0) for name in CALLS])
    left = np.array([one.cycles for one in replayed(runs, costs)]) - own
    found = solved(counts, whole - left, whole, CALLS)
    return {name: value for name, value in costs.items() if name not in CALLS} | found


def replayed(runs: Sequence[Run], costs: Mapping[str, float]) -> list[Estimate]:
    board = boards.load(boards.DEFAULT)
    return [Replay(run.spec, board, costs).run(run.plan) for run in runs]


def errors(runs: Sequence[Run], costs: Mapping[str, float]) -> Array:
    both = zip(replayed(runs, costs), runs, strict=True)
    return np.array([one.cycles / run.cycles - 1 for one, run in both])


def main() -> None:
    runs = simulated(int(os.environ.get("AXILOOM_FIT_PROBLEMS", COUNT)))
    given = costs_of(KIND, coherent=True)
    before = np.abs(errors(runs, given))
    costs = fit(runs, given)
    inside = np.abs(errors(runs, costs))
    names = list(dict.fromkeys(run.problem for run in runs))
    outside = np.zeros(len(runs))
    for fold in range(FOLDS):
        left = [names.index(run.problem) % FOLDS == fold for run in runs]
        other = fit([run for run, out in zip(runs, left, strict=True) if not out], given)
        outside[left] = np.abs(errors([run for run, out in zip(runs, left, strict=True) if out], other))
    print(
        "problems  runs   error before: mean  worst   after: mean  worst   of problems left out: mean  worst"
    )
    print(
        f"{len(names):8} {len(runs):5} {before.mean():20.1%} {before.max():6.1%} {inside.mean():13.1%} "
        f"{inside.max():6.1%} {outside.mean():27.1%} {outside.max():6.1%}"
    )
    written = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    written[KIND][COHERENT] = {name: costs.get(name, 0.0) for name in CALLS}
    write_whole(COSTS_FILE, json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
