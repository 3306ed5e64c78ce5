"""Phases of a pipe take turns on the same operators."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.nests.lower.programs import Maker, box, check, reorder, split, unroll
from tests.nests.lower.test_lower import gemm

from axiloom.hw.nest.circuit import Operate, Pipe
from axiloom.nests.lower import explain, summary
from axiloom.nests.program import Program, Role
from axiloom.nests.schedule import Schedule


def two_products(ni: int, nj: int, nk: int, nl: int, number: str) -> Program:
    """2mm of PolyBench."""
    maker = Maker(
        "twomm", number,
        A=((ni, nk), Role.IN), B=((nk, nj), Role.IN), C=((nj, nl), Role.IN), D=((ni, nl), Role.INOUT),
        tmp=((ni, nj), Role.LOCAL), alpha=((), Role.IN), beta=((), Role.IN),
    )  # fmt: skip
    at, op = maker.at, maker.op
    tmp, d = at("tmp", "i", "j"), at("D", "i", "j")
    first, second = box(i=(0, ni), j=(0, nj)), box(i=(0, ni), j=(0, nl))
    loops = ("i", "j", "k")
    product = op("mul", op("mul", at("alpha"), at("A", "i", "k")), at("B", "k", "j"))
    maker.add((0, 0, 0, 0), (*first, *box(k=(0, 1))), tmp, maker.lit(0), *loops)
    maker.add((0, 0, 0, 1), (*first, *box(k=(0, nk))), tmp, op("add", tmp, product), *loops)
    product = op("mul", at("tmp", "i", "k"), at("C", "k", "j"))
    maker.add((1, 0, 0, 0), (*second, *box(k=(0, 1))), d, op("mul", d, at("beta")), *loops)
    maker.add((1, 0, 0, 1), (*second, *box(k=(0, nj))), d, op("add", d, product), *loops)
    return maker.done()


def in_lanes(program: Program, rows: int, columns: int) -> Schedule:
    schedule = Schedule.of(program)
    for name in ("S0", "S1", "S2", "S3"):
        schedule = split(split(schedule, name, "i", rows), name, "j", columns)
        schedule = reorder(schedule, name, "i1", "k", "j1", "i0", "j0")
    return replace(unroll(schedule, "i0", "j0"), shared=(frozenset({0, 1}),))


def operators(pipe: Pipe) -> Counter[str]:
    return Counter(each.operator for each in pipe.nodes if isinstance(each, Operate))


@pytest.mark.parametrize("rtl", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_both_products_of_2mm_use_the_same_multipliers(rtl: bool) -> None:
    lowered = check(in_lanes(two_products(3, 22, 3, 21, "float32"), 2, 2), rtl=rtl)
    (pipe,) = lowered.circuit.pipes
    assert pipe.interval == 1
    found = operators(pipe)
    assert found["add"] == 4
    # The products, alpha times A for two rows, and D times beta in the same iterations as products.
    assert found["mul"] <= 4 + 2 + 4
    assert "4 add float32 (for 8, shared)" in explain(lowered)


def test_a_phase_that_uses_what_the_other_made_waits() -> None:
    """Without waits the second product would need the last sum of the first one at once."""
    lowered = check(in_lanes(two_products(2, 24, 3, 24, "float32"), 2, 2))
    (built,) = lowered.built
    assert built.pipe.interval == 1
    assert sum(built.draft.waits.values()) < 20
    assert operators(built.pipe)["add"] == 4


def test_sharing_does_not_cost_the_interval() -> None:
    """D times beta would be one more operation before the sum."""
    lowered = check(in_lanes(two_products(2, 10, 3, 12, "float32"), 2, 2))
    unshared = check(replace(in_lanes(two_products(2, 10, 3, 12, "float32"), 2, 2), shared=()))
    assert lowered.circuit.pipes[0].interval <= max(each.interval for each in unshared.circuit.pipes)


@pytest.mark.parametrize("interval", [2, 3])
def test_an_interval_of_more_cycles_takes_fewer_units(interval: int) -> None:
    schedule = Schedule.of(gemm(3, 27, 4, "float32"))
    schedule = reorder(split(schedule, "S1", "j", 4), "S1", "i", "k", "j1", "j0")
    schedule = reorder(split(schedule, "S0", "j", 4), "S0", "i", "j1", "j0")
    lowered = check(replace(unroll(schedule, "j0"), intervals={1: interval}))
    pipe = lowered.circuit.pipes[1]
    assert pipe.interval == interval
    units = summary(lowered)["pipes"][1]["operators"]
    assert units == {"add float32": -(-4 // interval), "mul float32": -(-5 // interval)}
