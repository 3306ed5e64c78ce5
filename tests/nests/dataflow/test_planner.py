"""Whatever a plan allows computes what the program computes; and plans are as fine as they can be."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.nests.dataflow.programs import random_schedule, run, sequential

from axiloom.base.errors import CompileError
from axiloom.nests.dataflow import Plan, decide, plan
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.plan import Readers

NUMBER = "int32"


def all_orders_compute_the_same(schedule: Schedule, found: Plan, seed: int) -> None:
    expected = sequential(schedule)
    dice = random.Random(seed)
    for choose in (max, min, dice.choice):  # the last nest as early as it can, the first one, any
        assert run(schedule, found, choose) == expected


@given(st.integers(0, 1 << 32), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_any_order_a_plan_allows_computes_the_same(number: int, seed: int) -> None:
    schedule = random_schedule(number)
    found = plan(schedule)
    event(f"{min(4, len(found.orders))} orders, {len(found.streams)} FIFOs")
    all_orders_compute_the_same(schedule, found, seed)


def two_products(order: str = "ijk", rows: int = 5) -> Schedule:
    """tmp = A * B; D += tmp * C, the second in the order of loops `order`."""
    p = Builder("two")
    A, B, C = (p.input(*each, NUMBER) for each in (("A", (rows, 7)), ("B", (7, 6)), ("C", (6, 8))))
    tmp, D = p.local("tmp", (rows, 6), NUMBER), p.inout("D", (rows, 8), NUMBER)
    with p.loop("i", 0, rows) as i, p.loop("j", 0, 6) as j:
        tmp[i, j] = 0
        with p.loop("k", 0, 7) as k:
            tmp[i, j] += A[i, k] * B[k, j]
    with p.loop("i", 0, rows) as i, p.loop("j", 0, 8) as j, p.loop("k", 0, 6) as k:
        D[i, j] += tmp[i, k] * C[k, j]
    return Schedule.of(p.program()).reorder("S2", *order)


def shown(found: Plan) -> list[str]:
    text = [
        f"{s.array}: {[str(f) for f in s.push.when]} -> {[str(f) for f in s.pop.when]}"
        for s in found.streams
        if s.push and s.pop
    ]
    return text + [
        f"{o.name}: {[str(f) for f in o.after.when]} -> {[str(f) for f in o.before.when]}"
        for o in found.orders
    ]


def test_where_orders_agree_an_entry_is_popped_once_and_held() -> None:
    found = decide(two_products("ikj"))
    assert shown(found.plan) == ["tmp: ['-k + 6', 'k - 6'] -> ['-j', 'j']"]
    assert found.plan.streams[0].depth == 30
    assert found.plan.readers == ()
    all_orders_compute_the_same(two_products("ikj"), found.plan, 1)


def test_where_they_do_not_each_first_use_waits_for_the_last_write() -> None:
    found = decide(two_products("ijk"))
    assert "S1_S2: ['-k + 6', 'k - 6'] -> ['-j', 'j']" in shown(found.plan)
    assert found.plan.readers == (Readers("tmp", ((0, 0), (1, 1))),)
    (note,) = found.notes
    assert (note.kind, note.array) == ("tokens", "tmp")
    assert note.why == ("S2 needs what S1 writes at (i=0, j=0, k=6) after what it writes at (i=0, j=1, k=6)")


def test_a_stream_that_is_asked_for_and_cannot_be_is_refused() -> None:
    asked = replace(two_products("ijk"), streams=frozenset(["tmp"]))
    with pytest.raises(CompileError, match="array tmp cannot be a stream: S2 needs what S1 writes at"):
        plan(asked)


@pytest.mark.parametrize("order", ["ijk", "ikj", "kij"])
def test_a_plan_without_one_of_its_tokens_computes_something_else(order: str) -> None:
    schedule = two_products(order)
    found = plan(schedule)
    without = [
        replace(found, orders=tuple(each for each in found.orders if each.name != gone.name))
        for gone in found.orders
        if gone.after.statement == "S1"
    ]
    assert without or found.streams
    for each in without:
        assert run(schedule, each, max) != sequential(schedule)


def test_an_array_that_is_overwritten_waits_for_its_readers() -> None:
    p = Builder("war")
    X, Y = p.inout("X", (8,), NUMBER), p.output("Y", (8,), NUMBER)
    with p.loop("i", 0, 8) as i:
        Y.set((i,), X[7 - i], "R")
    with p.loop("i", 0, 8) as i:
        X.set((i,), 3, "W")
    schedule = Schedule.of(p.program())
    found = plan(schedule)
    assert shown(found) == ["R_W: ['-i + 7', 'i - 7'] -> ['-i', 'i']"]  # X[0] is read last, and written first
    all_orders_compute_the_same(schedule, found, 1)


def test_a_stencil_waits_for_the_row_below_as_long_as_there_is_one() -> None:
    p = Builder("stencil")
    X, Y = p.local("X", (8, 8), NUMBER), p.output("Y", (8, 8), NUMBER)
    with p.loop("i", 0, 8) as i, p.loop("j", 0, 8) as j:
        X.set((i, j), 1, "P")
    with p.loop("i", 1, 7) as i, p.loop("j", 0, 8) as j:
        Y.set((i, j), X[i - 1, j] + X[i + 1, j], "C")
    schedule = Schedule.of(p.program())
    found = plan(schedule)
    assert shown(found) == ["P_C: ['i - 2'] -> []"]
    assert found.orders[0].depth == 48
    all_orders_compute_the_same(schedule, found, 1)
