"""The replay of planned drivers against simulations of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.some import slow

from axiloom import boards, isa
from axiloom.cosim.replay import COSTS, PARTS, Estimate, Replay
from axiloom.cosim.system import System
from axiloom.drivergen.cost.plans import plans
from axiloom.drivergen.cost.replay_costs import costs_of, kind_of
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.plan import Plan, Queue
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import simulate as simulated
from axiloom.sweep.points import point, simulate

V4 = isa.builtin("v4_16")
SG = isa.revise(V4, stream_width=64, dma=replace(V4.link.dma, scatter_gather=True))
BOARD = boards.load(boards.DEFAULT)


def planned(spec: AcceleratorSpec, shape: tuple[int, int, int], one: Candidate, *, queued: bool) -> Plan:
    return plans(spec, Problem(*shape), [one], queued=queued)[one]


def test_the_parts_are_the_whole() -> None:
    plan = planned(V4, (64, 48, 80), Candidate("Cs", ("m", "n", "k"), (32, 48, 16)), queued=False)
    found = Replay(V4, BOARD, costs_of("packets")).run(plan)
    assert list(found.counts) == list(COSTS)
    assert list(found.parts) == list(PARTS)
    assert sum(found.parts.values()) == pytest.approx(found.cycles)
    assert found == Replay(V4, BOARD, costs_of("packets")).run(plan)


def test_what_is_counted() -> None:
    """Two tiles of C, five packets each: A of the first ones stays, B does not."""
    plan = planned(V4, (32, 96, 80), Candidate("Cs", ("m", "n", "k"), (32, 48, 16)), queued=False)
    counts = Replay(V4, BOARD, {}).run(plan).counts
    assert counts["take"] == 2
    assert counts["put"] == 5 + 2 * 5
    assert counts["put_row"] == 5 * 32 + 10 * 16
    assert counts["add_row"] == 2 * 32
    assert counts["edge"] == counts["get"] == 0


def test_what_is_counted_at_an_edge() -> None:
    """A tile of 19 x 36 x 10 in 32 x 48 x 16: rows in chunks of 32 bytes, of 16, and up to the end."""
    plan = planned(V4, (19, 36, 10), Candidate("Cs", ("m", "n", "k"), (32, 48, 16)), queued=False)
    counts = Replay(V4, BOARD, {}).run(plan).counts
    assert counts["put"] == 0
    assert counts["edge"] == 2
    assert counts["edge_row"] == 19 + 10
    assert counts["edge_chunk"] == 19 * (1 + 0 + 1) + 10 * (4 + 1 + 0)  # 40 bytes of A, 144 of B
    assert counts["edge_zero"] == 32 * 16 * 4 / 16 + 16 * 48 * 4 / 16  # all of both tiles
    assert (counts["get_chunk"], counts["get_quad"], counts["get_rest"]) == (19 * 4, 19, 0)


def test_fresh_results_cost_less_than_added_ones() -> None:
    """The DMA writes them where the CPU would add them; without whole beats the CPU copies them."""
    one = Candidate("Cs", ("m", "n", "k"), (32, 48, 16))

    def run(columns: int, results: Results) -> Estimate:
        problem = Problem(64, columns, 80, results=results)
        (plan,) = plans(SG, problem, [one], queued=True).values()
        return Replay(SG, BOARD, costs_of("queue")).run(plan)

    fresh = Results(fresh=True)
    written, added = run(96, fresh), run(96, ACCUMULATED)
    assert written.counts["add"] == 0
    assert written.cycles < 0.9 * added.cycles
    copied, beside = run(95, fresh), run(95, ACCUMULATED)
    assert copied.counts["add"] == 4
    assert copied.counts["get"] == 0  # a tile over the edge begins earlier
    assert beside.counts["get"] == 2
    assert copied.cycles < beside.cycles


def test_the_place_of_a_tile_is_brought_while_the_cpu_waits() -> None:
    """192 lines of C: once while it waits, once with each row that is added, as is each of the tile's own."""
    plan = planned(SG, (48, 32, 16), Candidate("As", ("m", "k", "n"), (48, 32, 16)), queued=True)
    assert Replay(SG, BOARD, costs_of("queue")).run(plan).counts["prefetch"] == 3 * 192
    large = planned(SG, (80, 64, 16), Candidate("As", ("m", "k", "n"), (80, 64, 16)), queued=True)
    assert (
        Replay(SG, BOARD, costs_of("queue")).run(large).counts["prefetch"] == 2 * 80 * 8
    )  # half of L1 at most


def test_a_coherent_port_has_costs_of_its_own() -> None:
    plain, coherent = costs_of("queue"), costs_of("queue", coherent=True)
    assert plain.keys() <= coherent.keys()
    assert coherent["start"] < plain["start"]
    assert coherent["add_chunk"] == plain["add_chunk"]


