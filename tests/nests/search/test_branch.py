"""Branch and bound finds what looking at every point finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import pytest
from benchmarks.polybench.measure import program

from axiloom.nests.schedule import Schedule
from axiloom.nests.search import Limits
from axiloom.nests.search.arrange import arrangements
from axiloom.nests.search.branch import Partial, Search
from axiloom.nests.search.choices import choices, factors
from axiloom.nests.search.shapes import Shape
from axiloom.nests.search.structures import structures

BUDGETS = ("dsp=12", "dsp=30", "dsp=60", "dsp=40,lut=9000", "lut=12000")
KERNELS = ("gemm", "atax", "bicg", "gesummv", "mvt", "syrk")


def arranged(kernel: str) -> Iterator[tuple[Schedule, list[int]]]:
    """Schedules without lanes, each with the pipe of each nest."""
    for structure in structures(Schedule.of(program(kernel, "mini")[0])):
        names = {each.number: each.statements[0].statement.name for each in structure.schedule.nests}
        for base, pipes in arrangements(structure):
            pipe = {names[n]: k for k, some in enumerate(pipes) for n in some}
            yield base, [pipe[each.statements[0].statement.name] for each in base.nests]


def bases(kernel: str) -> list[Schedule]:
    return [base for base, _ in arranged(kernel)]


def searches(
    kernel: str, limits: Limits, kind: type[Search] = Search, bounded: bool = True
) -> Iterator[Search]:
    """One for each structure and arrangement."""
    for base, pipes in arranged(kernel):
        shapes = [Shape(base, nest) for nest in base.nests]
        some = [choices(each, limits) for each in shapes]
        yield kind(shapes, some, pipes, base.program, limits, wanted=3, bounded=bounded)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("kernel", "budget"),
    [
        (kernel, BUDGETS[(number + 2 * place) % 5])
        for place in (0, 1)
        for number, kernel in enumerate(KERNELS)
    ],
)
def test_the_best_points_are_those_of_exhaustive_search(kernel: str, budget: str) -> None:
    limits = replace(Limits.of("xc7z020", budget), lanes=12)
    pairs = zip(searches(kernel, limits), searches(kernel, limits, bounded=False), strict=True)
    for fast, slow in pairs:
        assert slow.space < 1_000_000
        best, expected = fast.run(), slow.run()
        assert fast.complete
        assert slow.complete
        assert [each.key[0] for each in best] == [each.key[0] for each in expected]
        assert [each.key for each in best][:1] == [each.key for each in expected][:1]
        assert fast.looked_at <= slow.looked_at


class _TooSure(Search):
    """Its bound promises too little."""

    def least(self, depth: int, partial: dict[int, Partial]) -> int:
        return super().least(depth, partial) * 3 // 2


def test_a_bound_that_is_not_admissible_is_noticed() -> None:
    limits = replace(Limits.of("xc7z020", "dsp=40"), lanes=12)
    differ = 0
    for kernel in KERNELS:
        pairs = zip(searches(kernel, limits, _TooSure), searches(kernel, limits), strict=True)
        differ += any(
            [each.key[0] for each in wrong.run()] != [each.key[0] for each in right.run()]
            for wrong, right in pairs
        )
    assert differ


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_bound_of_a_partial_point_is_at_most_what_its_completions_take(kernel: str) -> None:
    limits = replace(Limits.of("xc7z020", "dsp=20"), lanes=4)
    for search in searches(kernel, limits):
        least: dict[tuple[int, ...], float] = {}
        for point in search.every():
            cycles = search.forecast(point).cycles
            numbers = tuple(point[n] for n in search.leaders)
            for depth in range(len(numbers) + 1):
                least[numbers[:depth]] = min(least.get(numbers[:depth], inf), cycles)
        for numbers, cycles in least.items():
            partial = dict.fromkeys(search.pipes, Partial(units=(0,) * 9))
            for n, k in zip(search.leaders, numbers, strict=False):
                partial[search.pipes[n]] = search.added(partial[search.pipes[n]], n, k)
            assert search.least(len(numbers), partial) <= cycles


def test_factors_are_the_least_of_each_number_of_steps_and_powers_of_two() -> None:
    assert factors(10, 6) == [1, 2, 3, 4, 5]
    assert factors(10, 8) == [1, 2, 3, 4, 5, 8]
    assert factors(1, 8) == [1]
