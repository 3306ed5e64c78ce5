"""What a driver is planned to do, against what the passes make of it and what the driver does."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest
from tests.drivergen import host
from tests.drivergen.placed import nests

from axiloom import isa
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.cost.plans import BUFFERS, plans
from axiloom.drivergen.cost.products import family, product, regions
from axiloom.drivergen.cost.selection import Candidate, candidates
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.passes.lowering.place import Place
from axiloom.drivergen.problems.matmul import Problem
from axiloom.plan import Plan, Receive, figures
from axiloom.plan.blocks import Block, best
from axiloom.plan.caches import ZYNQ_7000, nest_cost

V4 = isa.builtin("v4_16")
QUEUED = isa.revise(V4, stream_width=64, dma=replace(V4.link.dma, scatter_gather=True))

BLOCKED = [
    ((80, 32, 16), Candidate("Cs", ("n", "m", "k"), (16, 16, 16)), (1, 1)),
    ((368, 208, 80), Candidate("Cs", ("n", "m", "k"), (48, 32, 80)), (1, 2)),
    ((128, 64, 224), Candidate("Ns", ("m", "n", "k"), (48, 32, 80)), (2, 1)),
    ((402, 275, 56), Candidate("As", ("k", "m", "n"), (80, 48, 32)), (1, 3)),
]


def by_the_pass(shape: tuple[int, int, int], one: Candidate) -> Block | None:
    driver = compile_mlir(
        matmul_mlir(*shape), V4, flow=one.flow, order=one.order, tile=one.tile, stop="accel"
    )
    nest = next(nest for _, nest in nests(parse(driver.stages["accel"])))
    place = Place(l2_size=ZYNQ_7000.l2_size, buffers=BUFFERS, keep=True)
    return place.block(nest.plan(), nest.dma)


def by_sizes(shape: tuple[int, int, int], one: Candidate) -> Block | None:
    plan = product(V4, one.flow, one.order, dict(zip("mnk", shape, strict=True)), family([one.tile]))
    cost = partial(nest_cost, dma=V4.link.dma, caches=ZYNQ_7000, buffers=BUFFERS, keep=True)
    return best(plan, cost)[0]


@pytest.mark.parametrize(("shape", "one", "block"), BLOCKED, ids=lambda value: str(value))
def test_the_blocks_are_those_of_the_pass(
    shape: tuple[int, int, int], one: Candidate, block: Block | None
) -> None:
    assert by_sizes(shape, one) == by_the_pass(shape, one) == block


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(402, 275, 56), (100, 300, 64), (494, 127, 38)])
def test_the_blocks_of_any_candidate(shape: tuple[int, int, int]) -> None:
    for one in random.Random(str(shape)).sample(candidates(V4, Problem(*shape)), 30):
        assert by_sizes(shape, one) == by_the_pass(shape, one), one


def test_blocks_move_tiles_by_two_loops() -> None:
    shape, one, block = BLOCKED[3]
    (plan,) = plans(V4, Problem(*shape), [one], queued=False).values()
    assert block is not None
    assert plan.trips == [2, 2, 3, 6]  # blocks of m, k, m, n
    rows, cols = regions(plan)["A"].spans
    assert dict(rows.loops) == {"m_block": 3 * 80, "m": 80}
    assert dict(cols.loops) == {"k": 32}


def test_many_tiles_at_once_are_as_each_alone() -> None:
    problem = Problem(100, 80, 64)
    some = candidates(V4, problem)[::37]
    together = plans(V4, problem, some, queued=False)
    for one in some:
        assert plans(V4, problem, [one], queued=False).get(one) == together.get(one)


@pytest.mark.parametrize("shape", [(48, 70, 33), (80, 32, 16)])
def test_the_plan_sends_what_the_driver_sends(shape: tuple[int, int, int]) -> None:
    every = candidates(V4, Problem(*shape))
    for one in random.Random(str(shape)).sample(every, 2):
        plan = plans(V4, Problem(*shape), [one], queued=False).get(one)
        if plan is None:
            continue
        _, device = host.check(
            matmul_mlir(*shape), V4, flow=one.flow, order=one.order, tile=one.tile, pipeline="copying"
        )
        moved, runs = figures(plan), 2
        assert sum(device.sent) == runs * moved.sent, one
        assert sum(device.received) == runs * moved.received, one
        assert len(device.sent) == runs * moved.packets, one
        assert max(device.sent) == moved.longest, one


@pytest.mark.parametrize(
    ("order", "results", "whole"),
    [
        (("m", "n", "k"), ACCUMULATED, False),
        (("m", "n", "k"), Results(fresh=True), True),
        (("m", "n", "k"), Results(fresh=True, bits=8), True),
        (("k", "m", "n"), Results(fresh=True), False),  # each comes back for each part of k
    ],
)
def test_how_results_get_to_their_place(order: tuple[str, ...], results: Results, whole: bool) -> None:
    flow = "Cs" if order[-1] == "k" else "As"
    problem = Problem(50, 40, 64, results=results)
    (plan,) = plans(QUEUED, problem, [Candidate(flow, order, (32, 16, 32))], queued=True).values()
    assert (result(plan).add, result(plan).in_place) == (not whole, whole)
    assert {name: [span.shift for span in region.spans] for name, region in regions(plan).items()} == {
        "A": [whole, False],
        "B": [False, whole],
        "C": [whole, whole],
    }
    words = 32 * 16 // 4 if results.bits else 32 * 16
    assert (result(plan).words, result(plan).region.bits) == (words, results.bits or 32)


def test_rows_of_no_whole_beats_are_copied() -> None:
    problem = Problem(32, 37, 64, "int32", Results(fresh=True))
    (plan,) = plans(QUEUED, problem, [Candidate("Cs", ("m", "n", "k"), (32, 16, 32))], queued=True).values()
    assert (result(plan).add, result(plan).in_place) == (False, False)


def result(plan: Plan) -> Receive:
    (move,) = (item.move for item in plan.items if isinstance(item.move, Receive))
    return move
