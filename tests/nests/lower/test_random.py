"""Random programs under random schedules and plans: what circuits compute is what programs compute."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nests.dataflow.programs import chains, schedules
from tests.nests.lower import fuzz
from tests.nests.lower.programs import check, interpret, random_values, raw, run

from axiloom.nests import timing
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.lower.iteration import guards
from axiloom.nests.lower.slots import carried
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.execute import ExecutionError


def random_schedule(seed: int) -> Schedule | None:
    rng = Random(seed)
    program = fuzz.program(rng)
    return fuzz.schedule(rng, program) if program.statements else None


@pytest.mark.parametrize("seed", range(30))
def test_random_schedules(seed: int) -> None:
    schedule = random_schedule(seed)
    if schedule is not None:
        check(schedule, seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_more_random_schedules(start: int) -> None:
    for seed in range(start, start + 100):
        schedule = random_schedule(seed)
        if schedule is not None:
            check(schedule, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2010))
def test_random_schedules_in_rtl(seed: int) -> None:
    schedule = random_schedule(seed)
    if schedule is not None:
        check(schedule, seed, rtl=True)


def under_a_plan(schedule: Schedule, seed: int) -> None:
    program = schedule.program
    lowered = lower(schedule, plan(schedule))
    values = random_values(program, seed)
    wanted = interpret(program, values)
    found, done = run(lowered, program, values)
    for name, array in found.items():
        np.testing.assert_array_equal(raw(array), raw(wanted[name]), name)
    assert timing.cycles(lowered.circuit).cycles == done.cycles


@given(chains(), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_fifos(schedule: Schedule, seed: int) -> None:
    under_a_plan(schedule, seed)


@given(schedules(), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_tokens(schedule: Schedule, seed: int) -> None:
    under_a_plan(schedule, seed)


# --- what these tests would catch --------------------------------------------------------------------


def caught(seeds: range) -> int:
    """How many of the schedules fail."""
    failed = 0
    for seed in seeds:
        schedule = random_schedule(seed)
        try:
            if schedule is not None:
                check(schedule, seed)
        except (AssertionError, ExecutionError):
            failed += 1
    return failed


def test_a_distance_that_is_too_large_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true = carried.Carried.distance
    monkeypatch.setattr(
        carried.Carried, "distance", lambda *args: None if true(*args) is None else true(*args) + 3
    )
    assert caught(range(30))


def test_guards_that_are_left_out_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true = guards.Guards.simple
    monkeypatch.setattr(guards.Guards, "simple", lambda self, when: None if true(self, when) is None else ())
    assert caught(range(30))


def test_isl_finds_the_distances_that_enumeration_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for seed in range(30):
        schedule = random_schedule(seed)
        if schedule is None:
            continue
        enumerated = lower(schedule)
        monkeypatch.setattr(carried, "MOST_POINTS", 0)
        by_isl = lower(schedule)
        monkeypatch.undo()
        for one, other in zip(enumerated.built, by_isl.built, strict=True):
            rectangular = all(
                len(each) == 1 and each[0].value.is_constant
                for x in one.pipe.counters
                for each in (x.lower, x.upper)
            )
            if rectangular and one.pipe.counters == other.pipe.counters:
                assert one.dependences == other.dependences
                compared += 1
    assert compared > 10
