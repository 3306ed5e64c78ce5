"""Small problems by their ways: as cheap as the cheapest of all choices, and given up where they are many."""

from __future__ import annotations

import itertools
import random

import pytest

from axiloom.selection.egraph.branches import branched
from axiloom.selection.egraph.extract import greedy
from axiloom.selection.egraph.problem import Problem, Ways, problem_of_ways, used
from axiloom.selection.egraph.saturated import SaturationError


def made(seed: int) -> Problem[str] | None:
    """Up to nine classes with up to three ways each, some in circles."""
    dice = random.Random(seed)
    count = dice.randint(3, 9)
    ways: Ways[str] = {}
    for one in range(count):
        below = range(one) if dice.random() < 0.7 else range(count)
        ways[one] = [
            (
                dice.choice((0, 1, 2, 5, 9)),
                tuple(sorted({dice.choice(below) for _ in range(dice.randint(0, 2))})) if below else (),
                f"{one}.{i}",
            )
            for i in range(dice.randint(1, 3))
        ]
    return problem_of_ways(ways, [count - 1])


def weight(problem: Problem[str], chosen: dict[int, int]) -> tuple[int, int]:
    return sum(problem.ways[one][way][0] for one, way in chosen.items()), len(chosen)


def cheapest(problem: Problem[str]) -> tuple[int, int]:
    """Cost, and how many classes, by trying every choice."""
    found = []
    for choice in itertools.product(*(range(len(of)) for of in problem.ways.values())):
        try:
            chosen, _ = used(problem, dict(zip(problem.ways, choice, strict=True)))
        except SaturationError:  # a circle
            continue
        found.append(weight(problem, chosen))
    return min(found)


def test_as_cheap_as_all_choices() -> None:
    better = 0
    for seed in range(150):
        problem = made(seed)
        if problem is None:
            continue
        start, _ = greedy(problem)
        found = branched(problem, start)
        assert found is not None
        chosen, cost = found
        assert (cost, len(chosen)) == weight(problem, chosen) == cheapest(problem)
        assert used(problem, chosen)[0] == chosen
        better += weight(problem, chosen) < weight(problem, start)
    assert better  # greedy alone is not enough for some


def test_what_is_as_cheap_stays() -> None:
    problem = problem_of_ways({0: [(1, (), "a"), (1, (), "b")], 1: [(2, (0,), "c")]}, [1])
    assert problem is not None
    assert len(problem.ways[0]) == 1  # of two that cost the same, one is left from the start
    problem = problem_of_ways(
        {0: [(3, (), "a")], 1: [(3, (), "b")], 2: [(1, (0,), "c"), (1, (1,), "d")]}, [2]
    )
    assert problem is not None
    for way in (0, 1):
        found = branched(problem, {way: 0, 2: way})
        assert found == ({way: 0, 2: way}, 4)


@pytest.mark.parametrize(("steps", "enough"), [(2, False), (200, True)])
def test_too_much_to_try(steps: int, enough: bool) -> None:
    ways: Ways[str] = {one: [(one, (), "dear")] for one in range(8)}
    ways[8] = [(1, (one, (one + 3) % 8), f"{one}") for one in range(8)]
    problem = problem_of_ways(ways, [8])
    assert problem is not None
    dear = next(i for i, (_, needs, _) in enumerate(problem.ways[8]) if set(needs) == {4, 7})
    found = branched(problem, used(problem, {**dict.fromkeys(range(8), 0), 8: dear})[0], steps)
    assert (found is not None) == enough
    if found is not None:
        assert found[1] == 1 + 0 + 3
