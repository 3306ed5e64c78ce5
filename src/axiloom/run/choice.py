"""How to use an accelerator for a problem on a board: what the cost model says, for ``--flow best``.

Two steps. The model (:mod:`axiloom.drivergen.cost.model`) puts all candidates into an order, thousands at
once; it is some per cent off. The drivers of the first ones are then gone through step by step
(:mod:`axiloom.cosim.replay`), which is exact to about one per cent, and takes some milliseconds for each.

What cannot win is not replayed. Replays of all hardware took 94 s of CPU for a product of 1024^3. The
fastest hardware was the model's in each of 40 sizes, and the fastest driver at most 0.27 behind the
model's first. So hardware that the model says is 0.3 slower and drivers that are 0.5 slower are left out,
and of products beyond 2^28 multiply-adds a part is replayed: 9 s, and the same choice for the 40 products
of ``python -m benchmarks defaults``. A driver that cannot be replayed, as its transfers block, must be
faster by 0.1: 64^3 on v4 without scatter-gather was 18 % slower by such a choice.

A compiled driver is chosen for ten calls, a run for as many as it makes. ``axiloom run`` says what one
call takes, from cold caches, so it chooses for that unless ``--calls`` says otherwise. A driver from
``axiloom compile`` is for an application, which calls it again and again. Its first call is up to 15 %
slower than it could be, each later one up to 1.64 times as fast. Ten calls are enough to weigh the first
one little: for 17 of the 20 products of ``later_calls`` the choice for 100 calls is the same. In the
replay a later call is taken without its start, with the lines that the one before has left. With several
calls nothing is said of "published": the model of blocking drivers knows no warm caches, and 32^3 would
be 24 % too slow. Drivers in board folders (``board new``) are trials of every pipeline, so nothing is
chosen for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from axiloom import boards, isa
from axiloom.base.errors import UsageError
from axiloom.cosim.replay import Replay
from axiloom.drivergen.cost.model import Choice, Machine, Model, constants_of, rank
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.replay_costs import costs_of, kind_of
from axiloom.drivergen.cost.selection import (
    Candidate,
    Tile,
    candidates,
    published_best,
    reads_in_place,
    schedules,
)
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Plan

OVERLAPPING = ("copying", "all")
"""Pipelines whose drivers are gone through. With the others transfers block: the model is enough."""
REPLAYED = 32
"""Candidates whose drivers are gone through, of those that the model can tell apart."""
NEAR = 0.5
"""A candidate that the model says is slower than its fastest by more is not gone through: of 40 sizes, the
fastest in the end was at most 0.27 behind."""
LARGEST = 1 << 28
"""Multiply-adds up to which drivers are gone through from begin to end."""
ROUGH = 0.1
"""What the model alone knows must be faster by more than what is gone through: of copies it is 6.6 % off on
average, and 16 % too short where a single tile fills the windows."""
CLOSE = 0.01
"""About how exact the replay is: within that of the fastest, the paper's `Best` is taken."""


def machine(board: boards.Board) -> Machine:
    """What the cost model takes from a board's profile."""
    return Machine(
        cpu_hz=board.cpu_hz,
        fabric_hz=board.fabric_hz,
        l1_bytes=board.caches.l1d_size,
        l2_bytes=board.last_cache[0],
        l2_hit=board.latency.l2_hit,
        ddr=board.latency.ddr,
    )


def strategies(spec: AcceleratorSpec) -> tuple[str, ...]:
    """Pipelines to choose from: what the accelerator's DMA can do."""
    if spec.keeps_packets:
        return ("published",)
    return ("all",) if spec.link.dma.scatter_gather else ("published", "copying")


def ranked(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    board: str | boards.Board = boards.DEFAULT,
    pipelines: Sequence[str] | None = None,
    among: Sequence[Candidate] | None = None,
    calls: int = 1,
    tables: bool = True,
) -> list[Choice]:
    """Candidates (default: all) with each of the pipelines (default: `strategies`), the fastest first.

    Times are of a program that calls the driver `calls` times; later calls find the caches warm. The first by
    the model come before the others, in the order of the replay and with its times; the paper's `Best` is
    among them, and comes before what is faster by less than `CLOSE`. `tables`: as for
    :func:`axiloom.drivergen.cost.plans.plans`.
    """
    board = boards.load(board)
    every = ranked_by_model(problem, spec, board=board, pipelines=pipelines, among=among, calls=calls)
    paper = published_best(spec, problem)
    number = sum(
        choice.seconds <= every[0].seconds * (1 + NEAR) for choice in every[: _first(every, REPLAYED)]
    )
    first = [choice for i, choice in enumerate(every) if i < number or choice.candidate == paper]
    rest = [choice for i, choice in enumerate(every) if i >= number and choice.candidate != paper]
    seconds = replayed(problem, spec, first, board=board, calls=calls, tables=tables)
    known = {choice for choice, s in zip(first, seconds, strict=True) if s is not None}
    exact = [
        choice
        if s is None
        else replace(choice, seconds=s, limit_ratio=choice.limit_ratio * s / choice.seconds)
        for choice, s in zip(first, seconds, strict=True)
    ]

    def order(both: tuple[Choice, Choice]) -> tuple[float, int, str]:
        """Of equals the one that moves fewer words."""
        modelled, choice = both
        close = CLOSE if choice.candidate == paper else 0.0
        rough = ROUGH if known and modelled not in known and choice.pipeline in OVERLAPPING else 0.0
        return choice.seconds * (1 - close) * (1 + rough), choice.words, str(choice.candidate)

    return [choice for _, choice in sorted(zip(first, exact, strict=True), key=order)] + rest


