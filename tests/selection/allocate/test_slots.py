"""Problems of slots: their best orders against CP-SAT's, and when the search says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.selection.allocate.qkv import attentions

from axiloom.selection.allocate import Memory, Plan, Problem, Step, Value, faults
from axiloom.selection.allocate.allocate import plan_of
from axiloom.selection.allocate.bounds import most_cycles
from axiloom.selection.allocate.exact import Ask, within
from axiloom.selection.allocate.listed import timed
from axiloom.selection.allocate.slots import Impossible, Order, search

SIZE = {"a": 4, "b": 3}


@st.composite
def problems(draw: st.DrawFn, most: int = 8) -> Problem:
    """Loads and steps on two memories of a few slots, and a place of the host for each result."""
    memories = [
        Memory(name, size * draw(st.integers(1, 3)) + draw(st.integers(0, 1))) for name, size in SIZE.items()
    ]
    values: list[Value] = []
    steps: list[Step] = []
    unread: set[str] = set()
    for number in range(draw(st.integers(2, most))):
        name, memory = f"v{number}", draw(st.sampled_from("ab"))
        known = [one.name for one in values]
        reads = (
            draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True)) if number > 1 else []
        )
        inside = [one.name for one in values if one.memory == memory and one.name in reads]
        place = {name: inside[0]} if inside and draw(st.booleans()) else {}
        values.append(Value(name, memory, SIZE[memory]))
        steps.append(
            Step(
                f"s{number}", tuple(reads), (name,), draw(st.integers(1, 3)), in_place=place,
                apart=not place and draw(st.booleans()), again=not reads and draw(st.booleans()),
            )
        )  # fmt: skip
        unread = (unread - set(reads)) | {name}
    for place, name in enumerate(sorted(unread)):
        values.append(Value(f"y{place}", "host", 1, at=place))
        steps.append(Step(f"t{place}", (name,), (f"y{place}",)))
    return Problem((*memories, Memory("host", len(unread))), tuple(values), tuple(steps))


def planned(problem: Problem, found: Order) -> Plan:
    return plan_of(problem, timed(problem, found.executed), 0)


@given(problem=problems())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_order_is_better(problem: Problem) -> None:
    found = search(problem)
    said, rows, _ = within(10.0, Ask(problem, most_cycles(problem), 10.0)) or ("limit", [], 0)
    assert found is not None
    assert said in ("best", "none")
    assert isinstance(found, Impossible) == (said == "none")
    if isinstance(found, Order):
        plan = planned(problem, found)
        assert faults(problem, plan) == []
        cycles = {step.name: step.cycles for step in problem.steps}
        assert plan.cycles == sum(cycles[name] for name, *_ in rows)


@given(problem=problems(most=20))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_order_passes_the_replay(problem: Problem) -> None:
    found = search(problem, states=300)
    if isinstance(found, Order):
        assert faults(problem, planned(problem, found)) == []


@pytest.mark.parametrize(("depth", "steps"), [(1, 9), (2, 16), (3, 23)])
def test_attentions(depth: int, steps: int) -> None:
    problem = attentions(depth)
    found = search(problem)
    assert isinstance(found, Order)
    assert len(found.executed) == steps
    assert faults(problem, planned(problem, found)) == []


def test_a_search_ends_where_it_is_told_to() -> None:
    assert search(attentions(3), states=2) is None


def test_the_only_slot_is_at_0() -> None:
    problem = attentions(1)
    fixed = tuple(replace(one, at=0) if one.memory == "d2" else one for one in problem.values)
    assert isinstance(search(replace(problem, values=fixed)), Order)
    assert search(replace(problem, values=fixed), {"d2": 128}) is None


def test_values_that_are_not_loaded_again_may_not_fit() -> None:
    assert isinstance(search(attentions(2, again=False)), Impossible)
    assert isinstance(search(attentions(2, again=False), {"d1": 192}), Order)


@pytest.mark.parametrize(
    "changed",
    [
        lambda p: replace(p, values=(replace(p.values[0], units=p.values[0].units // 2), *p.values[1:])),
        lambda p: replace(p, values=(replace(p.values[0], kept=True), *p.values[1:])),
        lambda p: replace(p, values=(replace(p.values[0], at=0), *p.values[1:])),
        lambda p: replace(p, steps=(replace(p.steps[0], unit="dma"), *p.steps[1:])),
    ],
    ids=["another size", "kept", "a fixed place", "a second unit"],
)
def test_other_problems_are_left_to_others(changed: object) -> None:
    assert search(changed(attentions(1))) is None  # type: ignore[operator]
