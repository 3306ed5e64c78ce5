"""`Proof`: what is known of a rule, kept by the content of the question. `usable`: rules that are proved."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TypeAlias

import platformdirs

from axiloom import selection
from axiloom.errors import UsageError
from axiloom.files import write_whole
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.rule import Rule, RuleError

LIMIT_S = 60
SEARCH_S = 5.0
"""For a counter-example, before a proof is tried."""
_MEANING = ("ir", "rules")
"""Rooms whose sources say what a proof is about, and how it is found."""


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


Say: TypeAlias = Callable[[Proof], None]


def judge(rule: Rule, limit_s: float) -> Proof:
    """Looks for a counter-example by NumPy, then proves. May run for longer: `process.py` can be killed."""
    from axiloom.selection.rules.prove.cases import about
    from axiloom.selection.rules.prove.proof import prove
    from axiloom.selection.rules.prove.search import search

    begun = time.monotonic()
    searched = search(rule, begun + min(SEARCH_S, limit_s / 2))
    if searched.found is not None:
        answer, said, every, why, cases = Answer.REFUTED, "", False, searched.found.line, 0
    else:
        outcome = prove(rule, begun + limit_s)
        answer = Answer.PROVED if outcome.proved else Answer.OPEN
        every, why, cases = outcome.proved and not outcome.bounded, outcome.why, outcome.paths
        said = about(rule, outcome.bounded) if outcome.proved else ""
    seconds = time.monotonic() - begun
    return Proof(rule.name, rule.place, rule.sense, answer, said, every, why, cases, searched.tried, seconds)


def proofs(texts: Sequence[RuleText], limit_s: float = LIMIT_S, say: Say | None = None) -> tuple[Proof, ...]:
    """Of each rule, in order; what was decided before comes from the user's cache."""
    from axiloom.selection.rules.prove.process import Prover

    found = []
    with Prover() as prover:
        for text in texts:
            for rule in text.rules:
                proof = kept(rule)
                if proof is None or (proof.answer is Answer.OPEN and proof.limit_s < limit_s):
                    proof = prover.ask(text, rule, limit_s)
                    keep(rule, proof)
                found.append(replace(proof, place=rule.place))
                if say is not None:
                    say(found[-1])
    return tuple(found)


def usable(
    texts: Iterable[RuleText], limit_s: float = LIMIT_S, say: Say | None = None
) -> tuple[RuleText, ...]:
    """The same texts with those rules alone that are proved: selection uses no other.

    What is not decided is left out; a rule with a counter-example is a fault. Raises RuleError.
    """
    given = tuple(texts)
    key = (given, sources())
    if key not in _USABLE:
        _USABLE[key] = _usable(given, limit_s, say)
    return _USABLE[key]


_USABLE: dict[object, tuple[RuleText, ...]] = {}


def _usable(given: tuple[RuleText, ...], limit_s: float, say: Say | None) -> tuple[RuleText, ...]:
    found = []
    for text in given:
        all_ = proofs([text], limit_s, say)
        if wrong := [one for one in all_ if one.answer is Answer.REFUTED]:
            raise RuleError([f"{one.place}: rule {one.rule} is wrong: {one.why}" for one in wrong])
        found.append(text.only(one.rule for one in all_ if one.good))
    return tuple(found)


# --- what is kept


@cache
def sources() -> str:
    """A hash of all that says what operations and rules mean, and of the prover."""
    digest = hashlib.sha256()
    root = Path(selection.__file__).parent
    for room in _MEANING:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def key_of(rule: Rule) -> str:
    """By content: where a rule stands and what is written about it changes nothing."""
    said = repr(replace(rule, place="", text="")) + sources()
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def folder() -> Path:
    """``AXILOOM_CACHE`` moves it, as all of the cache."""
    root = os.environ.get("AXILOOM_CACHE")
    return (Path(root) if root else Path(platformdirs.user_cache_dir("axiloom"))) / "rules"


def kept(rule: Rule) -> Proof | None:
    """What was decided before."""
    file = folder() / f"{key_of(rule)}.json"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        return Proof(**{**said, "answer": Answer(said["answer"]), "kept": True})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget(rule: Rule) -> None:
    (folder() / f"{key_of(rule)}.json").unlink(missing_ok=True)


def keep(rule: Rule, proof: Proof) -> None:
    """A cache that cannot be written is none."""
    try:
        write_whole(folder() / f"{key_of(rule)}.json", json.dumps(asdict(proof)))
    except UsageError:
        return
