"""The cost model's choice, and what a simulation says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from axiloom import explore as exploring
from axiloom import isa
from axiloom.choice import BEST, choose, ranked, resolve, strategies
from axiloom.drivergen import matmul_mlir, parse_problem
from axiloom.drivergen.cost import FORMS, constants_of, fitted
from axiloom.drivergen.problem import Problem
from axiloom.drivergen.selection import candidates, published_best
from axiloom.errors import UsageError
from axiloom.explore import PAPER, confirm, distinct, explore
from axiloom.isa import AcceleratorSpec
from axiloom.workflow import Run

V4 = isa.builtin("v4_16")
SG = isa.revise(V4, stream_width=64, dma=replace(V4.dma, scatter_gather=True))


@pytest.mark.parametrize("spec", [V4, SG, isa.builtin("v3_8"), isa.builtin("v1_4")], ids=str)
def test_every_candidate_with_every_pipeline_is_ranked_once(spec: AcceleratorSpec) -> None:
    problem = Problem(60, 40, 100)
    found = ranked(problem, spec)
    wanted = {(one, pipeline) for one in candidates(spec, problem) for pipeline in strategies(spec)}
    assert {(choice.candidate, choice.pipeline) for choice in found} == wanted
    assert len(found) == len(wanted)
    assert all(0 < a.seconds <= b.seconds for a, b in pairwise(found))
    assert all(choice.limit_ratio >= 1 for choice in found)
    assert choose(problem, spec) == found[0]


def test_what_is_distinct() -> None:
    every = ranked(Problem(64, 64, 64), V4, pipelines=("copying",))
    kept = list(distinct(every))
    assert kept[0] == every[0]
    assert 20 < len(kept) < len(every) / 2
    assert {(c.candidate.tile, c.seconds) for c in kept} == {(c.candidate.tile, c.seconds) for c in every}


def test_the_table_of_a_problem() -> None:
    found = explore(Problem(32, 256, 512), V4, top=3)
    assert found.problem == "matmul:32x256x512:int32"
    assert found.chosen.choice == choose(Problem(32, 256, 512), V4)
    names = [name for row in found.rows for name in row.names]
    assert sorted(names) == ["best (ours)", PAPER, "square As", "square Bs", "square Cs"]
    assert "best (ours)" in found.rows[0].names
    paper = next(row.choice for row in found.rows if PAPER in row.names)
    assert paper.candidate == published_best(V4, Problem(32, 256, 512))
    assert paper.seconds >= found.rows[0].choice.seconds
    assert len({row.choice.pipeline for row in found.rows}) == 1


def test_a_fixed_tile_leaves_flow_and_order() -> None:
    found = explore(Problem(64, 64, 64), isa.builtin("v3_8"))
    assert {row.choice.candidate.tile for row in found.rows} == {(8, 8, 8)}
    assert "best (ours)" in found.rows[0].names
    assert sum(PAPER in row.names for row in found.rows) == 1


def test_what_is_given_stays() -> None:
    text = matmul_mlir(100, 60, 30)
    assert resolve(text, V4, flow="Cs", pipeline=None) == ("Cs", None, None, "copying")
    assert resolve(text, SG, flow=None) == (None, None, None, "all")
    best = choose(Problem(100, 60, 30), V4)
    one = best.candidate
    assert resolve(text, V4, flow=BEST) == (one.flow, one.order, one.tile, best.pipeline)
    assert resolve(text, V4, flow=BEST, pipeline="published").pipeline == "published"
    given = resolve(text, V4, flow=BEST, order=("k", "n", "m"), tile=(16, 64, 32))
    assert (given.order, given.tile) == (("k", "n", "m"), (16, 64, 32))
    assert resolve(text, SG, flow=BEST).pipeline == "all"


def test_the_largest_matmul_decides() -> None:
    small, large = matmul_mlir(16, 16, 16), matmul_mlir(100, 60, 30)
    both = """
func.func @f(%A : memref<100x30xi32>, %B : memref<30x60xi32>, %C : memref<100x60xi32>, %D : memref<16x16xi32>,
             %E : memref<16x16xi32>, %F : memref<16x16xi32>) {
  linalg.matmul ins(%D, %E : memref<16x16xi32>, memref<16x16xi32>) outs(%F : memref<16x16xi32>)
  linalg.matmul ins(%A, %B : memref<100x30xi32>, memref<30x60xi32>) outs(%C : memref<100x60xi32>)
  func.return
}
"""
    assert resolve(both, V4, flow=BEST) == resolve(large, V4, flow=BEST) != resolve(small, V4, flow=BEST)


def test_what_cannot_be_chosen() -> None:
    with pytest.raises(UsageError, match=r"^tile: size 33 of dim m is not a multiple of the granule 16$"):
        choose(Problem(64, 64, 64), V4, tile=(33, 16, 16))
    with pytest.raises(UsageError, match=r"^no flow of v4_16 can be used with loops m,n$"):
        choose(Problem(64, 64, 64), V4, order=("m", "n"))
    message = "the cost model does not know the pipeline `residency`; it knows " + ", ".join(FORMS)
    with pytest.raises(UsageError, match=message):
        choose(Problem(64, 64, 64), V4, pipeline="residency")


def test_the_constants_are_those_of_the_pipelines() -> None:
    assert list(fitted()) == list(FORMS)
    for pipeline, values in fitted().items():
        constants = constants_of(pipeline)
        assert constants.start > 0
        assert all(value >= 0 for value in values["constants"].values())
        assert 0 < values["error"]["mean"] < values["error"]["worst"]


def test_run_takes_the_choice() -> None:
    problem = parse_problem("matmul:64x20x40")
    run = Run("matmul:64x20x40", problem.mlir, V4, flow=BEST)
    best = choose(problem, V4)
    one = best.candidate
    (call,) = run.driver.calls
    assert (call.flow, call.order, call.tile) == (one.flow, one.order, one.tile)
    assert run.config()["pipeline"] == best.pipeline


def test_simulation_confirms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "runs.jsonl"
    spec = isa.builtin("v3_4")
    found = explore(Problem(16, 20, 12), spec, pipelines=("copying",), top=2)
    (done,) = confirm([found], 1, store=store, jobs=1)
    ran = [row for row in done.rows if row.simulated is not None]
    assert len(ran) == sum(bool(row.names) or i < 1 for i, row in enumerate(found.rows))
    assert done.chosen.simulated == min(row.simulated or 0 for row in ran)
    for row in ran:
        assert row.error is None
        assert row.simulated_ratio is not None
        assert row.simulated_ratio >= 1
        assert row.choice.seconds == pytest.approx(row.simulated, rel=0.5)  # tiles of 4 are not in the fit
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    assert {line["point"]["problem"] for line in lines} == {"matmul:16x20x12:int32"}

    monkeypatch.setattr(exploring, "simulate", lambda _batch: pytest.fail("it ran again"))
    (again,) = confirm([found], 1, store=store, jobs=1)
    assert again.rows == done.rows
