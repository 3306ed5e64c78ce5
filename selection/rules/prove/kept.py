"""Proofs by the content of the question, in the user's cache; `usable`: the rules that are proved."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import platformdirs

from axiloom.errors import UsageError
from axiloom.files import write_whole
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.process import Prover
from axiloom.selection.rules.prove.verdicts import LIMIT_S, Answer, Proof
from axiloom.selection.rules.rule import Rule, RuleError

Say: TypeAlias = Callable[[Proof], None]
_MEANING = ("ir", "rules")
"""Rooms whose sources say what a proof is about, and how it is found."""


def proofs(texts: Sequence[RuleText], limit_s: float = LIMIT_S, say: Say | None = None) -> tuple[Proof, ...]:
    """Of each rule, in order; what was decided before comes from the user's cache."""
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
        good = [one for one in all_ if one.good]
        some = [one.rule for one in good if not one.every_size]
        found.append(text.only((one.rule for one in good), some))
    return tuple(found)


# --- what is kept


@cache
def sources() -> str:
    """A hash of all that says what operations and rules mean, and of the prover."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    for room in _MEANING:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def key_of(rule: Rule) -> str:
    """By content: where a rule stands and what is written about it changes nothing."""
    said = repr(replace(rule, place="", text="", bounded=False)) + sources()
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
