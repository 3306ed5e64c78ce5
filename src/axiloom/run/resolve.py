"""What is left open about the use of an accelerator, chosen by what knows its form: for ``--flow best``.

`foreseen` says besides how long it takes. Matrix products are ranked by :mod:`axiloom.run.choice`,
convolutions by :mod:`axiloom.drivergen.pipeline.conv_choice`, kernels that are data by the words that travel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import NamedTuple

from axiloom import boards, drivergen, isa
from axiloom.base.errors import UsageError
from axiloom.drivergen.cost.selection import reads_in_place
from axiloom.drivergen.match.matmul import MATMUL_DIMS
from axiloom.drivergen.pipeline import conv_choice, kernel_choice
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.post import without_post
from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW
from axiloom.run.choice import choose
from axiloom.run.modelled import product

BEST = "best"
"""In place of a flow's name: the model's choice."""


class Foreseen(NamedTuple):
    """A schedule, and the time of its largest op in seconds, None where no model says that."""

    schedule: Schedule
    seconds: float | None = None
    copies: bool = False
    """The driver copies all tiles, as nothing can be read in place: descriptors win nothing."""


def resolve(
    text: str,
    spec: AcceleratorSpec,
    asked: Schedule,
    *,
    board: str | boards.Board = boards.DEFAULT,
    name: str = "input.mlir",
    calls: int = 1,
) -> Schedule:
    """`asked` with the model's choice in place of flow `BEST`, for the largest matmul or conv in `text`.

    Without a pipeline, all passes that the DMA is able to use, or with `BEST` the model's choice.
    """
    if asked.flow != BEST:
        order, tile = asked.order, asked.tile
        default = asked.pipeline or drivergen.default_pipeline(spec)
        return Schedule(asked.flow, tuple(order) if order else None, tuple(tile) if tile else None, default)
    return foreseen(text, spec, asked, board=board, name=name, calls=calls).schedule


def foreseen(
    text: str,
    spec: AcceleratorSpec,
    asked: Schedule,
    *,
    board: str | boards.Board = boards.DEFAULT,
    name: str = "input.mlir",
    exact: bool = True,
    calls: int = 1,
) -> Foreseen:
    """The model's choice for what `asked` leaves open, a flow that is not `BEST` kept, and its time.

    The time is that of a program with `calls` of the driver. Without `exact` the drivers of matrix products
    are not gone through. Raises UsageError where there is no model, or no flow can be used so, and
    CompileError where `text` has no op for the accelerator.
    """
    tile = asked.tile
    if tile is not None and (faults := isa.check_tile(spec, tuple(tile))):
        raise UsageError("; ".join(map(str, faults)))
    if len(spec.parts) > 1:
        raise UsageError(
            f"--flow {BEST}: it chooses for one kernel, and {spec.name} has {len(spec.parts)} of them; "
            f"its flows are {', '.join(flow for part in spec.parts for flow in part.flows)}"
        )
    if spec.in_place:
        raise UsageError(f"--flow {BEST}: there is no cost model for {spec.kernel} with kernels in place")
    chooser = _for_kernel if spec.form.computes is not None else CHOOSERS.get(spec.form.name)
    if chooser is None:
        raise UsageError(
            f"--flow {BEST}: there is no cost model for {spec.kernel}; "
            f"flows of {spec.name}: {', '.join(spec.flows)}"
        )
    return chooser(_Asked(text, spec, asked, board, name, exact, calls))


class _Asked(NamedTuple):
    """What `resolve` is asked, where it is for the model."""

    text: str
    spec: AcceleratorSpec
    schedule: Schedule
    board: str | boards.Board
    name: str
    exact: bool
    calls: int


def _for_kernel(asked: _Asked) -> Foreseen:
    """By the words that travel."""
    spec, wanted = asked.spec, asked.schedule
    cut = kernel_choice.best(asked.text, spec, order=wanted.order, tile=wanted.tile, name=asked.name)
    return Foreseen(
        Schedule(cut.flow, cut.order, cut.tile, wanted.pipeline or drivergen.default_pipeline(spec))
    )


def _for_convolution(asked: _Asked) -> Foreseen:
    spec, wanted = asked.spec, asked.schedule
    every = conv_choice.flows(asked.text, spec, order=wanted.order, tile=wanted.tile, name=asked.name)
    fitting = [choice for choice in every if wanted.flow in (None, BEST, choice.name)]
    if not fitting:
        raise UsageError(f"no tile of {spec.name} can be used with flow {wanted.flow} here")
    first, pipeline = fitting[0], wanted.pipeline or drivergen.default_pipeline(spec)
    cycles = first.choice.published if pipeline == "published" else first.choice.cycles
    schedule = Schedule(first.name, first.choice.order, first.choice.tile, pipeline)
    return Foreseen(schedule, asked.calls * cycles / boards.load(asked.board).fabric_hz)


def _for_matmul(asked: _Asked) -> Foreseen:
    spec, wanted = asked.spec, asked.schedule
    calls = drivergen.compile_mlir(asked.text, spec, stop="linalg", name=asked.name).calls
    largest = max(calls, key=lambda call: call.M * call.N * call.K)
    problem = product(largest, asked.text, spec, asked.name)
    plain = without_post(spec)
    # What is rounded on the device stays there until it is whole: one flow keeps it.
    only = None if largest.flow in plain.flows else plain.selected_flow
    if wanted.flow not in (None, BEST, only):
        only = wanted.flow
    best = choose(
        problem,
        plain,
        board=asked.board,
        pipeline=wanted.pipeline,
        flow=only,
        order=wanted.order,
        tile=wanted.tile,
        exact=asked.exact,
        calls=asked.calls,
    )
    candidate = best.candidate
    batches = prod(size for dim, size in largest.sizes.items() if dim not in MATMUL_DIMS)
    copies = not reads_in_place(plain, problem, candidate.tile)
    return Foreseen(
        Schedule(candidate.flow, candidate.order, candidate.tile, best.pipeline),
        batches * best.seconds,
        copies,
    )


CHOOSERS: Mapping[str, Callable[[_Asked], Foreseen]] = {
    MATMUL.name: _for_matmul,
    IMAGE.name: _for_convolution,
    WINDOW.name: _for_convolution,
}
"""Who knows what is best, by the name of a form; of kernels that are data `_for_kernel` does."""
