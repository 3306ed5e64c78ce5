"""Plans for attention and for random problems, by an independent replay; refusals by trying all orders."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.selection.allocate.judge import cheapest, faults, problems
from tests.selection.allocate.qkv import attentions

from axiloom.selection.allocate import Plan, Problem, Refusal, allocate


@pytest.mark.parametrize(("depth", "steps"), [(1, 9), (2, 16), (3, 23), (8, 58)])
def test_attentions(depth: int, steps: int) -> None:
    problem = attentions(depth)
    plan = allocate(problem)
    assert isinstance(plan, Plan)
    assert faults(problem, plan.steps) == []
    assert len(plan.steps) == steps


def test_two_attentions_do_not_fit_without_loading_again() -> None:
    refusal = allocate(attentions(2, again=False))
    assert isinstance(refusal, Refusal)
    assert refusal.proved
    assert refusal.reason.startswith("in any order d1 needs 192 rows and has 128: ")


def test_one_attention_needs_no_second_load() -> None:
    assert isinstance(allocate(attentions(1, again=False)), Plan)


@given(problem=problems(most=20))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_plan_passes_the_replay(problem: Problem) -> None:
    outcome = allocate(problem)
    if isinstance(outcome, Plan):
        assert faults(problem, outcome.steps) == []
        assert outcome.cycles >= outcome.bound
    else:
        assert outcome.reason


@given(problem=problems(most=4))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_bounds_and_refusals_are_right(problem: Problem) -> None:
    outcome, best = allocate(problem), cheapest(problem)
    if isinstance(outcome, Plan):
        assert best is not None
        assert outcome.bound <= best <= outcome.cycles
    else:
        assert best is None or not outcome.proved


def test_mutants_of_a_plan_are_caught() -> None:
    problem = attentions(2)
    plan = allocate(problem)
    assert isinstance(plan, Plan)
    for number, execution in enumerate(plan.steps):
        for name, at in execution.addresses.items():
            moved = replace(execution, addresses={**execution.addresses, name: (at + 64) % 128})
            assert faults(problem, (*plan.steps[:number], moved, *plan.steps[number + 1 :]))
        assert faults(problem, plan.steps[:number] + plan.steps[number + 1 :])


def test_the_same_problem_has_the_same_plan() -> None:
    assert allocate(attentions(3)) == allocate(attentions(3))
