"""Proofs by the content of the question, in the user's cache; `usable`: the rules that are proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TypeAlias

from axiloom.base.cache import NotCachedError, content_hash, keep, value
from axiloom.base.cache import forget as cache_forget
from axiloom.base.files import code_hash, versions
from axiloom.base.worker import NoAnswerError, Worker
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.verdicts import LIMIT_S, Answer, Proof, judge_named
from axiloom.selection.rules.rule import Rule, RuleError

Say: TypeAlias = Callable[[Proof], None]
KIND = "rules"
GRACE_S = 10.0
"""Beyond the limit: a prover looks at its clock between cases."""
_MEANING = ("base", "graph", "selection/rules", "isa/numerics")
"""Rooms whose sources say what a proof is about, and how it is found."""


def proofs(texts: Sequence[RuleText], limit_s: float = LIMIT_S, say: Say | None = None) -> tuple[Proof, ...]:
    """Of each rule, in order; what was decided before comes from the user's cache."""
    proofs = []
    with Worker() as worker:
        for text in texts:
            for rule in text.rules:
                proof = known(rule)
                if proof is None or _may_be_longer(proof, limit_s):
                    proof = _prove(worker, text, rule, limit_s)
                proofs.append(replace(proof, place=rule.place))
                if say is not None:
                    say(proofs[-1])
    return tuple(proofs)


def _may_be_longer(proof: Proof, limit_s: float) -> bool:
    """Whether more time might decide it."""
    return proof.answer is Answer.OPEN and proof.limit_s < limit_s


def usable(texts: Iterable[RuleText], names: Container[str] | None = None) -> tuple[RuleText, ...]:
    """The same texts without the rules that are not proved: selection uses no other.

    Those of `names` are proved now unless they were before, all if it is None; of the others those go that
    are known not to be decided. What is not decided is left out; a rule with a counter-example is a fault.
    Raises RuleError.
    """
    kept = []
    with Worker() as worker:
        for text in texts:
            decided = _decided(text)
            for rule in text.rules:
                if rule.name not in decided and (names is None or rule.name in names):
                    decided[rule.name] = _prove(worker, text, rule, LIMIT_S)
            kept.append(_without_undecided(text, decided))
    return tuple(kept)


_DECIDED: dict[tuple[str, str, str], dict[str, Proof]] = {}
"""Of a file's place and text and all sources: the proofs by the names of rules."""


def _decided(text: RuleText) -> dict[str, Proof]:
    key = (text.place, text.text, sources())
    if key not in _DECIDED:
        before = ((rule.name, known(rule)) for rule in replace(text, names=None).rules)
        _DECIDED[key] = {
            name: proof for name, proof in before if proof and not _may_be_longer(proof, LIMIT_S)
        }
    return _DECIDED[key]


def _without_undecided(text: RuleText, decided: Mapping[str, Proof]) -> RuleText:
    """The same text if each of its rules is proved as it stands, or not known."""
    mine = {rule.name: decided[rule.name] for rule in text.rules if rule.name in decided}
    if wrong := [proof for proof in mine.values() if proof.answer is Answer.REFUTED]:
        raise RuleError([f"{text.place}: rule {proof.rule} is wrong: {proof.why}" for proof in wrong])
    undecided = {name for name, proof in mine.items() if not proof.good}
    bounded = text.bounded.union(name for name, proof in mine.items() if proof.good and not proof.every_size)
    if not undecided and bounded == text.bounded:
        return text
    return text.only((rule.name for rule in text.rules if rule.name not in undecided), bounded - undecided)


# --- in the cache


@cache
def sources() -> str:
    """A hash of all that says what operations, numbers and rules mean, and of the prover."""
    return code_hash(*_MEANING) + versions("z3-solver")


def key_of(rule: Rule) -> str:
    """By content: where a rule stands and what is written about it changes nothing."""
    return content_hash(repr(replace(rule, place="", text="", bounded=False)), sources())


def known(rule: Rule) -> Proof | None:
    """What was decided before."""
    try:
        row = value(KIND, key_of(rule))
    except NotCachedError:
        return None
    return Proof(**{**row, "answer": Answer(row["answer"]), "kept": True})


def forget(rule: Rule) -> None:
    """It is proved again when it is asked for."""
    cache_forget(KIND, key_of(rule))


def _prove(worker: Worker, text: RuleText, rule: Rule, limit_s: float) -> Proof:
    """What is known after at most `limit_s` and a grace. It goes into the cache unless the prover ended by
    itself: that says something of this machine now, not of the rule."""
    begun = time.monotonic()
    try:
        proof = worker.ask(judge_named, text.place, text.text, rule.name, limit_s, seconds=limit_s + GRACE_S)
    except NoAnswerError as error:
        died = "the prover ended by itself; it may have run out of memory"
        why = f"no answer after {limit_s:g} s" if error.late else died
        seconds = time.monotonic() - begun
        proof = Proof(rule.name, rule.place, rule.sense, Answer.OPEN, "", False, why, 0, 0, seconds, limit_s)
        if not error.late:
            return proof
    keep(KIND, key_of(rule), asdict(proof))
    return proof
