"""Runs as points of a sweep: what a `ProblemRun` needs, as JSON, and the worker that simulates them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from axiloom import boards, drivergen, isa
from axiloom.base import processes
from axiloom.base.cache import NotCachedError, cache_root, cached_build, content_hash, only_cached
from axiloom.base.errors import MismatchError, UsageError
from axiloom.base.files import code_hash
from axiloom.cosim.build import verilator
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.rtl import RtlPorts
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.resolve import BEST
from axiloom.run.run import reports_of

Point = dict[str, Any]

MEASURING = ("base", "isa", "hw", "plan", "drivergen", "sw", "cosim", "boards", "report", "run", "sweep")
"""Rooms whose code a report depends on."""
SOURCES = (
    *(".py", ".c", ".h", ".S", ".ld", ".cpp", ".hpp", ".v", ".vh", ".vlt", ".sv", ".toml", ".json"),
    *(".rules", ".kernels"),
)
_PREDICTING = (
    "cosim/replay/",
    *(f"drivergen/cost/{name}" for name in ("constants", "model", "plans", "products")),
    *(f"drivergen/cost/{name}" for name in ("replay_costs", "selection", "traffic")),
)
"""The model and the replay predict, they do not measure: what they are fitted to survives an edit of them."""
_HARDWARE = ("spec", "board", "sim", "rtl")
"""Fields that make the simulator: points that agree in them can share a process."""


def point(
    problem: str,
    spec: AcceleratorSpec,
    *,
    flow: str | None = None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    pipeline: str = "published",
    board: str = boards.DEFAULT,
    sim: str = "verilator",
    seed: int = 0,
    user_rtl: UserRtl | None = None,
) -> Point:
    """The point of a run of `problem` (``matmul:MxNxK:dtype``, ``conv:...``) on `spec`.

    The specification goes along whole, so that the key of the point changes with it; of `user_rtl` its hash,
    by which the worker finds the files in the cache.
    """
    return {
        **({"rtl": {"top": user_rtl.top, "hash": _keep(user_rtl)}} if user_rtl else {}),
        "problem": problem,
        "spec": json.loads(isa.dumps(spec)),
        "flow": flow,
        "order": list(order) if order else None,
        "tile": list(tile) if tile else None,
        "pipeline": pipeline,
        "board": board,
        "hashes": {
            "board": content_hash(repr(boards.load(board))),  # its profile may be a file of the user's own
            "choice": code_hash("drivergen/cost", "cosim/replay", endings=SOURCES) if flow == BEST else None,
        },
        "sim": sim,
        "seed": seed,
    }


def hardware(point: Point) -> Hashable:
    """What the points of a batch must share: `group` of :func:`axiloom.sweep.sweep.sweep`."""
    return json.dumps([point.get(name) for name in _HARDWARE], sort_keys=True)


def run(point: Point) -> ProblemRun:
    """The run that a point stands for."""
    spec = spec_of(point)
    problem = drivergen.parse_workload(point["problem"])
    if problem.dtype != spec.data_type.value:
        raise UsageError(
            f"{point['problem']} has elements of {problem.dtype}, {spec.name} of {spec.data_type.value}"
        )
    rtl = _kept(**point["rtl"], told=spec.link.rtl) if "rtl" in point else None
    return ProblemRun(
        Workload(point["problem"], problem.mlir, point["seed"]),
        System(spec, point["board"], point["sim"], user_rtl=rtl),
        schedule_of(point),
    )


def schedule_of(point: Point) -> Schedule:
    """What a point asks for."""
    order, tile = point.get("order"), point["tile"]
    return Schedule(
        point["flow"], tuple(order) if order else None, tuple(tile) if tile else None, point["pipeline"]
    )


_RTL = "user-rtl"
"""Kind of a cached build: the files of a user's accelerator, with what they include."""


def _keep(rtl: UserRtl) -> str:
    sources = verilator.read_sources(rtl.files)
    hash_ = content_hash(sources)

    def build(folder: Path) -> None:
        for name, text in sources:
            (folder / name).write_text(text, encoding="utf-8")

    cached_build(_RTL, hash_, build)
    return hash_


def _kept(top: str, hash: str, told: RtlPorts) -> UserRtl:
    try:
        folder = only_cached(_RTL, hash, lambda _folder: None)
    except NotCachedError:
        raise UsageError(
            f"RTL {top} is not in the cache of this worker: workers of --dask need the AXILOOM_CACHE of the "
            "process that started them"
        ) from None
    return UserRtl(sorted(folder.glob("[!.]*")), top, told)


def simulate(batch: list[Point]) -> list[Report]:
    """Worker: the report of each point; all are on the same hardware and share one simulator process.

    Raises MismatchError where a result is not NumPy's, and what `reports_of` raises.
    """
    reports = reports_of([run(point) for point in batch])
    for point, report in zip(batch, reports, strict=True):
        if report["result"]["matches"] is False:
            raise MismatchError(f"{point['problem']}: {report['result']['first']}")
    return reports


def spec_of(point: Point) -> AcceleratorSpec:
    """The accelerator that a point names."""
    return _spec(json.dumps(point["spec"]))


@cache
def _spec(text: str) -> AcceleratorSpec:
    with processes.scratch("axiloom-") as folder:
        path = Path(folder) / "spec.json"
        path.write_text(text, encoding="utf-8")
        return isa.load(path)


def default_store() -> Path:
    """Results in the user's cache folder; another file as soon as anything that makes them has changed."""
    return cache_root() / "sweeps" / f"{code_hash(*MEASURING, endings=SOURCES, without=_PREDICTING)}.jsonl"
