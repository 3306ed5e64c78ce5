"""Extraction: right where costs of trees are not, the same as all choices tried, and proved."""

from __future__ import annotations

import itertools
import random

import pytest
from benchmarks.instructions.residual_graph import FULL, by_trees, residual
from benchmarks.networks.matches import cost, with_offers

from axiloom.graph import Type
from axiloom.selection.accelerators.kernels import accelerators
from axiloom.selection.egraph import ENode, Limits, Saturated, SaturationError, extract, saturate
from axiloom.selection.egraph.parts import parts
from axiloom.selection.egraph.problem import problem_of, used
from axiloom.selection.rules import library

_TYPE = Type((1,), "int32")


def _random(seed: int) -> tuple[Saturated, dict[ENode, int]]:
    """Up to nine classes with up to three ways each, some in circles."""
    dice = random.Random(seed)
    count = dice.randint(3, 9)
    costs: dict[ENode, int] = {}
    classes = []
    for one in range(count):
        ways = []
        for i in range(dice.randint(1, 3)):
            below = range(one) if dice.random() < 0.8 else range(count)
            needs = tuple(dice.choice(below) for _ in range(dice.randint(0, 2))) if below else ()
            node = ENode(f"o{one}_{i}", needs, ())
            costs[node] = dice.choice((0, 1, 2, 5, 9))
            ways.append(node)
        classes.append(tuple(ways))
    made = Saturated((_TYPE,) * count, tuple(classes), (count - 1,), "saturated", 1, {}, 0.0)
    return made, costs


def _best(saturated: Saturated, costs: dict[ENode, int]) -> int | None:
    """By trying every choice."""
    found = None
    for choice in itertools.product(*saturated.classes):
        order: list[int] = []

        def make(one: int, path: tuple[int, ...], order: list[int] = order, choice: object = choice) -> bool:
            if one in path:
                return False
            if one in order:
                return True
            if not all(make(need, (*path, one)) for need in choice[one].operands):  # type: ignore[index]
                return False
            order.append(one)
            return True

        if make(saturated.roots[0], ()):
            total = sum(costs[choice[one]] for one in order)
            found = total if found is None else min(found, total)
    return found


@pytest.mark.parametrize("seed", range(150))
def test_cheapest(seed: int) -> None:
    saturated, costs = _random(seed)
    best = _best(saturated, costs)
    if best is None:
        with pytest.raises(SaturationError, match="nothing makes"):
            extract(saturated, lambda node, _, __: costs[node])
        return
    found = extract(saturated, lambda node, _, __: costs[node])
    assert found.cost == best
    assert found.proved
    greedy = extract(saturated, lambda node, _, __: costs[node], seconds=0)
    assert greedy.cost >= best >= greedy.bound


def test_parts_have_each_class_once() -> None:
    for seed in range(50):
        saturated, costs = _random(seed)
        try:
            problem = problem_of(saturated, lambda node, _, __: costs[node])  # noqa: B023
        except SaturationError:
            continue
        classes = [one for part in parts(problem) for one in part.ways]
        assert sorted(classes) == sorted(problem.ways)


@pytest.fixture(scope="module")
def offered() -> Saturated:
    texts = [one for one in library.ours() if one.place in ("products.rules", "moves.rules")]
    saturated = saturate(residual(), texts, Limits(iterations=80), unproved=True)
    return with_offers(saturated, [accelerators()["flexasr"].only(("linear",))])


@pytest.mark.slow
def test_trees_go_wrong(offered: Saturated) -> None:
    problem = problem_of(offered, cost)
    chosen, total = used(problem, by_trees(problem, FULL))
    there = sum(problem.ways[one][way][2].op == "flexasr.linear" for one, way in chosen.items())
    assert there < 110
    found = extract(offered, cost, seconds=60)
    assert sum(one.op == "flexasr.linear" for one in found.chosen.values()) == 120
    assert found.proved
    assert total > 2 * found.cost
