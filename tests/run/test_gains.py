"""Remedies by what the cost model says they win."""

from __future__ import annotations

from axiloom.report.types import Gain
from axiloom.run.gains import worth


def test_a_remedy_that_wins_nothing_is_none_and_the_best_is_first() -> None:
    known: dict[str, Gain | None] = {
        "slower": {"times": 0.7, "at_most": False},
        "no faster": {"times": 1.0, "at_most": True},
        "a little": {"times": 1.01, "at_most": False},
        "unknown": None,
        "most": {"times": 1.8, "at_most": True},
    }
    assert worth(list(known), known) == ["most", "a little", "unknown"]
    assert worth(["slower"], known) == []
