"""Fits what copies of tiles at an edge cost, and the start of a program: in the replay and the cost model.

Random products whose sizes are no multiples of the tiles, on v3_16 and v4_16 with the pipeline `copying`, of
int8 and int32, through both kinds of memory port in turn: each with the first candidates of the cost model
and some random ones. The code of these copies is the same in all drivers, so what it costs is written for
each kind of driver that has it; the start is written for the kind that is simulated. All other values of
`drivergen/cost/replay_costs.json` come from ``python -m benchmarks replay_fit``, and those of
`drivergen/cost/constants.json` from ``python -m benchmarks cost_fit``: of these, the start and the edges of
`copying` are fitted, and the start of `published`.

Prints how far off both are for whole runs; the replay also on each fifth of the problems, left out in turn.
``AXILOOM_FIT_PROBLEMS`` sets the problems (default 24); simulations are kept.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.optimize import least_squares

from axiloom import boards, isa
from axiloom.base.files import write_whole
from axiloom.cosim.replay import Estimate, Replay
from axiloom.drivergen.cost.model import CONSTANTS, Constants, Model, constants_of
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.replay_costs import COHERENT, COSTS_FILE
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.problems.matmul import Problem
from axiloom.explore.explore import distinct
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Plan
from axiloom.report.types import Report
from axiloom.run.choice import machine, ranked_by_model
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import failures, sweep
from benchmarks.drivers.replay_fit import EDGE, GET, Array, counts_of, solved

COUNT, FIRST, BESIDE, FOLDS = 24, 2, 2, 5
LARGEST = 64**3
"""Multiply-adds of a problem, so that a run takes about a second."""
KIND, COPYING, PUBLISHED = "packets", "copying", "published"
"""Of the drivers that are simulated: their kind in the replay, and their pipelines."""
MODEL = ("start", "edge_in", "pad_in", "edge_out")
"""Constants of the model that are fitted."""


@dataclass(frozen=True)
class Run:
    problem: Problem
    spec: AcceleratorSpec
    candidate: Candidate
    plan: Plan | None
    report: Report

    @property
    def cycles(self) -> float:
        return float(self.report["counters"]["cpu-cycles"])

    def ran(self, functions: Sequence[str]) -> float:
        """CPU cycles in these functions, without waiting."""
        every = self.report["functions"]
        return float(sum(f["cycles"] - f["waiting"] for f in every if f["name"] in functions))


def problems(count: int) -> list[tuple[AcceleratorSpec, Problem]]:
    rng = random.Random("edges")
    drawn: list[tuple[AcceleratorSpec, Problem]] = []
    while len(drawn) < count:
        sizes = [round(2 ** rng.uniform(4, 7.5)) for _ in range(3)]
        if math.prod(sizes) <= LARGEST and any(size % 16 for size in sizes):
            kind = ("int8", "int32")[len(drawn) % 2]
            spec = isa.builtin(("v3_16", "v4_16")[len(drawn) // 2 % 2], data_type=kind)
            spec = isa.revise(spec, dma=replace(spec.link.dma, coherent=len(drawn) // 4 % 2 == 1))
            drawn.append((spec, Problem(*sizes, kind)))
    return drawn


def simulated(count: int) -> tuple[list[Run], list[Run]]:
    """Those with the pipeline `copying`, and of each problem the first with `published`."""
    asked: list[tuple[Problem, AcceleratorSpec, Candidate, Plan | None, Point]] = []
    for spec, problem in problems(count):
        text = f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}"
        every = list(distinct(ranked_by_model(problem, spec, pipelines=(COPYING,))))
        rng = random.Random(f"{problem}")
        some = every[:FIRST] + rng.sample(every[FIRST:], min(BESIDE, len(every[FIRST:])))
        for candidate, plan in plans(
            spec, problem, [choice.candidate for choice in some], queued=False
        ).items():
            asked.append(
                (problem, spec, candidate, plan, point(text, spec, **how(candidate), pipeline=COPYING))
            )
        candidate = ranked_by_model(problem, spec, pipelines=(PUBLISHED,))[0].candidate
        asked.append(
            (problem, spec, candidate, None, point(text, spec, **how(candidate), pipeline=PUBLISHED))
        )
    outcomes = sweep(
        [row[-1] for row in asked], simulate, default_store(), group=hardware, title="edges", jobs=1
    )
    for outcome in failures(outcomes):
        print(f"failed: {outcome}")
    reports = {key(outcome.point): outcome.result for outcome in outcomes if not outcome.error}
    runs = [Run(*row[:-1], reports[key(row[-1])]) for row in asked if key(row[-1]) in reports]
    return [run for run in runs if run.plan], [run for run in runs if not run.plan]


def how(candidate: Candidate) -> dict[str, Any]:
    return {"flow": candidate.flow, "order": candidate.order, "tile": candidate.tile}


def fit(runs: Sequence[Run], costs: Mapping[str, float]) -> dict[str, float]:
    """`costs` with new ones of the edges and of the start, `COHERENT` with a coherent port."""
    fitted = {name: value for name, value in costs.items() if name not in (*EDGE.costs, *GET.costs)}
    whole = np.array([run.cycles for run in runs])
    estimates = replayed(runs, costs)
    for group in (EDGE, GET):
        own = counts_of(estimates, group.costs) @ np.array([costs.get(name, 0.0) for name in group.costs])
        misses = np.array([sum(estimate.parts[name] for name in group.parts) for estimate in estimates]) - own
        ran = np.array([run.ran(group.functions) for run in runs])
        fitted |= solved(counts_of(estimates, group.costs), ran - misses, whole, group.costs)
    for coherent, name in ((False, "start"), (True, COHERENT)):
        some = [run for run in runs if run.spec.link.dma.coherent == coherent]
        left = [
            run.cycles - estimate.cycles for run, estimate in zip(some, replayed(some, fitted), strict=True)
        ]
        fitted[name] = float(f"{fitted[name] + np.median(left):.4g}")
    return fitted


def replayed(runs: Sequence[Run], costs: Mapping[str, float]) -> list[Estimate]:
    board = boards.load(boards.DEFAULT)
    starts = {False: costs["start"], True: costs[COHERENT]}
    kinds = [{**costs, "start": starts[run.spec.link.dma.coherent]} for run in runs]
    return [
        Replay(run.spec, board, own).run(run.plan) for run, own in zip(runs, kinds, strict=True) if run.plan
    ]


def errors(runs: Sequence[Run], costs: Mapping[str, float]) -> Array:
    both = zip(replayed(runs, costs), runs, strict=True)
    return np.array([estimate.cycles / run.cycles - 1 for estimate, run in both])


class Modelled(Protocol):
    """A simulated run that the model knows."""

    @property
    def problem(self) -> Problem: ...

    @property
    def spec(self) -> AcceleratorSpec: ...

    @property
    def candidate(self) -> Candidate: ...

    @property
    def cycles(self) -> float: ...


def fit_model(runs: Sequence[Modelled], pipeline: str, free: Sequence[str]) -> tuple[dict[str, float], Array]:
    """The constants `free` of a pipeline, fitted, and the errors of the model with them."""
    constants, on = constants_of(pipeline), machine(boards.load(boards.DEFAULT))
    whole = np.array([run.cycles for run in runs])

    def with_(x: Array) -> Constants:
        return replace(constants, **dict(zip(free, map(float, x), strict=True)))

    def off(x: Array) -> Array:
        cycles = []
        for run in runs:
            model = Model(run.spec, on, with_(x))
            sizes = dict(zip("mnk", (run.problem.M, run.problem.N, run.problem.K), strict=True))
            schedule = model.schedule(run.candidate.flow, run.candidate.order, sizes)
            cycles.append(model.cycles(model.work(schedule, [run.candidate.tile]))[0])
        return np.array(cycles) / whole - 1

    begin = np.array([max(getattr(constants, name), 1.0) for name in free])
    best = least_squares(off, begin, bounds=(0, np.inf), x_scale=begin, loss="soft_l1", f_scale=0.1).x
    rounded = (float(f"{value:.4g}") if value > 1e-6 else 0.0 for value in best)
    return dict(zip(free, rounded, strict=True)), off(best)


def main() -> None:
    runs, published = simulated(int(os.environ.get("AXILOOM_FIT_PROBLEMS", COUNT)))
    written = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    costs = fit(runs, {**written[KIND]["costs"], COHERENT: written[KIND][COHERENT]["start"]})
    inside = np.abs(errors(runs, costs))
    names = list(dict.fromkeys(run.problem for run in runs))
    outside = np.zeros(len(runs))
    for fold in range(FOLDS):
        left = [names.index(run.problem) % FOLDS == fold for run in runs]
        other = fit([run for run, out in zip(runs, left, strict=True) if not out], costs)
        outside[left] = np.abs(errors([run for run, out in zip(runs, left, strict=True) if out], other))
    print("            problems  runs   error: mean  worst   of problems left out: mean  worst")
    print(
        f"{'replay':10} {len(names):9} {len(runs):5} {inside.mean():13.1%} {inside.max():6.1%} "
        f"{outside.mean():27.1%} {outside.max():6.1%}"
    )
    for kind, values in written.items():
        taken = {name: costs.get(name) for name in (*(EDGE.costs if kind != "queue" else ()), *GET.costs)}
        kept = {name: value for name, value in values["costs"].items() if name not in taken}
        values["costs"] = kept | {name: value for name, value in taken.items() if value is not None}
    written[KIND]["costs"]["start"], written[KIND][COHERENT] = costs["start"], {"start": costs[COHERENT]}
    constants = json.loads(CONSTANTS.read_text(encoding="utf-8"))
    for pipeline, some, free in ((COPYING, runs, MODEL), (PUBLISHED, published, MODEL[:1])):
        fitted, off = fit_model(some, pipeline, free)
        constants[pipeline]["constants"] |= fitted
        print(
            f"{pipeline:10} {len(names):9} {len(some):5} {np.abs(off).mean():13.1%} {np.abs(off).max():6.1%}"
        )
    write_whole(COSTS_FILE, json.dumps(written, indent=2) + "\n")
    write_whole(CONSTANTS, json.dumps(constants, indent=2) + "\n")


if __name__ == "__main__":
    main()
