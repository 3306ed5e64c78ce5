"""`Proof`: what is known of a rule; `judge` finds out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from axiloom.selection.rules.prove.cases import about
from axiloom.selection.rules.prove.proof import prove
from axiloom.selection.rules.prove.search import FEW, search
from axiloom.selection.rules.rule import Rule
from axiloom.selection.rules.text import parse

LIMIT_S = 60
SEARCH_S = 5.0
"""For a counter-example, before a proof is tried, and again after one that failed."""


class Answer(StrEnum):
    PROVED = "proved"
    REFUTED = "refuted"
    OPEN = "not decided"


@dataclass(frozen=True)
class Proof:
    """Of one rule."""

    rule: str
    place: str
    """File and line."""
    sense: str
    answer: Answer
    about: str
    """Of what it is proved, in words: all sizes, or which."""
    every_size: bool
    why: str
    """The counter-example, or what is not decided."""
    cases: int
    """Proved one by one: ranks, numbers, attributes, ways through conditions."""
    tried: int
    """Pairs of results that NumPy computed and that were the same."""
    seconds: float
    limit_s: float = 0
    """What the prover had: with more it may decide what it did not."""
    kept: bool = False

    @property
    def good(self) -> bool:
        return self.answer is Answer.PROVED


def judge(rule: Rule, limit_s: float) -> Proof:
    """Looks for a counter-example by NumPy in some cases, then proves, then looks in more if that failed. May
    run for longer: ask a process that can be killed."""
    begun = time.monotonic()
    search_s = min(SEARCH_S, limit_s / 2)
    searched = search(rule, begun + search_s, FEW)
    outcome = prove(rule, begun + limit_s) if searched.counterexample is None else None
    if outcome is not None and not outcome.proved:
        shown = outcome.shown
        if rule.sense == "exact":  # of integers z3 knows what functions are
            shown = prove(replace(rule, sense="integers"), time.monotonic() + search_s).shown
        searched = search(rule, time.monotonic() + search_s, shown=shown)
    if searched.counterexample is not None:
        answer, said, every, why, cases = Answer.REFUTED, "", False, searched.counterexample.line, 0
    else:
        assert outcome is not None
        answer = Answer.PROVED if outcome.proved else Answer.OPEN
        every, why, cases = outcome.proved and not outcome.bounded, outcome.why, outcome.paths
        said = about(rule, outcome.bounded) if outcome.proved else ""
    seconds = time.monotonic() - begun
    return Proof(
        rule.name, rule.place, rule.sense, answer, said, every, why, cases, searched.tried, seconds, limit_s
    )


def judge_named(place: str, text: str, name: str, limit_s: float) -> Proof:
    """The same for a rule of a text: rules themselves are not sent to other processes."""
    return judge(_rules(place, text)[name], limit_s)


@lru_cache(maxsize=8)
def _rules(place: str, text: str) -> dict[str, Rule]:
    return {rule.name: rule for rule in parse(text, place)}
