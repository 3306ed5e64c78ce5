"""Problems of slots: their best orders against all orders, and when the search says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.selection.allocate.judge import cheapest, faults, problems
from tests.selection.allocate.qkv import attentions

from axiloom.selection.allocate import Problem
from axiloom.selection.allocate.slots import Impossible, Order, search


@given(problem=problems(most=5, slots=True))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_order_is_better(problem: Problem) -> None:
    found = search(problem)
    if isinstance(found, Order):
        assert faults(problem, found.executed) == []
        assert sum(execution.step.cycles for execution in found.executed) == cheapest(problem)
    elif isinstance(found, Impossible):
        assert cheapest(problem) is None


@pytest.mark.parametrize(("depth", "steps"), [(1, 9), (2, 16), (3, 23)])
def test_attentions(depth: int, steps: int) -> None:
    problem = attentions(depth)
    found = search(problem)
    assert isinstance(found, Order)
    assert len(found.executed) == steps
    assert faults(problem, found.executed) == []


def test_a_search_ends_where_it_is_told_to() -> None:
    assert search(attentions(3), states=2) is None


def test_the_only_slot_is_at_0() -> None:
    problem = attentions(1)
    fixed = tuple(replace(step, at=0) if step.memory == "d2" else step for step in problem.steps)
    assert isinstance(search(replace(problem, steps=fixed)), Order)
    assert search(replace(problem, steps=fixed), {"d2": 128}) is None


def test_values_that_are_not_loaded_again_may_not_fit() -> None:
    assert isinstance(search(attentions(2, again=False)), Impossible)
    assert isinstance(search(attentions(2, again=False), {"d1": 192}), Order)


@pytest.mark.parametrize("changed", [{"rows": 32}, {"at": 0}], ids=["another size", "a fixed place"])
def test_other_problems_are_left_to_others(changed: dict[str, int]) -> None:
    problem = attentions(1)
    assert search(replace(problem, steps=(replace(problem.steps[0], **changed), *problem.steps[1:]))) is None