def _first(every: Sequence[Choice], count: int) -> int:
    """How many there are up to the last that equals one of the first `count` different ones."""
    seen: set[tuple[str, Tile, int, float]] = set()
    for number, choice in enumerate(every):
        seen.add((choice.pipeline, choice.candidate.tile, choice.words, choice.seconds))
        if len(seen) > count:
            return number
    return len(every)


def replayed(
    problem: Problem,
    spec: AcceleratorSpec,
    choices: Sequence[Choice],
    *,
    board: str | boards.Board = boards.DEFAULT,
    calls: int = 1,
    tables: bool = True,
) -> list[float | None]:
    """Seconds that `calls` of the drivers of these take; None where transfers do not overlap.

    Of a problem beyond `LARGEST` a part is gone through, and its time is taken as many times.
    """
    whole, problem = problem, _part(problem, [choice.candidate.tile for choice in choices])
    factor = (whole.M * whole.N * whole.K) / (problem.M * problem.N * problem.K)
    on = boards.load(board)
    ways: dict[tuple[str, bool], list[Candidate]] = {}
    for choice in choices:
        if choice.pipeline in OVERLAPPING:
            queued = choice.pipeline == "all" and reads_in_place(spec, problem, choice.candidate.tile)
            ways.setdefault((choice.pipeline, queued), []).append(choice.candidate)
    seconds: dict[tuple[str, Candidate], float] = {}
    for (pipeline, queued), some in ways.items():
        replay = Replay(spec, on, costs_of(kind_of(spec, queued), spec.link.dma.coherent))
        known: dict[Plan, float] = {}  # several names of flows and loops come to the same
        for candidate, plan in plans(spec, problem, some, queued=queued, tables=tables).items():
            if plan not in known:
                cycles = replay.run(plan, calls).cycles if replay.fits(plan) else -1.0
                known[plan] = factor * cycles / on.cpu_hz
            if known[plan] > 0:
                seconds[pipeline, candidate] = known[plan]
    return [seconds.get((choice.pipeline, choice.candidate)) for choice in choices]


def _part(problem: Problem, tiles: Sequence[Tile]) -> Problem:
    """The problem, its largest sizes halved until it is no larger than `LARGEST`, as far as all `tiles` still
    fit into it; a half leaves the same rest of a cache line."""
    sizes = [problem.M, problem.N, problem.K]
    least = [max(side) for side in zip((0, 0, 0), *tiles, strict=True)]
    while prod(sizes) > LARGEST:
        halves = [size // 128 * 64 + size % 64 for size in sizes]
        able = [at for at in range(len(sizes)) if least[at] <= halves[at] < sizes[at]]
        if not able:
            break
        at = max(able, key=lambda at: sizes[at])
        sizes[at] = halves[at]
    return replace(problem, M=sizes[0], N=sizes[1], K=sizes[2])


def ranked_by_model(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    board: str | boards.Board = boards.DEFAULT,
    pipelines: Sequence[str] | None = None,
    among: Sequence[Candidate] | None = None,
    calls: int = 1,
) -> list[Choice]:
    """The same by the model alone, which knows of later calls only that the program starts once."""
    on = machine(boards.load(board))
    every = candidates(spec, problem) if among is None else among
    choices: list[Choice] = []
    for pipeline in pipelines or strategies(spec):
        tiles = {candidate.tile for candidate in every}
        read = {tile for tile in tiles if pipeline != "all" or reads_in_place(spec, problem, tile)}
        in_place = [candidate for candidate in every if candidate.tile in read]
        copied = [candidate for candidate in every if candidate.tile not in read]
        for does, some in ((pipeline, in_place), ("copying", copied)):
            constants = constants_of(does)
            once = (calls - 1) * constants.start / on.cpu_hz
            for choice in rank(spec, problem, Model(spec, on, constants), pipeline, some):
                seconds = calls * choice.seconds - once
                ratio = choice.limit_ratio * seconds / (calls * choice.seconds)
                choices.append(replace(choice, seconds=seconds, limit_ratio=ratio))
    return sorted(choices, key=lambda choice: choice.seconds)


def choose(
    problem: Problem,
    spec: AcceleratorSpec,
    *,
    board: str | boards.Board = boards.DEFAULT,
    pipeline: str | None = None,
    flow: str | None = None,
    order: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    exact: bool = True,
    calls: int = 1,
) -> Choice:
    """The model's choice for a program with so many calls, with that `pipeline`, `flow`, `order` and `tile`
    where they are given.

    Without `exact` no driver is gone through.
    Raises UsageError for a pipeline that the model does not know, or if no flow can be used so.
    """
    every = candidates(spec, problem)
    if tile is not None and spec.tile.granule is not None:
        every = [Candidate(flow, order, tuple(tile)) for flow, order in schedules(spec)]
    fitting = [
        candidate
        for candidate in every
        if (flow is None or candidate.flow == flow)
        and (order is None or candidate.order == tuple(order))
        and (tile is None or candidate.tile == tuple(tile))
    ]
    faults = isa.check_tile(spec, tuple(tile)) if tile is not None else []
    if faults or not fitting:
        what = f"loops {','.join(order)}" if order else "its buffers"
        raise UsageError("; ".join(map(str, faults)) or f"no flow of {spec.name} can be used with {what}")
    ranking = ranked if exact else ranked_by_model
    pipelines = (pipeline,) if pipeline else None
    return ranking(problem, spec, board=board, pipelines=pipelines, among=fitting, calls=calls)[0]


def ranks(spec: AcceleratorSpec) -> bool:
    """Does the model rank all ways to use an accelerator?"""
    return spec.form.of_matrices
