"""Lemmas are proved with the rules, and nothing rests on one that is not."""

from __future__ import annotations

import pytest
from amaranth.hdl import Mux, Signal, Value

from axiloom.prove import abc
from axiloom.prove.bench import Bench
from axiloom.prove.verdict import Answer, Verdict

pytestmark = pytest.mark.synth


def counters() -> tuple[Bench, Value, Value]:
    """Two registers that count to 9 and begin again, as long as an input is high."""
    bench = Bench()
    up = bench.free(1, "up")
    first, second = Signal(8, name="first"), Signal(8, name="second")
    for one in (first, second):
        bench.m.d.sync += one.eq(Mux(bench.reset, 0, Mux(up, Mux(first == 9, 0, one + 1), one)))
    return bench, first, second


def prove(bench: Bench) -> dict[str, Verdict]:
    return {verdict.name: verdict for verdict, _ in abc.prove("counters", bench, limit_s=20, jobs=1)}


def test_a_rule_by_a_lemma() -> None:
    bench, first, second = counters()
    bench.check("port", "small", second < 10, "the second is below 10")  # not inductive alone
    bench.lemma("small_first", first < 10, "the first is below 10")
    bench.lemma("same", first == second, "both count the same")
    found = prove(bench)
    assert all(one.unbounded and one.solver == abc.INDUCTION for one in found.values())


def test_a_lemma_that_is_not_so() -> None:
    bench, first, second = counters()
    bench.lemma("never", first != 7, "the first is never 7")
    bench.check("port", "seven", second != 7, "nor is the second")
    bench.check("port", "same", first == second, "both count the same")
    found = prove(bench)
    assert (found["never"].answer, found["never"].bound) == (Answer.VIOLATED, 7)
    assert (found["seven"].answer, found["seven"].bound) == (Answer.VIOLATED, 7)
    assert found["same"].unbounded
    assert found["same"].solver != abc.INDUCTION


def test_what_rests_on_a_lemma_that_is_not_so_is_open() -> None:
    bench, first, second = counters()
    bench.lemma("never", first != 7, "the first is never 7")
    bench.lemma("same", first == second, "both count the same")
    found = prove(bench)
    assert found["same"].answer is Answer.OPEN
    assert "rests on never" in found["same"].solver


def test_a_lemma_of_each() -> None:
    bench, first, _ = counters()
    rows = [Signal(8, name=f"row{i}") for i in range(4)]
    for i, row in enumerate(rows):
        with bench.m.If(first[:2] == i):
            bench.m.d.sync += row.eq(first)
    bench.lemma("small", first < 10, "what is written is below 10")

    def below(which: Value) -> Value:
        return Mux(which[1], Mux(which[0], rows[3], rows[2]), Mux(which[0], rows[1], rows[0])) < 10

    bench.lemma_of_any("rows", 2, below, "each row is below 10", [first[:2]])
    bench.check("port", "shown", below(first[:2]), "so is the one that is shown")
    assert all(one.unbounded for one in prove(bench).values())
