"""Random schedules against enumeration, and mutants that it catches."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module

import pytest
from tests.nests.schedule import fuzz

from axiloom.isa.affine import Affine
from axiloom.nests.schedule import Placed, legality
from axiloom.nests.schedule.loops import substituted

HOME = "axiloom.nests.schedule.primitives"
"""Its modules have the names of functions in them, so that they cannot be imported from it."""


def test_random_schedules_against_enumeration() -> None:
    counts = fuzz.run(60, seed=7)
    assert counts["accepted"] > 40
    assert counts["refused for order"] > 15


@pytest.mark.parametrize("seed", ["2/8", "20261123/85"])
def test_a_witness_is_found_where_isl_finds_no_least_one(seed: str) -> None:
    """`lexmin` of the pairs that swap is empty here, though there are some; or it fails."""
    counts: Counter[str] = Counter()
    fuzz.check(random.Random(seed), counts)
    assert counts["refused for order"]


@pytest.mark.slow
def test_more_random_schedules_against_enumeration() -> None:
    assert fuzz.run(2000, seed=8)["refused for order"] > 500


def test_a_check_that_lets_everything_through_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module(f"{HOME}.check"), "swap", lambda schedule: None)
    with pytest.raises(AssertionError, match="illegal, but accepted"):
        fuzz.run(60, seed=7)


def test_a_check_that_is_too_strict_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes statements of one body for executed in the wrong order."""
    common = legality.common_loops
    monkeypatch.setattr(legality, "common_loops", lambda first, second: (common(first, second)[0], True))
    with pytest.raises(AssertionError, match="legal, but refused"):
        fuzz.run(60, seed=7)


def test_a_split_that_loses_instances_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its points begin at 1."""

    def fewer(placed: Placed, values: Mapping[str, Affine], extra: Sequence[Affine] = ()) -> Placed:
        return substituted(placed, values, [each - 1 for each in extra])

    monkeypatch.setattr(import_module(f"{HOME}.split"), "substituted", fewer)
    with pytest.raises(AssertionError, match=r"not executed once|lost or doubled"):
        fuzz.run(60, seed=7)
