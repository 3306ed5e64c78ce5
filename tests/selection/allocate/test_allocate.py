"""Plans for attention and for random problems, by an independent replay; refusals by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.selection.allocate.qkv import attentions

from axiloom.selection.allocate import Memory, Placed, Plan, Problem, Refusal, Step, Value, allocate, faults


@pytest.mark.parametrize(("depth", "steps"), [(1, 9), (2, 16), (3, 23), (8, 58)])
def test_attentions(depth: int, steps: int) -> None:
    problem = attentions(depth)
    plan = allocate(problem)
    assert isinstance(plan, Plan)
    assert faults(problem, plan) == []
    assert len(plan.steps) == steps
    assert plan.peaks == {"d1": 128, "d2": 64}


def test_sixteen_are_the_fewest() -> None:
    plan = allocate(attentions(2))
    assert isinstance(plan, Plan)
    assert plan.bound == 16


def test_two_attentions_do_not_fit_without_loading_again() -> None:
    refusal = allocate(attentions(2, again=False))
    assert isinstance(refusal, Refusal)
    assert refusal.proved
    assert refusal.reason.startswith("in any order d1 needs 192 rows and has 128: ")


def test_one_attention_needs_no_second_load() -> None:
    assert isinstance(allocate(attentions(1, again=False)), Plan)


def test_what_comes_back_at_the_end_takes_no_place_of_what_stays() -> None:
    """Four rows, and six are wanted at the end: loading one of both again took the other's place."""
    values = [Value("x", "a", 4, kept=True), Value("y", "a", 2, kept=True)]
    steps = [Step("load_x", (), ("x",), 1, again=True), Step("load_y", (), ("y",), 2, again=True)]
    refusal = allocate(Problem((Memory("a", 4),), tuple(values), tuple(steps)))
    assert isinstance(refusal, Refusal)
    assert refusal.proved


@st.composite
def problems(draw: st.DrawFn, most: int = 7) -> Problem:
    """Steps that read up to two earlier values, on memories that may be too small, on one or two units."""
    memories = tuple(Memory(name, draw(st.integers(2, 9))) for name in "ab")
    units = draw(st.sampled_from([("",), ("x", "y")]))
    values: list[Value] = []
    steps: list[Step] = []
    for number in range(draw(st.integers(1, most))):
        reads = draw(st.lists(st.sampled_from(values), max_size=2, unique=True)) if values else []
        align = draw(st.sampled_from([1, 1, 2]))
        kept = draw(st.booleans()) and draw(st.booleans())
        value = Value(f"v{number}", draw(st.sampled_from("ab")), draw(st.integers(1, 4)), align, kept=kept)
        values.append(value)
        steps.append(
            Step(
                f"s{number}", tuple(one.name for one in reads), (value.name,),
                draw(st.integers(1, 3)), draw(st.sampled_from(units)),
                apart=draw(st.booleans()), again=not reads and draw(st.booleans()),
            )
        )  # fmt: skip
    return Problem(memories, tuple(values), tuple(steps))


@given(problem=problems())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_plan_passes_the_replay(problem: Problem) -> None:
    found = allocate(problem, seconds=5)
    if isinstance(found, Plan):
        assert faults(problem, found) == []
        assert found.cycles >= found.bound
    else:
        assert found.proved
        assert found.reason


@given(problem=problems(most=4))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_refusal_is_right(problem: Problem) -> None:
    """Against all orders and all addresses, of steps one after the other that are executed once."""
    plain = replace(problem, steps=tuple(replace(one, again=False, unit="") for one in problem.steps))
    assert isinstance(allocate(plain, seconds=5), Plan) == any_plan(plain)


def any_plan(problem: Problem) -> bool:
    values = {one.name: one for one in problem.values}
    sizes = {one.name: one.units for one in problem.memories}
    names = [name for step in problem.steps for name in step.writes]
    choices = [range(0, sizes[values[n].memory] - values[n].units + 1, values[n].align) for n in names]
    for order in permutations(problem.steps):
        for addresses in product(*choices):
            where = dict(zip(names, addresses, strict=True))
            time, placed = 0, []
            for step in order:
                placed.append(Placed(step, 0, time, {n: where[n] for n in (*step.reads, *step.writes)}))
                time += step.cycles
            if not faults(problem, Plan(tuple(placed), time, {}, 0, 0.0)):
                return True
    return False


def test_mutants_of_a_plan_are_caught() -> None:
    problem = attentions(2)
    plan = allocate(problem)
    assert isinstance(plan, Plan)
    caught = 0
    for number, one in enumerate(plan.steps):
        for name in one.addresses:
            moved = replace(one, addresses={**one.addresses, name: (one.addresses[name] + 64) % 128})
            steps = (*plan.steps[:number], moved, *plan.steps[number + 1 :])
            assert faults(problem, replace(plan, steps=steps)), f"{one.step.name}: {name} moved"
            caught += 1
        assert faults(problem, replace(plan, steps=plan.steps[:number] + plan.steps[number + 1 :]))
        earlier = replace(one, start=one.start - 1)
        assert faults(
            problem, replace(plan, steps=(*plan.steps[:number], earlier, *plan.steps[number + 1 :]))
        )
    assert caught == sum(len(one.addresses) for one in plan.steps)


def test_the_same_problem_has_the_same_plan() -> None:
    assert allocate(attentions(3)).steps == allocate(attentions(3)).steps  # type: ignore[union-attr]
