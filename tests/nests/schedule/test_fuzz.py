"""Random schedules against enumeration, and mutants that it catches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from random import Random

import islpy as isl
import pytest
from tests.nests.fuzz import programs
from tests.nests.fuzz.legality import check

from axiloom.base.affine import Affine
from axiloom.nests.schedule import Placed, legality
from axiloom.nests.schedule.loops import substituted

HOME = "axiloom.nests.schedule.primitives"
"""Its modules have the names of functions in them, so that they cannot be imported from it."""


def run(numbers: Iterable[int], seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in numbers:
        rng = Random(f"{seed}/{number}")
        check(rng, programs.program(rng), counts)
    return counts


def test_random_schedules_against_enumeration() -> None:
    counts = run(range(60), seed=7)
    assert counts["accepted"] > 40
    assert counts["refused for order"] > 15


@pytest.mark.slow
def test_more_random_schedules_against_enumeration() -> None:
    assert run(range(200), seed=8)["refused for order"] > 50


def test_a_witness_is_found_where_isl_finds_no_least_one() -> None:
    """`dim_min_val` of k is NaN at the least i and j, though there are points."""
    points = isl.Set(
        "{ [[i, j = 2, k] -> [i' = i, j']] : i <= 3 and k <= i and 0 <= j' <= -2 + k;"
        "  [[i, j = 2, k = i] -> [i' = i, j']] : i >= 0 and ((j' >= -1 + i and j' >= 0 and 2j' <= 1 + i) or"
        "    ((1 + i) mod 2 = 0 and i > 0 and j' <= 3 and 2j' >= 3 + i));"
        "  [[i = 0, j = 2, k] -> [i' = 0, j' = -2 + k]] : 3 <= k <= 4;"
        "  [[i, j = 2, k] -> [i' = i, j' = -2 + k]] : k > i and 2 <= k <= 4 and k <= 1 + 2i }"
    )
    found = legality._first(points)
    assert not points.intersect(isl.Set(f"{{ [{list(found[:3])} -> {list(found[3:])}] }}")).is_empty()


def test_a_check_that_lets_everything_through_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module(f"{HOME}.check"), "swap", lambda schedule: None)
    with pytest.raises(AssertionError, match="illegal, but accepted"):
        run(range(60), seed=7)


def test_a_check_that_is_too_strict_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes statements of one body for executed in the wrong order."""
    common = legality.common_loops
    monkeypatch.setattr(legality, "common_loops", lambda first, second: (common(first, second)[0], True))
    with pytest.raises(AssertionError, match="legal, but refused"):
        run(range(60), seed=7)


def test_a_split_that_loses_instances_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its points begin at 1."""

    def fewer(placed: Placed, values: Mapping[str, Affine], extra: Sequence[Affine] = ()) -> Placed:
        return substituted(placed, values, [each - 1 for each in extra])

    monkeypatch.setattr(import_module(f"{HOME}.split"), "substituted", fewer)
    with pytest.raises(AssertionError, match=r"not executed once|lost or doubled"):
        run(range(60), seed=7)
