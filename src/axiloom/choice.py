"""How to use an accelerator for a problem on a board: what the cost model says, for ``--flow best``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from axiloom import boards, drivergen, isa
from axiloom.drivergen.cost import Choice, Machine, Model, constants_of, rank
from axiloom.drivergen.problem import Problem
from axiloom.drivergen.selection import Candidate, Tile, candidates, reads_in_place, schedules
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec

BEST = "best"
"""In place of a flow's name: the model's choice."""


class Schedule(NamedTuple):
    """How an accelerator is used, as `drivergen.compile_mlir` takes it; None: its defaults."""

    flow: str | None
    order: tuple[str, ...] | None
    tile: Tile | None
    pipeline: str


def machine(board: boards.Board) -> Machine:
    """What the cost model takes from a board's profile."""
    return Machine(
        cpu_hz=board.cpu_hz,
        fabric_hz=board.fabric_hz,
        l1_bytes=board.caches.l1d_size,
        l2_bytes=board.caches.l2_size,
        l2_hit=board.latency.l2_hit,
        ddr=board.latency.ddr,
    )


def strategies(spec: AcceleratorSpec) -> tuple[str, ...]:
    """Pipelines to choose from: what the accelerator's DMA can do."""
    return ("all",) if spec.dma.scatter_gather else ("published", "copying")


def ranked(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    board: str = boards.DEFAULT,
    pipelines: Sequence[str] | None = None,
    among: Sequence[Candidate] | None = None,
) -> list[Choice]:
    """Candidates (default: all) with each of the pipelines (default: `strategies`), the fastest first."""
    on = machine(boards.load(board))
    every = candidates(spec, problem) if among is None else among
    found: list[Choice] = []
    for pipeline in pipelines or strategies(spec):
        in_place = [one for one in every if pipeline != "all" or reads_in_place(spec, problem, one.tile)]
        kept = set(in_place)
        copied = [one for one in every if one not in kept]
        for does, some in ((pipeline, in_place), ("copying", copied)):
            found += rank(spec, problem, Model(spec, on, constants_of(does)), pipeline, some)
    return sorted(found, key=lambda choice: choice.seconds)


def choose(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    board: str = boards.DEFAULT,
    pipeline: str | None = None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
) -> Choice:
    """The model's choice, with that `pipeline`, `order` and `tile` where they are given.

    Raises UsageError for a pipeline that the model does not know, or if no flow can be used so.
    """
    every = candidates(spec, problem)
    if tile is not None and spec.tile.granule is not None:
        every = [Candidate(flow, order, tuple(tile)) for flow, order in schedules(spec)]
    fitting = [
        one
        for one in every
        if (order is None or one.order == tuple(order)) and (tile is None or one.tile == tuple(tile))
    ]
    faults = isa.check_tile(spec, tuple(tile)) if tile is not None else []
    if faults or not fitting:
        what = f"loops {','.join(order)}" if order else "its buffers"
        raise UsageError("; ".join(map(str, faults)) or f"no flow of {spec.name} can be used with {what}")
    return ranked(problem, spec, board=board, pipelines=(pipeline,) if pipeline else None, among=fitting)[0]


def resolve(
    text: str,
    spec: AcceleratorSpec,
    *,
    flow: str | None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    pipeline: str | None = None,
    board: str = boards.DEFAULT,
    name: str = "input.mlir",
) -> Schedule:
    """The same with the model's choice in place of flow `BEST`, for the largest matmul in the MLIR `text`.

    Without a `pipeline`, all passes that the DMA is able to use, or with `BEST` the model's choice.
    """
    if flow != BEST:
        default = pipeline or drivergen.default_pipeline(spec)
        return Schedule(flow, tuple(order) if order else None, tuple(tile) if tile else None, default)
    calls = drivergen.compile_mlir(text, spec, stop="linalg", name=name).calls
    largest = max(calls, key=lambda call: call.M * call.N * call.K)
    problem = Problem(largest.M, largest.N, largest.K, spec.data_type.value)
    best = choose(problem, spec, board=board, pipeline=pipeline, order=order, tile=tile)
    return Schedule(best.candidate.flow, best.candidate.order, best.candidate.tile, best.pipeline)
