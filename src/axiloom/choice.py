"""How to use an accelerator for a problem on a board: what the cost model says, for ``--flow best``."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom import boards
from axiloom.drivergen.cost import Choice, Machine, Model, constants_of, rank
from axiloom.drivergen.problem import Problem
from axiloom.drivergen.selection import Candidate, Tile, candidates
from axiloom.errors import UsageError
from axiloom.isa import AcceleratorSpec

BEST = "best"
"""In place of a flow's name: the model's choice."""


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
    found = [
        choice
        for pipeline in pipelines or strategies(spec)
        for choice in rank(spec, problem, Model(spec, on, constants_of(pipeline)), pipeline, every)
    ]
    return sorted(found, key=lambda choice: choice.seconds)


def choose(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    board: str = boards.DEFAULT,
    pipeline: str | None = None,
    tile: Tile | None = None,
) -> Choice:
    """The model's choice, with that `pipeline` and `tile` where they are given.

    Raises UsageError for a pipeline that the model does not know, or if no flow can use that tile.
    """
    choices = ranked(problem, spec, board=board, pipelines=(pipeline,) if pipeline else None)
    if tile is not None:
        choices = [choice for choice in choices if choice.candidate.tile == tuple(tile)]
    if not choices:
        what = f"a tile of {'x'.join(map(str, tile))}" if tile else "a tile that fits its buffers"
        raise UsageError(f"no flow of {spec.name} takes {problem.M}x{problem.N}x{problem.K} with {what}")
    return choices[0]
