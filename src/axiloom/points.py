"""Runs as points of a sweep: what `workflow.Run` needs, as JSON, and the worker that simulates them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Hashable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from axiloom import boards, drivergen, isa
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.report import Report
from axiloom.workflow import Run, run_batch

_HARDWARE = ("spec", "board", "sim")
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
) -> dict[str, Any]:
    """The point of a run of `problem` (``matmul:MxNxK:dtype``) on `spec`; the rest as `workflow.Run`.

    The specification goes along whole, so that the key of the point changes with it.
    """
    return {
        "problem": problem,
        "spec": json.loads(isa.dumps(spec)),
        "flow": flow,
        "order": list(order) if order else None,
        "tile": list(tile) if tile else None,
        "pipeline": pipeline,
        "board": board,
        "sim": sim,
        "seed": seed,
    }


def hardware(one: dict[str, Any]) -> Hashable:
    """What the points of a batch must share: `group` of :func:`axiloom.sweep.sweep`."""
    return json.dumps([one[name] for name in _HARDWARE], sort_keys=True)


def run(one: dict[str, Any]) -> Run:
    """The run that a point stands for."""
    spec = _spec(json.dumps(one["spec"]))
    problem = drivergen.parse_problem(one["problem"])
    if problem.dtype != spec.data_type.value:
        raise UsageError(
            f"{one['problem']} has elements of {problem.dtype}, {spec.name} of {spec.data_type.value}"
        )
    return Run(
        one["problem"],
        problem.mlir,
        spec,
        flow=one["flow"],
        order=tuple(one["order"]) if one["order"] else None,
        tile=tuple(one["tile"]) if one["tile"] else None,
        pipeline=one["pipeline"],
        board=one["board"],
        sim=one["sim"],
        seed=one["seed"],
    )


def simulate(batch: list[dict[str, Any]]) -> list[Report]:
    """Worker: the report of each point; all are on the same hardware and share one simulator process."""
    return run_batch([run(one) for one in batch])


@cache
def _spec(text: str) -> AcceleratorSpec:
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        path = Path(folder) / "spec.json"
        path.write_text(text, encoding="utf-8")
        return isa.load(path)
