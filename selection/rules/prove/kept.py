"""Proofs by the content of the question, in the user's cache; `usable`: the rules that are proved."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import platformdirs

from axiloom.errors import UsageError
from axiloom.files import code_hash, versions, write_whole
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.process import Prover
from axiloom.selection.rules.prove.verdicts import LIMIT_S, Answer, Proof
from axiloom.selection.rules.rule import Rule, RuleError

Say: TypeAlias = Callable[[Proof], None]
_MEANING = ("selection/ir", "selection/rules", "isa/numerics")
"""Rooms whose sources say what a proof is about, and how it is found."""


def proofs(texts: Sequence[RuleText], limit_s: float = LIMIT_S, say: Say | None = None) -> tuple[Proof, ...]:
    """Of each rule, in order; what was decided before comes from the user's cache."""
    found = []
    with Prover() as prover:
        for text in texts:
            for rule in text.rules:
                proof = kept(rule)
                if proof is None or _may_be_longer(proof, limit_s):
                    proof = prover.ask(text, rule, limit_s)
                    keep(rule, proof)
                found.append(replace(proof, place=rule.place))
                if say is not None:
                    say(found[-1])
    return tuple(found)


def _may_be_longer(proof: Proof, limit_s: float) -> bool:
    """Whether more time might decide it."""
    return proof.answer is Answer.OPEN and proof.limit_s < limit_s


def usable(texts: Iterable[RuleText], names: Container[str] | None = None) -> tuple[RuleText, ...]:
    """The same texts without the rules that are not proved: selection uses no other.

    Those of `names` are proved now unless they were before, all if it is None; of the others those go that
    are known not to be decided. What is not decided is left out; a rule with a counter-example is a fault.
    Raises RuleError.
    """
    found = []
    with Prover() as prover:
        for text in texts:
            known = _known(text)
            for rule in text.rules:
                if rule.name not in known and (names is None or rule.name in names):
                    known[rule.name] = prover.ask(text, rule, LIMIT_S)
                    keep(rule, known[rule.name])
            found.append(_without_undecided(text, known))
    return tuple(found)


_KNOWN: dict[tuple[str, str, str], dict[str, Proof]] = {}
"""Of a file's place and text and all sources: the proofs by the names of rules."""


def _known(text: RuleText) -> dict[str, Proof]:
    key = (text.place, text.text, sources())
    if key not in _KNOWN:
        before = ((rule.name, kept(rule)) for rule in replace(text, names=None).rules)
        _KNOWN[key] = {name: proof for name, proof in before if proof and not _may_be_longer(proof, LIMIT_S)}
    return _KNOWN[key]


def _without_undecided(text: RuleText, known: Mapping[str, Proof]) -> RuleText:
    """The same text if each of its rules is proved as it stands, or not known."""
    mine = {rule.name: known[rule.name] for rule in text.rules if rule.name in known}
    if wrong := [one for one in mine.values() if one.answer is Answer.REFUTED]:
        raise RuleError([f"{text.place}: rule {one.rule} is wrong: {one.why}" for one in wrong])
    undecided = {name for name, one in mine.items() if not one.good}
    bounded = text.bounded.union(name for name, one in mine.items() if one.good and not one.every_size)
    if not undecided and bounded == text.bounded:
        return text
    return text.only((rule.name for rule in text.rules if rule.name not in undecided), bounded - undecided)


# --- what is kept


@cache
def sources() -> str:
    """A hash of all that says what operations, numbers and rules mean, and of the prover."""
    return code_hash(*_MEANING) + versions("z3-solver")


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
