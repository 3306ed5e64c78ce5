"""Phases of a pipe take turns on the same operators."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.nests.lower.programs import check
from tests.nests.lower.test_lower import columns_of_tiles

from axiloom.hw.nest.circuit import Operate, Pipe
from axiloom.nests.lower import explain, summary
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule


def two_products(ni: int, nj: int, nk: int, nl: int) -> Schedule:
    """2mm of PolyBench: both products in lanes, on the same operators."""
    p, number = Builder("twomm"), "float32"
    A, B, C = p.input("A", (ni, nk), number), p.input("B", (nk, nj), number), p.input("C", (nj, nl), number)
    D, tmp = p.inout("D", (ni, nl), number), p.local("tmp", (ni, nj), number)
    alpha, beta = p.input("alpha", (), number), p.input("beta", (), number)
    with p.loop("i", 0, ni) as i, p.loop("j", 0, nj) as j, p.loop("k", 0, nk) as k:
        with p.where(k < 1):
            tmp[i, j] = 0
        tmp[i, j] += alpha * A[i, k] * B[k, j]
    with p.loop("u", 0, ni) as i, p.loop("v", 0, nl) as j, p.loop("w", 0, nj) as k:
        with p.where(k < 1):
            D[i, j] *= beta
        D[i, j] += tmp[i, k] * C[k, j]
    schedule = Schedule.of(p.program())
    for name, i, j, k in (("S1", *"ijk"), ("S3", *"uvw")):
        tiled = schedule.tile(name, i, j, 2, 2).reorder(name, f"{i}o", k, f"{j}o", f"{i}i", f"{j}i")
        schedule = tiled.unroll(name, f"{j}i").unroll(name, f"{i}i")
    return replace(schedule, shared=(frozenset({0, 1}),))


def operators(pipe: Pipe) -> Counter[str]:
    return Counter(each.operator for each in pipe.nodes if isinstance(each, Operate))


@pytest.mark.parametrize("rtl", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_both_products_of_2mm_use_the_same_multipliers(rtl: bool) -> None:
    lowered = check(two_products(3, 22, 3, 21), rtl=rtl)
    (pipe,) = lowered.circuit.pipes
    assert pipe.interval == 1
    found = operators(pipe)
    assert found["add"] == 4
    # The products, alpha times A for two rows, and D times beta in the same iterations as products.
    assert found["mul"] <= 4 + 2 + 4
    assert "4 add float32 (for 8, shared)" in explain(lowered)


def test_a_phase_that_uses_what_the_other_made_waits() -> None:
    """Without waits the second product would need the last sum of the first one at once."""
    lowered = check(two_products(2, 24, 3, 24))
    (built,) = lowered.built
    assert built.pipe.interval == 1
    assert sum(built.draft.waits.values()) < 20
    assert operators(built.pipe)["add"] == 4


def test_sharing_does_not_cost_the_interval() -> None:
    """D times beta would be one more operation before the sum."""
    lowered = check(two_products(2, 10, 3, 12))
    unshared = check(replace(two_products(2, 10, 3, 12), shared=()))
    assert lowered.circuit.pipes[0].interval <= max(each.interval for each in unshared.circuit.pipes)


@pytest.mark.parametrize("interval", [2, 3])
def test_an_interval_of_more_cycles_takes_fewer_units(interval: int) -> None:
    lowered = check(replace(columns_of_tiles(), intervals={1: interval}))
    pipe = lowered.circuit.pipes[1]
    assert pipe.interval == interval
    units = summary(lowered)["pipes"][1]["operators"]
    assert units == {"add float32": -(-4 // interval), "mul float32": -(-5 // interval)}
