"""What an experiment compares, as points of a sweep, and the worker that runs and checks them.

A side is a generated driver, a driver by hand (``sw/baselines/``) or a kernel for the CPU alone. All sides of
one problem get the same data, and each result is compared with NumPy's before it counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import boards, isa, sw
from axiloom.base.errors import CompileError, DriverError, MismatchError, UsageError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import CpuRun
from axiloom.cosim.job import Job, Result
from axiloom.cosim.soc import Soc
from axiloom.drivergen import parse_workload
from axiloom.isa import AcceleratorSpec
from axiloom.report import build as report
from axiloom.run.by_hand import ByHand
from axiloom.run.problem import ProblemRun
from axiloom.sweep import networks, points
from axiloom.sweep.networks import fingerprint
from axiloom.sweep.store import key
from benchmarks.paper.contents import content

Point = dict[str, Any]
Size = tuple[int, int, int]
"""M, N, K."""
Figures = dict[str, Any]
"""``counters``, and of a run on the SoC ``fabric`` and ``limit`` as in a report."""


def generated(
    size: Size,
    spec: AcceleratorSpec,
    *,
    flow: str | None,
    pipeline: str,
    tile: Sequence[int] | None = None,
    order: Sequence[str] | None = None,
    board: str = boards.DEFAULT,
) -> Point:
    """Our driver for a matmul of `size` (elements of the specification's type)."""
    point = points.point(
        problem(size, spec.data_type.value),
        spec,
        flow=flow,
        order=order,
        tile=tile,
        pipeline=pipeline,
        board=board,
    )
    return {"kind": "generated", "code": fingerprint(board), **point}


def generated_conv(
    problem: str, spec: AcceleratorSpec, *, pipeline: str, board: str = boards.DEFAULT
) -> Point:
    """Our driver for a convolution, ``conv:...`` with the specification's type; flow and tile are ours."""
    point = points.point(problem, spec, pipeline=pipeline, board=board)
    return {"kind": "generated", "code": fingerprint(board), **point}


def conv_by_hand(problem: str, *, board: str = boards.DEFAULT) -> Point:
    """The driver by hand for conv_v3, int32."""
    point = generated_conv(problem, isa.builtin("conv_v3"), pipeline="published", board=board)
    return {**point, "kind": "hand", "prefetch": False}


def by_content(point: Point) -> Point:
    """The point of a convolution with what its figures depend on by content; others as they are.

    Its program is compiled for that, so this is not for a list of cases that may never run.
    """
    if not point["problem"].startswith("conv:"):
        return point
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        try:
            run = points.run(point)
            if point["kind"] == "cpu":
                code = content(run.kernel_elf(point["kernel"], Path(folder)), None, point["board"])
            else:
                job = _job_by_hand if point["kind"] == "hand" else _job
                least = run.multiply_adds, run.array_cycles
                code = content(job(run, Path(folder)).elf, run.spec, point["board"], least)
        except (CompileError, UsageError):
            return point
        return {**point, "code": code}


def by_hand(
    size: Size,
    spec: AcceleratorSpec,
    *,
    flow: str,
    tile: Sequence[int] | None = None,
    board: str = boards.DEFAULT,
    prefetch: bool = False,
) -> Point:
    """The driver by hand for a built-in accelerator, int32; `prefetch`: with PLD in its copies."""
    point = generated(size, spec, flow=flow, pipeline="published", tile=tile, board=board)
    return {**point, "kind": "hand", "prefetch": prefetch}


def on_cpu(size: Size, kernel: str, *, data_type: str = "int32", board: str = boards.DEFAULT) -> Point:
    """``sw/baselines/KERNEL.c`` (``cpu_neon``, ``cpu_naive``) at -O3."""
    return {
        "kind": "cpu",
        "code": fingerprint(board),
        "kernel": kernel,
        **points.point(problem(size, data_type), isa.builtin("v3_16", None, data_type), board=board),
    }


def conv_on_cpu(problem: str, kernel: str, *, board: str = boards.DEFAULT) -> Point:
    """``sw/baselines/KERNEL.c`` (``cpu_conv_neon``, ``cpu_conv_naive``) at -O3."""
    spec = isa.builtin("conv_v4", None, parse_workload(problem).dtype)
    point = generated_conv(problem, spec, pipeline="published", board=board)
    return {**point, "kind": "cpu", "kernel": kernel}


def group(point: Point) -> Hashable:
    """Points that a worker takes together: the same hardware, or none. A network takes minutes by itself."""
    if point["kind"] == networks.KIND:
        return key(point)
    return point["board"] if point["kind"] == "cpu" else points.hardware(point)


def measure(batch: list[Point]) -> list[Figures]:
    """Worker: figures of each point. MismatchError or DriverError for a wrong or stale result."""
    if batch[0]["kind"] == networks.KIND:
        return [networks.measure(point) for point in batch]
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        if batch[0]["kind"] == "cpu":
            return [_run_cpu(point, Path(folder)) for point in batch]
        runs = [points.run(point) for point in batch]
        jobs = [
            _job_by_hand(run, Path(folder) / str(i), prefetch=point["prefetch"])
            if point["kind"] == "hand"
            else _job(run, Path(folder) / str(i))
            for i, (point, run) in enumerate(zip(batch, runs, strict=True))
        ]
        results = Soc(runs[0].system).run_many(jobs)
    return [_figures(run, result) for run, result in zip(runs, results, strict=True)]


def problem(size: Size, data_type: str) -> str:
    """As the command line names it."""
    return f"matmul:{'x'.join(map(str, size))}:{data_type}"


# --- jobs --------------------------------------------------------------------------------------------


def _job(run: ProblemRun, folder: Path) -> Job:
    return run.job(run.build(folder))


def _job_by_hand(run: ProblemRun, folder: Path, *, prefetch: bool = False) -> Job:
    hand = ByHand.of(run.workload.name)
    elf = compile_bare(
        [sw.BASELINES / f"{_version(run)}.c"],
        folder / "hand.elf",
        board=run.system.profile,
        length_bits=run.spec.link.dma.length_width,
        defines={**hand.sizes, **_schedule(run, prefetch=prefetch)},
    )
    return Job(elf, hand.given(run.inputs), hand.output)


def _version(run: ProblemRun) -> str:
    """The file of the driver: ``v3`` for v3_16."""
    return run.spec.name if run.workload.name.startswith("conv:") else run.spec.name.partition("_")[0]


def _schedule(run: ProblemRun, *, prefetch: bool) -> dict[str, int | str]:
    """Macros that say how a matmul is done; a convolution by hand has one way."""
    if run.workload.name.startswith("conv:"):
        return {}
    version, _, size = run.spec.name.partition("_")
    call = run.driver.calls[0]
    tile = dict(zip(("TM", "TN", "TK"), call.tile, strict=True)) if version == "v4" else {}
    return {**tile, "S": size, f"FLOW_{call.flow}": 1, "PREFETCH": int(prefetch)}


def _run_cpu(point: Point, folder: Path) -> Figures:
    run = points.run(point)
    result = run.run_kernel(point["kernel"], folder).run
    _check(run, result, point["kernel"])
    return {"counters": result.counters}


def _check(run: ProblemRun, result: Result | CpuRun, what: str) -> None:
    (got,), (want,) = result.outputs.values(), run.expected.values()
    if not np.array_equal(got.reshape(want.shape), want):
        raise MismatchError(f"{what}: {np.count_nonzero(got != want)} of {want.size} elements are wrong")


def _figures(run: ProblemRun, result: Result) -> Figures:
    asked = run.asked
    what = f"{run.workload.name} on {run.spec.name}, flow {asked.flow}, {asked.pipeline}"
    _check(run, result, what)
    if result.stale:
        raise DriverError(f"{what}: {result.stale[0]}")
    return {
        "counters": result.counters,
        "fabric": result.fabric,
        "limit": report.limit(
            run.spec.link, run.spec.macs, result.fabric, run.multiply_adds, run.array_cycles
        ),
    }
