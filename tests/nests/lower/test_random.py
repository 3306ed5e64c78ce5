"""Random programs under random schedules and plans: what circuits compute is what programs compute."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from tests.nests.fuzz import legality, programs
from tests.nests.fuzz.run import one, run

from axiloom.base.errors import CompileError
from axiloom.nests.lower import lower
from axiloom.nests.lower.iteration import guards, numbers
from axiloom.nests.lower.slots import carried
from axiloom.nests.timing import DeadlockError
from axiloom.nests.timing.execute import ExecutionError

SEED = 11


def test_random_schedules() -> None:
    counts = run(range(40), SEED)
    assert counts["circuits"] + counts["circuits of several pipes"] > 30
    assert counts["circuits with FIFOs of data"]


@pytest.mark.slow
def test_more_random_schedules() -> None:
    run(range(1000, 1120), SEED)


@pytest.mark.slow
def test_random_schedules_in_rtl() -> None:
    assert run(range(3000, 3025), SEED, in_rtl=16)["in RTL"] == 16


@pytest.mark.parametrize(("seed", "number"), [(2, 126), (1000, 576)])
def test_statements_that_are_never_executed(seed: int, number: int) -> None:
    """Unrolled, and in a plan."""
    one(seed, number, Counter())


# --- what these tests would catch --------------------------------------------------------------------


def caught() -> int:
    """How many of the schedules fail."""
    failed = 0
    for number in range(40):
        try:
            one(SEED, number, Counter())
        except (AssertionError, ExecutionError, DeadlockError):
            failed += 1
    return failed


@pytest.mark.slow
def test_a_distance_that_is_too_large_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true = carried.Carried.distance
    monkeypatch.setattr(
        carried.Carried, "distance", lambda *args: None if true(*args) is None else true(*args) + 3
    )
    assert caught()


@pytest.mark.slow
def test_guards_that_are_left_out_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true = guards.Guards.simple
    monkeypatch.setattr(guards.Guards, "simple", lambda self, when: None if true(self, when) is None else ())
    assert caught()


@pytest.mark.slow
def test_isl_finds_the_distances_that_enumeration_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for number in range(30):
        rng = Random(f"{SEED}/{number}")
        schedule = legality.check(rng, programs.program(rng), Counter())
        try:
            enumerated = lower(schedule)
        except CompileError:
            continue
        monkeypatch.setattr(carried, "MOST_POINTS", 0)
        by_isl = lower(schedule)
        monkeypatch.undo()
        for one_way, other in zip(enumerated.built, by_isl.built, strict=True):
            rectangular = all(
                len(each) == 1 and each[0].value.is_constant
                for x in one_way.pipe.counters
                for each in (x.lower, x.upper)
            )
            if rectangular and one_way.pipe.counters == other.pipe.counters:
                assert one_way.dependences == other.dependences
                compared += 1
    assert compared > 10


def test_literals_of_fixed_point_are_in_units() -> None:
    assert numbers.literal(5, "fixed<16,8>") == 5
    assert numbers.literal(-1, "fixed<12,5>") == 0xFFF
