"""Fits the constants of the cost model to simulations, pipeline by pipeline, and says how far off it is.

Seeded random problems and candidates are simulated through a resumable sweep; then non-negative least
squares of the relative error. Writes `drivergen/cost/constants.json` with the errors of the fit, and prints
them: in sample, and on runs that the fit has not seen (each fifth left out in turn).

``python -m benchmarks cost_fit``; ``AXILOOM_FIT_RUNS`` sets the runs a pipeline (default 60).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from axiloom import boards, isa
from axiloom.base.files import write_whole
from axiloom.drivergen import parse_problem
from axiloom.drivergen.cost import model as cost
from axiloom.drivergen.cost.model import CPU, Constants, Model, Work
from axiloom.drivergen.cost.selection import candidates, reads_in_place
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.run.choice import machine
from axiloom.sweep.points import Point, default_store, hardware, point, simulate, spec_of
from axiloom.sweep.sweep import failures, sweep

Array = npt.NDArray[np.float64]

SIZES = (16, 32, 48, 64, 96, 100, 128, 160, 200, 256, 300, 384)
LARGEST = 4e6
"""Multiply-adds of a problem, so that a run takes seconds."""
PASSES = {"copying": "residency,coalesce,keep-packed,double-buffer,specialise-copies"}
"""What runs in place of a pipeline: `copying` may put the loops into another order, which the model ranks as
another candidate."""
GAP = 100.0
"""About how long a gap can be."""
FOLDS = 5


def accelerators(pipeline: str) -> list[AcceleratorSpec]:
    """What the runs are made on: mostly v4_16, with the DMA that the pipeline needs."""
    specs = []
    for name, width in (("v4_16", 32), ("v4_16", 64), ("v4_16", 32), ("v3_16", 32)):
        spec = isa.builtin(name)
        # `copying` is what `all` does where it cannot read in place.
        queued = pipeline == "all" or (pipeline == "copying" and width == 64)
        dma = replace(spec.link.dma, scatter_gather=queued)
        specs.append(isa.revise(spec, stream_width=width, dma=dma))
    return specs


def runs(pipeline: str, count: int) -> list[Point]:
    rng = random.Random(f"cost_fit {pipeline}")
    points: list[Point] = []
    while len(points) < count:
        spec = accelerators(pipeline)[len(points) % 4]
        M, N, K = (rng.choice(SIZES) for _ in range(3))
        multiply_adds = M * N * K
        if multiply_adds > (LARGEST if spec.tile.granule else LARGEST / 8):
            continue
        every = candidates(spec, Problem(M, N, K))
        if pipeline == "all":
            every = [
                candidate for candidate in every if reads_in_place(spec, Problem(M, N, K), candidate.tile)
            ]
        if not every:
            continue
        some = rng.sample(every, min(3, len(every)))
        choice = max(some, key=lambda c: float(np.prod(c.tile)))  # small tiles are hardly ever chosen
        points.append(
            point(
                f"matmul:{M}x{N}x{K}",
                spec,
                flow=choice.flow,
                order=choice.order,
                tile=choice.tile,
                pipeline=PASSES.get(pipeline, pipeline),
            )
        )
    return points


def works(pipeline: str, every: Sequence[Point]) -> Work:
    """The work of all runs, one behind the other."""
    form = Constants(**cost.FORMS[pipeline])
    blocks = []
    for sample in every:
        spec, problem = spec_of(sample), parse_problem(sample["problem"])
        model = Model(spec, machine(boards.load(sample["board"])), form)
        sizes = {"m": problem.M, "n": problem.N, "k": problem.K}
        blocks.append(
            model.work(model.schedule(sample["flow"], sample["order"], sizes), [tuple(sample["tile"])])
        )
    return _map(lambda *parts: np.concatenate(_long(parts), axis=-1), blocks)


def _map(join: Callable[..., Array], works: Sequence[Work]) -> Work:
    """A work whose arrays are made of those of others."""

    def joined(parts: Sequence[Any]) -> Any:
        first = parts[0]
        if first is None or isinstance(first, np.ndarray):
            return None if first is None else join(*parts)
        if isinstance(first, dict):
            return {name: joined([part[name] for part in parts]) for name in first}
        names = [field.name for field in fields(first)]
        return type(first)(*(joined([getattr(part, name) for part in parts]) for name in names))

    return cast(Work, joined(works))


def _long(parts: Sequence[Array]) -> list[Array]:
    """Series of packets, the shorter ones with zeros behind."""
    if parts[0].ndim == 1:
        return list(parts)
    length = max(part.shape[-2] for part in parts)
    return [
        np.pad(part, [(0, 0)] * (part.ndim - 2) + [(0, length - part.shape[-2]), (0, 0)]) for part in parts
    ]


def fit(pipeline: str, work: Work, measured: Array, ratio: float) -> Constants:
    """Constants of at least zero with the least squares of the relative error."""
    form = Constants(**cost.FORMS[pipeline])
    free = [name for name in CPU if work.counts[name].any()]
    # Of about the size they will have, so that the solver's steps suit all.
    scale = np.array([np.median(measured) / work.counts[name].mean() for name in free])
    if work.overlaps.any():
        free, scale = [*free, "gap"], np.append(scale, GAP)

    def constants(x: Array) -> Constants:
        values = zip(free, x * scale, strict=True)
        return replace(
            form, **{name: float(f"{value:.4g}") if value > 1e-3 else 0.0 for name, value in values}
        )

    def errors(x: Array) -> Array:
        values = dict(zip(free, x * scale, strict=True))
        return np.asarray(cost.cycles(work, replace(form, **values), ratio) / measured - 1)

    begin = np.full(len(free), 0.05)
    return constants(least_squares(errors, begin, bounds=(0, np.inf), loss="soft_l1", f_scale=0.1).x)


def fit_and_check(pipeline: str, every: Sequence[Point], measured: Array) -> tuple[Constants, Array, Array]:
    """Constants, and each run's relative error: with them, and with constants that were fitted without it."""
    ratio = machine(boards.load(boards.DEFAULT)).ratio
    work = works(pipeline, every)

    def error(part: Work, constants: Constants, which: npt.NDArray[np.bool_]) -> Array:
        return np.abs(cost.cycles(part, constants, ratio) / measured[which] - 1)

    def part(which: npt.NDArray[np.bool_]) -> Work:
        return _map(lambda array: array[..., which], [work])

    whole = np.full(len(measured), True)
    constants = fit(pipeline, work, measured, ratio)
    outside = np.zeros_like(measured)
    for number in range(FOLDS):
        left = np.arange(len(measured)) % FOLDS == number
        other = fit(pipeline, part(~left), measured[~left], ratio)
        outside[left] = error(part(left), other, left)
    return constants, error(work, constants, whole), outside