def test_costs_are_paid_for_what_is_counted() -> None:
    plan = planned(V4, (64, 48, 80), Candidate("As", ("m", "k", "n"), (32, 48, 16)), queued=False)
    free, dear = Replay(V4, BOARD, {}).run(plan), Replay(V4, BOARD, {"put_row": 1000.0}).run(plan)
    assert free.counts | {"look": 0} == dear.counts | {"look": 0}  # it looks less often where it waits less
    paid = 1000 * free.counts["put_row"]
    assert dear.parts["puts"] == pytest.approx(free.parts["puts"] + paid, rel=0.05)
    assert free.cycles < dear.cycles < free.cycles + 1.2 * paid


QUEUED = planned(SG, (64, 48, 64), Candidate("Cs", ("m", "n", "k"), (32, 48, 32)), queued=True)
PACKED = planned(V4, (64, 48, 64), Candidate("As", ("m", "k", "n"), (32, 48, 32)), queued=False)


@pytest.mark.parametrize(("spec", "kind", "plan"), [(SG, "queue", QUEUED), (V4, "packets", PACKED)])
def test_later_calls_do_the_same_with_warm_caches(spec: AcceleratorSpec, kind: str, plan: Plan) -> None:
    costs = costs_of(kind)
    replay = Replay(spec, BOARD, costs)
    one, three, ten = (replay.run(plan, calls) for calls in (1, 3, 10))
    assert three.returned[0] == one.returned[0]
    first = one.returned[0] - costs["start"]
    assert 0.4 * first < three.later < 0.99 * first
    waits = {"look", "arm"}  # the CPU looks as often as it is early
    moved = {name: count for name, count in one.counts.items() if name not in {"start", *waits}}
    assert {name: three.counts[name] / 3 for name in moved} == moved
    assert three.counts["start"] == 1
    assert ten.cycles == pytest.approx(three.cycles + 7 * three.later)


def test_a_later_call_with_arrays_beyond_the_cache_takes_as_long() -> None:
    plan = planned(SG, (512, 256, 256), Candidate("Cs", ("m", "n", "k"), (64, 64, 64)), queued=True)
    costs = costs_of("queue")
    two = Replay(SG, BOARD, costs).run(plan, 2)
    assert two.returned == Replay(SG, BOARD, costs).run(plan).returned
    assert two.later == two.returned[0] - costs["start"]


@pytest.mark.parametrize("tabled", [False, True])
def test_without_opcodes_the_last_tile_begins_the_compute(tabled: bool) -> None:
    """v1 sends no word that a compute could come with: a table was read beyond its end."""
    v1 = isa.builtin("v1_4")
    v1 = isa.revise(v1, dma=replace(v1.link.dma, scatter_gather=True))
    cycles = []
    for spec in (v1, isa.revise(v1, macs=1)):
        plan = planned(spec, (8, 8, 8), Candidate("Ns", ("m", "n", "k"), (4, 4, 4)), queued=True)
        sent = plan.transport
        assert isinstance(sent, Queue)
        either = Plan((Queue(sent.body, tabled),))
        cycles.append(Replay(spec, BOARD, costs_of("queue")).run(either).cycles)
    assert 0 < cycles[0] < cycles[1]


def test_a_small_l2_costs_time() -> None:
    plan = planned(V4, (128, 128, 128), Candidate("Ns", ("m", "n", "k"), (32, 32, 32)), queued=False)
    small = replace(BOARD, caches=replace(BOARD.caches, l2_size=32 << 10))
    costs = costs_of("packets")
    assert Replay(V4, small, costs).run(plan).cycles > 1.05 * Replay(V4, BOARD, costs).run(plan).cycles


RUNS = [
    (V4, (48, 100, 64), Candidate("Cs", ("m", "n", "k"), (48, 48, 32)), False),
    (SG, (48, 96, 64), Candidate("As", ("k", "m", "n"), (48, 16, 64)), True),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "shape", "one", "queued"), [slow(*RUNS[0]), RUNS[1]], ids=["packets", "queue"]
)
def test_a_simulation_takes_as_long(
    spec: AcceleratorSpec, shape: tuple[int, int, int], one: Candidate, queued: bool
) -> None:
    pipeline = "all" if queued else "copying"
    text = f"matmul:{shape[0]}x{shape[1]}x{shape[2]}"
    (report,) = simulate(
        [point(text, spec, flow=one.flow, order=one.order, tile=one.tile, pipeline=pipeline)]
    )
    found = Replay(spec, BOARD, costs_of(kind_of(spec, queued))).run(planned(spec, shape, one, queued=queued))
    assert found.cycles == pytest.approx(report["counters"]["cpu-cycles"], rel=0.05)
    assert found.counts["take"] == report["fabric"]["transfers_out"]


@pytest.mark.slow
def test_later_calls_of_a_simulation_take_as_long() -> None:
    one = Candidate("Cs", ("m", "n", "k"), (32, 48, 32))
    schedule = Schedule(one.flow, one.order, one.tile, "all")
    run = ProblemRun(Workload.of("matmul:64x48x64"), System(SG), schedule, calls=3)
    calls = run.checked(simulated(run))["limit"]["calls"]
    found = Replay(SG, BOARD, costs_of("queue")).run(QUEUED, 3)
    ratio = BOARD.cpu_hz / BOARD.fabric_hz
    assert found.later / ratio == pytest.approx(calls[2], rel=0.1)
