"""What the cost model says of results that are added to C, written to their place, and copied there."""

from __future__ import annotations

from dataclasses import replace

from axiloom import boards, isa
from axiloom.drivergen.cost.model import Model, constants_of, rank
from axiloom.drivergen.cost.selection import Candidate
from axiloom.drivergen.nest.results import ACCUMULATED, Results
from axiloom.drivergen.problems.matmul import Problem
from axiloom.run.choice import machine

V4 = isa.builtin("v4_16", data_type="int8")
SG = isa.revise(V4, stream_width=64, dma=replace(V4.link.dma, scatter_gather=True, coherent=True))
FRESH = Results(fresh=True)


def seconds(problem: Problem, order: str = "mnk", pipeline: str = "all") -> float:
    model = Model(SG, machine(boards.load(boards.DEFAULT)), constants_of(pipeline))
    (found,) = rank(SG, problem, model, pipeline, [Candidate("Cs", tuple(order), (64, 64, 64))])
    return found.seconds


def test_what_the_dma_writes_costs_the_cpu_nothing() -> None:
    added = seconds(Problem(512, 512, 64, "int8", ACCUMULATED))
    written = seconds(Problem(512, 512, 64, "int8", FRESH))
    assert written < 0.7 * added
    start = constants_of("all").start / boards.load(boards.DEFAULT).cpu_hz
    array = 512 * 512 * 64 / SG.macs / boards.load(boards.DEFAULT).fabric_hz
    assert array < written - start < 1.15 * array


def test_rounded_results_are_a_quarter_of_the_stream() -> None:
    """64 multiply-adds a result, 256 a cycle: words take twice as long as the array, bytes half."""
    spec = isa.revise(SG, macs=256)
    model = Model(spec, machine(boards.load(boards.DEFAULT)), constants_of("all"))
    work = [
        model.work(
            model.schedule("Cs", ("m", "n", "k"), {"m": 512, "n": 512, "k": 64}, results), [(64, 64, 64)]
        )
        for results in (FRESH, Results(fresh=True, bits=8))
    ]
    assert [float(one.stream_out[0] / one.array[0]) for one in work] == [2.0, 0.5]


def test_what_is_copied_lies_between() -> None:
    """Rows of 511 words are no whole beats of 64 bits."""
    added = seconds(Problem(512, 511, 64, "int8", ACCUMULATED))
    copied = seconds(Problem(512, 511, 64, "int8", FRESH))
    assert seconds(Problem(512, 512, 64, "int8", FRESH)) < copied < added


def test_copying_drivers_are_taken_to_add() -> None:
    added, fresh = (
        seconds(Problem(512, 512, 64, "int8", results), pipeline="copying")
        for results in (ACCUMULATED, FRESH)
    )
    assert fresh == added