def main() -> None:
    count = int(os.environ.get("AXILOOM_FIT_RUNS", "60"))
    every = [run for pipeline in cost.FORMS for run in runs(pipeline, count)]
    outcomes = sweep(every, simulate, default_store(), group=hardware, title="fit")
    for outcome in failures(outcomes):
        print(f"failed: {outcome}")
    print("pipeline   runs   error of the fit: mean  worst   of runs left out: mean  worst")
    written = {}
    for pipeline in cost.FORMS:
        good = [
            outcome
            for outcome in outcomes
            if outcome.point["pipeline"] == PASSES.get(pipeline, pipeline) and not outcome.error
        ]
        constants, inside, outside = fit_and_check(
            pipeline,
            [outcome.point for outcome in good],
            np.array([outcome.result["counters"]["cpu-cycles"] for outcome in good], float),
        )
        print(
            f"{pipeline:10} {len(good):4} {inside.mean():23.1%} {inside.max():6.1%} "
            f"{outside.mean():24.1%} {outside.max():6.1%}"
        )
        written[pipeline] = {
            "constants": {name: x for name in (*CPU, "gap") if (x := getattr(constants, name))},
            "error": {
                "runs": len(good),
                "mean": round(float(outside.mean()), 4),
                "worst": round(float(outside.max()), 4),
            },
        }
    write_whole(cost.CONSTANTS, json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
