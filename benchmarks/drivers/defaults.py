"""What a user gets without options, against the best that simulation finds, and against the old default.

Random products on v3_16 and v4_16 and convolutions on conv_v4, of int8 and int32. Each is run as
``axiloom run`` takes it without an option; as the first ten of ``axiloom explore --confirm 10`` on the same
hardware (of convolutions: the first ten tiles and orders by their model); and as it was before the choice was
the default: a DMA in direct register mode, a stream of 32 bits, 64 multiply-adds, the specification's flow
and tile, the pipeline `copying`. Every result is compared with NumPy's.

``AXILOOM_DEFAULTS`` is how many problems there are (60); fewer are the first of the same seeded list, which
takes accelerators in turn. Simulations are kept, and the command goes on where it was interrupted. Exits with
1 if one is more than 10 % slower than the best.
"""

from __future__ import annotations

import math
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from axiloom import drivergen, isa
from axiloom.drivergen.pipeline import conv_choice
from axiloom.drivergen.pipeline.schedule import DEFAULTS
from axiloom.explore.default import of_problem
from axiloom.explore.explore import explore
from axiloom.isa import AcceleratorSpec
from axiloom.sweep.points import Point, default_store, hardware, point, simulate
from axiloom.sweep.store import key
from axiloom.sweep.sweep import failures, sweep

COUNT = 60
CONFIRMED = 10
WITHIN = 1.10
LARGEST = 96**3
"""Multiply-adds of a problem: what is small shows the choice best, and simulates in a second."""
ACCELERATORS = ("v3_16", "v4_16", "conv_v4")


@dataclass(frozen=True)
class Case:
    problem: str
    accelerator: str
    hardware: str
    default: Point
    found: tuple[Point, ...]
    before: Point


def problems(count: int) -> list[tuple[str, str]]:
    """Accelerator and problem: sizes even in their logarithm, half of the products of multiples of 16."""
    rng, drawn = random.Random(19), []
    while len(drawn) < count:
        name = ACCELERATORS[len(drawn) % len(ACCELERATORS)]
        text = _convolution(rng) if name.startswith("conv") else _product(rng)
        if text:
            drawn.append((name, text))
    return drawn


def _product(rng: random.Random) -> str:
    sizes = [round(2 ** rng.uniform(4, 8)) for _ in range(3)]
    if rng.random() < 0.5:
        sizes = [max(16, size // 16 * 16) for size in sizes]
    kind = rng.choice(("int8", "int32"))
    return f"matmul:{'x'.join(map(str, sizes))}:{kind}" if math.prod(sizes) <= LARGEST else ""


def _convolution(rng: random.Random) -> str:
    size, taps, stride = rng.choice((7, 10, 14, 16, 28)), rng.choice((1, 1, 3)), rng.choice((1, 1, 2))
    channels, filters = (8 * round(2 ** rng.uniform(0, 4)) for _ in range(2))
    kind, pixels = rng.choice(("int8", "int32")), ((size - taps) // stride + 1) ** 2
    wanted = pixels * channels * filters * taps**2 <= LARGEST
    return f"conv:{size}_{channels}_{taps}_{filters}_{stride}:{kind}" if wanted else ""


def without_options(name: str, problem: str) -> tuple[AcceleratorSpec, Point]:
    """The hardware that `axiloom run` takes of itself, and the run on it."""
    work = drivergen.parse_workload(problem)
    chosen = of_problem(work.mlir, isa.builtin(name, data_type=work.dtype), DEFAULTS, name=problem)
    taken = chosen.schedule
    return chosen.spec, point(
        problem,
        chosen.spec,
        flow=taken.flow,
        order=taken.order,
        tile=taken.tile,
        pipeline=taken.pipeline or drivergen.default_pipeline(chosen.spec),
    )


def case(name: str, problem: str) -> Case:
    work = drivergen.parse_workload(problem)
    chosen, default = without_options(name, problem)
    before = point(problem, isa.builtin(name, data_type=work.dtype), pipeline="copying")
    own = f"{'sg' if chosen.link.dma.scatter_gather else 'simple'} {chosen.link.stream_width}"
    return Case(problem, name, own, default, tuple(_confirmed(problem, work.mlir, chosen)), before)


def _confirmed(problem: str, mlir: str, spec: AcceleratorSpec) -> list[Point]:
    if spec.form.of_matrices:
        rows = explore(drivergen.parse_problem(problem), spec, top=CONFIRMED).rows
        return [
            point(
                problem,
                spec,
                flow=row.choice.candidate.flow,
                order=row.choice.candidate.order,
                tile=row.choice.candidate.tile,
                pipeline=row.choice.pipeline,
            )
            for row in rows
        ]
    pipeline = drivergen.default_pipeline(spec)
    ways = conv_choice.flows(mlir, spec, count=CONFIRMED, name=problem)[:CONFIRMED]
    return [
        point(problem, spec, flow=way.name, order=way.choice.order, tile=way.choice.tile, pipeline=pipeline)
        for way in ways
    ]


def main() -> None:
    cases = [case(*problem) for problem in problems(int(os.environ.get("AXILOOM_DEFAULTS", COUNT)))]
    wanted = {key(point): point for case in cases for point in (case.default, case.before, *case.found)}
    outcomes = sweep(
        list(wanted.values()), simulate, default_store(), group=hardware, title="simulating", jobs=1
    )
    for failure in failures(outcomes):
        print(f"failed: {failure.point['problem']}: {failure.error}", file=sys.stderr)
    known = {
        key(outcome.point): outcome.result["counters"]["task-clock"] / 1e6
        for outcome in outcomes
        if not outcome.error
    }
    far = _print(cases, known)
    if far or failures(outcomes):
        sys.exit(1)


def _print(cases: Sequence[Case], known: dict[str, float]) -> list[str]:
    """Which are farther from the best than `WITHIN`."""
    print(
        f"{'problem':<32}{'accelerator':<12}{'hardware':<11}{'pipeline':<11}"
        f"{'ms':>8}{'/best':>8}{'before/':>9}"
    )
    far, ratios = [], []
    for case in cases:
        own, before = known[key(case.default)], known[key(case.before)]
        best = min([own, *(known[key(point)] for point in case.found if key(point) in known)])
        print(
            f"{case.problem:<32}{case.accelerator:<12}{case.hardware:<11}{case.default['pipeline']:<11}"
            f"{own:>8.3f}{own / best:>8.3f}{before / own:>9.2f}",
            flush=True,
        )
        ratios.append(before / own)
        if own > WITHIN * best:
            far.append(f"{case.problem} on {case.accelerator}")
    print(
        f"{len(cases)} problems: {len(cases) - len(far)} within {WITHIN - 1:.0%} of the best found; "
        f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} times as fast as the old default "
        f"(geometric mean; {min(ratios):.2f} to {max(ratios):.2f})"
    )
    for text in far:
        print(f"farther: {text}")
    return far


if __name__ == "__main__":
    main()
