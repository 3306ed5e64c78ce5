"""Which commands of an instruction are looked at."""

from __future__ import annotations

from functools import cache

import pytest

from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.prove.rtl.texts.drawn import FEWEST, MORE, MOST_STEPS, Case, Does, chosen, tried, varied
from axiloom.selection.program.program import Command


@cache
def small(name: str, **sizes: int) -> InstructionSet:
    return read(targets()[name], sizes)


def vta() -> InstructionSet:
    return small("vta", UOPS=8, INPS=8, WGTS=4, ACCS=8, DRAM=1 << 16)


def case(**fields: int) -> Case:
    return Case(Command("one", fields), {}, 0, (), ())


def fields(cases: list[Case]) -> list[dict[str, int]]:
    return [dict(one.command.fields) for one in cases]


def all_of(isa: InstructionSet, name: str, most: int) -> tuple[list[Case], int | None]:
    """Those that are tried, as if each did something."""
    cases, count = chosen(isa.instructions[name], isa, most)
    return [one for one, _ in tried(cases, lambda _: Does(1, 1), most)], count


def taken(cases: list[Case], does: list[Does], most: int) -> list[dict[str, int]]:
    return fields(varied([*zip(cases, does, strict=True)], most))


def test_all_combinations_are_counted_where_they_are_few() -> None:
    isa = small("qkv", N=8, D0=256)
    cases, count = all_of(isa, "mov", 2)
    assert count == sum((8 - n + 1) * (16 - n + 1) for n in range(9))
    assert len(cases) == 2 * MORE  # of all, evenly
    assert all(one["row"] + one["n"] <= 8 and one["out"] + one["n"] <= 16 for one in fields(cases))


def test_an_index_stays_in_its_memory() -> None:
    """Of a vector that is read and a sum that is written as the command says: their numbers of places."""
    isa = small("flexasr_units", X=2, W=16, MACS=1, DRAM=64)
    cases, count = all_of(isa, "activate", 4)
    # 11 operations; a, b, row, sums, bias
    assert count == 11 * 4 * 4 * 2 * 1 * 8
    assert {one["row"] for one in fields(cases)} <= {0, 1}


@pytest.mark.parametrize("name", ["alu", "gemm"])
def test_drawn_commands_show_each_choice_and_large_numbers(name: str) -> None:
    isa = vta()
    cases, count = all_of(isa, name, 8)
    assert count is None
    found = taken(cases, [Does(1, 1)] * len(cases), 8)
    assert len(found) == 8
    assert {one["outer"] for one in found} <= {*range(9)}  # it bounds a loop
    if name == "gemm":
        assert {one["reset"] for one in found} == {0, 1}
        assert max(one["wgt_outer"] for one in found) > 8  # more than the memories' rows: it wraps
    else:
        assert {one["op"] for one in found} == {0, 1, 2, 3, 4}
        assert {one["immediate"] for one in found} == {0, 1}
        assert {one["constant"] < 0 for one in found} == {False, True}


def test_more_are_tried_where_few_do_something() -> None:
    cases = [case(n=n) for n in range(1000)]
    most = FEWEST
    assert len(tried(iter(cases), lambda one: Does(1, one.command.fields["n"] % 2), most)) == 2 * MORE * most
    assert len(tried(iter(cases), lambda _: Does(1, 0), 1)) == MORE * FEWEST
    assert len(tried(iter(cases), lambda _: Does(MOST_STEPS + 1, 1), 1)) == MORE * FEWEST


def test_what_is_new_comes_before_what_does_more() -> None:
    """1001 is as long as 1000."""
    cases = [case(n=n, op=op) for n, op in ((1, 0), (2, 0), (2, 1), (1000, 0), (1001, 0), (0, 0))]
    does = [Does(steps, 1) for steps in (2, 3, 2, 9, 8, 1)]
    assert taken(cases, does, 3) == fields([cases[0], cases[2], cases[3]])
    assert taken(cases, does, 9) == fields(cases)


def test_what_a_memory_gets_is_something_new() -> None:
    cases = [case(n=1), case(n=2), case(n=3)]
    does = [Does(9, 1, frozenset({"acc: data"}))] * 2 + [Does(2, 1, frozenset({"acc: a number"}))]
    assert taken(cases, does, 2) == [{"n": 1}, {"n": 3}]


def test_what_does_nothing_or_takes_long_comes_last() -> None:
    cases = [case(n=0), case(n=1), case(n=2), case(n=3), case(n=4)]
    does = [Does(9, 0), Does(5, 1), Does(MOST_STEPS + 1, 1), Does(None, 0), Does(6, 1)]
    assert taken(cases, does, 2) == [{"n": 1}, {"n": 4}]
    assert {"n": 0} in taken(cases, does, 3)
    assert {"n": 2} in taken(cases, does, 4)


def test_no_commands() -> None:
    assert varied([], 3) == []
