"""`auto`: legal, within limits, no worse than anything in its space, and never an exception."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.polybench import sizes
from benchmarks.polybench.measure import program
from tests.nests.lower.programs import random_values, raw, run
from tests.nests.search.test_branch import bases, searches
from tests.some import slow

from axiloom.nests.affine.interpret import interpret
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.program import Program
from axiloom.nests.read import c
from axiloom.nests.schedule.legality import is_legal
from axiloom.nests.schedule.replay import replay
from axiloom.nests.search import Limits, auto
from axiloom.nests.search.arrange import text
from axiloom.nests.search.branch import Point, Search
from axiloom.nests.search.exact import Exact, exact
from axiloom.nests.search.pareto import front, pareto
from axiloom.nests.search.points import Points

FEW = replace(Limits.of("xc7z020", "dsp=16"), lanes=4)


def small(kernel: str) -> Program:
    defines = {name: str(max(4, size // 4)) for name, size in sizes.MINI[kernel].items()}
    return c.read(sizes.source(kernel), defines=defines).program


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        *("gemm", "mvt", "gesummv", "bicg", "syrk"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("atax", "2mm", "gemver", "trmm")),
    ],
)
def test_no_point_of_the_space_takes_fewer_cycles(kernel: str) -> None:
    """Each circuit that could is made, and some of the others; no forecast promises more than is needed.

    DSP slices are compared at the circuit's own intervals: ports of banks may make them longer than sums do,
    and then operations take more turns."""
    source, _ = program(kernel, "mini")
    found = auto(source, FEW)
    assert found.proven
    assert found.best.cycles is not None
    made = 0
    step = 1 if found.space < 100 else 7
    for search, base in zip(searches(kernel, FEW), bases(kernel), strict=True):
        for number, point in enumerate(search.every()):
            foretold = search.forecast(point)
            if foretold.cycles >= found.best.cycles and number % step:
                continue
            point_made = exact(source, text(base, search.chosen(point)))
            assert point_made.cycles is not None
            assert foretold.cycles <= point_made.cycles
            intervals = dict(zip(dict.fromkeys(search.pipes), point_made.intervals, strict=True))
            there = search.forecast(point, intervals)
            assert there.cycles <= point_made.cycles
            assert there.amount.dsp <= point_made.amount.dsp
            if _is_declared(search, point) and (
                foretold.amount.fits(FEW.amount) or point_made.amount.fits(FEW.amount)
            ):
                assert point_made.cycles >= found.best.cycles
            made += 1
    assert made > 5


def _is_declared(search: Search, point: Point) -> bool:
    """Whether it is in the declared space: not too many lanes, and sums of a pipe in chains of one length."""
    choices = {leader: search.choices[leader][point[leader]] for leader in search.leaders}
    pipes = {search.pipes[leader] for leader in search.leaders}
    of_pipe = [
        [choices[leader] for leader in search.leaders if search.pipes[leader] == pipe] for pipe in pipes
    ]
    if sum(max(choice.count for choice in members) for members in of_pipe) > search.limits.lanes:
        return False
    return all(len({choice.sums for choice in members if choice.sums}) <= 1 for members in of_pipe)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "kernel",
    [
        *("gemm", "bicg", "trmm", "symm", "seidel-2d", "durbin"),
        *map(slow, ("2mm", "correlation", "gemver", "jacobi-2d", "lu", "nussinov", "adi", "floyd-warshall")),
    ],
)  # fmt: skip
def test_what_is_found_is_legal_and_computes_what_the_program_says(kernel: str) -> None:
    source = small(kernel)
    found = auto(source, FEW, evaluations=2)
    schedule = replay(source, found.text)
    assert is_legal(schedule)
    lowered = lower(schedule, plan(schedule))
    values = {name: np.abs(each) for name, each in random_values(source).items()}
    wanted = interpret(source, values)
    results, _ = run(lowered, schedule.program, schedule.program.with_copies(values))
    for name, array in wanted.items():
        np.testing.assert_array_equal(raw(results[name]), raw(np.asarray(array)), name)


def test_it_is_deterministic_and_resumes(tmp_path: Path) -> None:
    source, file = small("gemm"), tmp_path / "points.jsonl"
    first = auto(source, FEW, points=file)
    whole = file.read_text()
    rows = [json.loads(line) for line in whole.splitlines()]
    assert {each["schedule"] for each in rows} == {each.text for each in first.points}
    again = auto(source, FEW, points=file)
    assert file.read_text() == whole
    assert (again.text, again.best, again.proven) == (first.text, first.best, first.proven)
    # Cut off in the last line: that point is made once more.
    file.write_text(whole[:-20])
    assert auto(source, FEW, points=file).best == first.best
    assert Points(source, file).known.keys() == {each["key"] for each in rows}


def test_points_of_another_program_are_not_taken(tmp_path: Path) -> None:
    file = tmp_path / "points.jsonl"
    auto(small("gemm"), FEW, points=file)
    known = len(file.read_text().splitlines())
    auto(small("mvt"), FEW, points=file)
    assert len(file.read_text().splitlines()) > known


def test_nothing_fits_and_it_says_so() -> None:
    found = auto(small("gemm"), replace(FEW, amount=replace(FEW.amount, dsp=1)))
    assert found.text == ""
    assert not found.proven
    assert found.notes == ("nothing that was tried fits: it stays as written",)


def test_a_front_has_no_point_that_another_one_beats() -> None:
    best, points = pareto(small("gemm"), FEW)
    costs = [(each.cycles, each.amount.dsp, each.amount.lut) for each in points]
    assert best.best in points
    assert len(points) > 1
    for one in costs:
        assert not any(
            other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in costs
        )


def test_the_front_leaves_out_what_is_worse_everywhere() -> None:
    def point(name: str, cycles: int | None, dsp: int, lut: int) -> Exact:
        return Exact(name, cycles, replace(FEW.amount, dsp=dsp, lut=lut), FEW.amount)

    points = [point("a", 9, 4, 4), point("b", 10, 4, 4), point("c", 12, 2, 9), point("d", None, 0, 0)]
    assert [each.text for each in front(points)] == ["a", "c"]
