"""Fits what the NEON kernels by hand take, first and later calls, on the simulated Cortex-A9 alone.

Products and convolutions of int8 and int32 up to half a million multiply-adds, each called three times.
Writes `drivergen/cost/neon_costs.json`; a report says by it whether the CPU alone is faster. Prints how far
off it is, also on each fifth of the problems, left out in turn. ``AXILOOM_FIT_PROBLEMS`` sets the problems of
each kind (default 24); runs are kept.
"""

from __future__ import annotations

import json
import math
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom import boards, isa
from axiloom.base.files import write_whole
from axiloom.cosim.system import System
from axiloom.drivergen.cost import neon
from axiloom.run.by_hand import ByHand
from axiloom.run.problem import ProblemRun, Workload
from benchmarks.drivers.replay_fit import Array, solved

COUNT, FOLDS, CALLS = 24, 5, 3
LARGEST = 80**3
KERNELS = {"matmul": ("v4_16", "cpu_neon"), "conv": ("conv_v4", "cpu_conv_neon")}
SQUARES = (8, 16, 32, 64)


@dataclass(frozen=True)
class Run:
    counts: dict[str, float]
    lines: float
    first: float
    """CPU cycles."""
    later: float


def problems(kind: str, bits: int, count: int) -> list[str]:
    rng = random.Random(f"{kind} {bits}")
    drawn = [f"matmul:{n}x{n}x{n}:int{bits}" for n in SQUARES] if kind == "matmul" else []
    while len(drawn) < count:
        text, multiply_adds = _product(rng) if kind == "matmul" else _convolution(rng)
        if multiply_adds <= LARGEST:
            drawn.append(f"{kind}:{text}:int{bits}")
    return drawn


def _product(rng: random.Random) -> tuple[str, int]:
    sizes = [max(2, round(2 ** rng.uniform(2, 7))) for _ in range(3)]
    if rng.random() < 0.5:
        sizes = [max(8, size // 8 * 8) for size in sizes]
    return "x".join(map(str, sizes)), math.prod(sizes)


def _convolution(rng: random.Random) -> tuple[str, int]:
    size, taps, stride = rng.choice((7, 8, 10, 14, 16, 28)), rng.choice((1, 1, 3, 5)), rng.choice((1, 1, 2))
    channels, filters = (rng.choice((3, 4, 8, 16, 32, 64)) for _ in range(2))
    pixels = ((size - taps) // stride + 1) ** 2
    return f"{size}_{channels}_{taps}_{filters}_{stride}", pixels * channels * filters * taps**2


def simulated(problem: str, bits: int) -> Run:
    accelerator, kernel = KERNELS[problem.partition(":")[0]]
    spec = isa.builtin(accelerator, data_type=f"int{bits}")
    run = ProblemRun(Workload.of(problem), System(spec), calls=CALLS)
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        calls = run.run_kernel(kernel, Path(folder)).run.calls
    board, sizes = boards.load(boards.DEFAULT), ByHand.of(problem).sizes
    first, *_, later = (call * board.cpu_hz / board.fabric_hz for call in calls)
    return Run(neon.counts(sizes, bits), neon.lines(sizes, bits), first, later)


def fit(runs: Sequence[Run]) -> dict[str, float]:
    names = list(runs[0].counts)
    later, first = (np.array([getattr(run, name) for run in runs]) for name in ("later", "first"))
    counts = np.array([[run.counts[name] for name in names] for run in runs], float)
    beside = np.array([[1.0, run.lines] for run in runs])
    return {
        **solved(counts, later, later, names),
        **solved(beside, first - later, first, [neon.START, neon.LINES]),
    }


def errors(runs: Sequence[Run], costs: dict[str, float]) -> Array:
    """Of first calls and of later ones, as parts of them."""
    later = np.array([sum(costs.get(name, 0.0) * n for name, n in run.counts.items()) for run in runs])
    first = later + [costs.get(neon.START, 0.0) + costs.get(neon.LINES, 0.0) * run.lines for run in runs]
    measured = np.array([[run.first, run.later] for run in runs]).T
    ratios: Array = np.array([first, later]) / measured - 1
    return ratios


def left_out(runs: Sequence[Run]) -> Array:
    ratios = np.zeros((2, len(runs)))
    for fold in range(FOLDS):
        out = [i for i in range(len(runs)) if i % FOLDS == fold]
        other = fit([run for i, run in enumerate(runs) if i not in out])
        ratios[:, out] = errors([runs[i] for i in out], other)
    return ratios


def main() -> None:
    written = {}
    print(f"{'kernel':<20}{'runs':>5}{'first: mean':>13}{'worst':>8}{'later: mean':>13}{'worst':>8}")
    for kind in KERNELS:
        for bits in (8, 32):
            every = problems(kind, bits, int(os.environ.get("AXILOOM_FIT_PROBLEMS", COUNT)))
            runs = [simulated(problem, bits) for problem in every]
            costs, name = fit(runs), neon.kind(ByHand.of(every[0]).sizes, bits)
            for title, ratios in ((name, errors(runs, costs)), ("  left out", left_out(runs))):
                shown = (f"{abs(part).mean():>13.1%}{abs(part).max():>8.1%}" for part in ratios)
                print(f"{title:<20}{len(runs):>5}", *shown, sep="")
            off = abs(errors(runs, costs))
            error = {
                "runs": len(runs),
                "mean": round(float(off.mean()), 4),
                "worst": round(float(off.max()), 4),
            }
            written[name] = {"costs": costs, "error": error}
    write_whole(neon.COSTS_FILE, json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
