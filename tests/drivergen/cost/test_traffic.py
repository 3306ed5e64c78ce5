"""What the cost model says is moved, against what drivers move and the passes decide."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from tests.drivergen import host
from tests.drivergen.placed import nests
from tests.some import some

from axiloom import isa
from axiloom.drivergen import compile_mlir, matmul_mlir
from axiloom.drivergen.cost.model import BUFFERS
from axiloom.drivergen.cost.selection import (
    Candidate,
    candidates,
    published_words,
    reads_in_place,
    tiles,
)
from axiloom.drivergen.cost.traffic import Schedule, Traffic, traffic
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Packets, Plan
from axiloom.plan.packets import choices, choose, cost, packed

PACKETS = "residency,coalesce,keep-packed,double-buffer,specialise-copies"
"""`copying` without the pass that puts the loops into another order, which would be another candidate."""
SHAPES = ((48, 70, 33), (64, 32, 48), (96, 17, 160))
SOME = [
    (name, shape, pipeline)
    for name in ("v1_8", "v2_8", "v3_8", "v4_16")
    for shape in SHAPES[: 1 if name != "v4_16" else None]
    for pipeline in ("published", "coalesced", PACKETS)
]


@cache
def choices_of(name: str, shape: tuple[int, int, int], count: int) -> list[Candidate]:
    every = candidates(isa.builtin(name), Problem(*shape))
    return random.Random(f"{name} {shape}").sample(every, min(count, len(every)))


def schedule(spec: AcceleratorSpec, one: Candidate, shape: tuple[int, int, int], pipeline: str) -> Schedule:
    residency = pipeline == PACKETS
    return Schedule(spec, one.flow, one.order, dict(zip("mnk", shape, strict=True)), residency)


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "shape", "pipeline"), some(SOME, 2))
def test_words_and_transfers_of_drivers(name: str, shape: tuple[int, int, int], pipeline: str) -> None:
    spec = isa.builtin(name)
    for one in choices_of(name, shape, 3):
        _, device = host.check(
            matmul_mlir(*shape), spec, flow=one.flow, order=one.order, tile=one.tile, pipeline=pipeline
        )
        plan = schedule(spec, one, shape, pipeline)
        moved = traffic(spec, plan.family([one.tile]), coalesced=pipeline != "published")
        transfers = moved.transfers_in
        packets = packets_of(spec, plan.plan(one.tile)) if pipeline == PACKETS else None
        if packets:
            transfers = packets.number(plan.plan(one.tile).trips) + len(spec.init_opcodes)
        runs = 2
        assert sum(device.sent) == runs * moved.words_in, one
        assert sum(device.received) == runs * moved.words_out, one
        assert len(device.sent) == runs * transfers, one
        assert len(device.received) == runs * moved.transfers_out, one


def packets_of(spec: AcceleratorSpec, plan: Plan) -> Packets | None:
    return choose(plan, spec.link.dma, buffers=BUFFERS, keep=True)


def placed(spec: AcceleratorSpec, one: Candidate, shape: tuple[int, int, int]) -> Plan:
    driver = compile_mlir(
        matmul_mlir(*shape),
        spec,
        flow=one.flow,
        order=one.order,
        tile=one.tile,
        pipeline="residency",
        stop="accel",
    )
    return next(nest.plan() for _, nest in nests(parse(driver.stages["accel"])))


@pytest.mark.every(3)
@pytest.mark.parametrize("window", [1 << 16, 1 << 14])
@pytest.mark.parametrize("shape", [(48, 70, 33), (256, 64, 100)])
def test_a_plan_from_sizes_is_that_of_placed_transfers(shape: tuple[int, int, int], window: int) -> None:
    """The packets of a family, too, are those that the pass makes of each of its drivers."""
    spec = isa.builtin("v4_16")
    spec = spec.replace(dma=replace(spec.link.dma, input_buffer_size=window))
    for one in choices_of("v4_16", shape, 12):
        if isa.check_tile(spec, one.tile):
            continue
        theirs, ours = placed(spec, one, shape), schedule(spec, one, shape, PACKETS).plan(one.tile)
        assert ours.trips == theirs.trips, one
        assert words(ours) == words(theirs), one
        packets = packets_of(spec, theirs)
        family = schedule(spec, one, shape, PACKETS).family([one.tile])
        ((_, together),) = choices(family, spec.link.dma, buffers=BUFFERS, keep=True)
        assert (together and together[0]) == packets == packets_of(spec, ours), one
        if packets:
            assert packed(ours, packets, keep=True) == packed(theirs, packets, keep=True), one
            assert cost(ours, packets, keep=True) == cost(theirs, packets, keep=True), one


def words(plan: Plan) -> Counter[tuple[int, bool, bool, frozenset[int]]]:
    """Of moves at the same place that change with the same loops together."""
    found: Counter[tuple[int, bool, bool, frozenset[int]]] = Counter()
    for item in plan.items:
        found[item.level, item.behind, item.is_sent, item.moved] += item.move.words
    return found


def test_many_tiles_at_once_are_as_each_alone() -> None:
    spec, problem = isa.builtin("v4_16"), Problem(100, 80, 64)
    plan = Schedule(spec, "Cs", ("n", "m", "k"), {"m": 100, "n": 80, "k": 64}, residency=True)
    every = tiles(spec, problem)
    together = traffic(spec, plan.family(every), coalesced=True)
    for number, tile in enumerate(every):
        alone = traffic(spec, plan.family([tile]), coalesced=True)
        assert together.words_in[number] == alone.words_in[0]
        assert together.transfers_in[number] == alone.transfers_in[0]
        assert together.sends[0].lines[number] == alone.sends[0].lines[0]


def test_the_papers_formulas_count_the_words_of_the_matrices() -> None:
    """Ours without heads and with C once are theirs: all counts of a dividing tile."""
    spec, shape = isa.builtin("v4_16"), (96, 64, 128)
    sizes = dict(zip("mnk", shape, strict=True))
    for flow in ("As", "Bs", "Cs"):
        for tile in tiles(spec, Problem(*shape), dividing=True):
            order = isa.loop_orders(spec, flow)[0]
            every = traffic(spec, Schedule(spec, flow, order, sizes).family([tile]))
            moved = sum(copies.words[0] for copies in (*every.sends, *every.receives, *every.receives))
            assert moved == published_words(flow, sizes, dict(zip("mnk", tile, strict=True)))


@pytest.mark.every(3)
@pytest.mark.parametrize("shape", [(48, 70, 33), (26, 39, 75), (64, 48, 32), (96, 122, 44)])
def test_what_is_read_in_place(shape: tuple[int, int, int]) -> None:
    """`all` leaves nothing to the queue that it could not read where it is: then it is `copying`."""
    spec, problem = isa.builtin("v4_16"), Problem(*shape)
    spec = isa.revise(spec, stream_width=64, dma=replace(spec.link.dma, scatter_gather=True))
    for one in choices_of("v4_16", shape, 4):
        text = compile_mlir(
            matmul_mlir(*shape), spec, flow=one.flow, order=one.order, tile=one.tile, pipeline="all"
        ).c
        assert ("axiloom_sg.h" in text) == reads_in_place(spec, problem, one.tile), one


def test_fresh_results_leave_no_edges() -> None:
    """A tile over an edge begins earlier: only k is padded. Rounded results are a quarter."""
    spec = isa.builtin("v4_16")
    sizes = {"m": 50, "n": 40, "k": 20}
    cut = [(32, 16, 32), (64, 16, 32)]

    def moved(results: Results) -> Traffic:
        return traffic(spec, Schedule(spec, "Cs", ("m", "n", "k"), sizes, results=results).family(cut))

    added, fresh, rounded = (
        moved(one) for one in (ACCUMULATED, Results(fresh=True), Results(fresh=True, bits=8))
    )
    assert list(added.words_in) == list(fresh.words_in)  # whole tiles travel all the same
    assert list(rounded.words_out) == [words / 4 for words in added.words_out]
    (c, whole) = added.receives[0], fresh.receives[0]
    assert c.edge.all()
    assert not c.once.any()
    assert whole.once.all()
    assert list(whole.edge) == [0, 50 * 40]  # 64 rows are more than there are: nothing to begin earlier on
    a = fresh.sends[0]
    assert a.padding[0] == pytest.approx(2 * 3 * 32 * (32 - 20))
    assert added.sends[0].padding[0] > a.padding[0]
