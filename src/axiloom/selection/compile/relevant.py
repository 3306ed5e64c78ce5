"""Which rules are tried: `near` or `relevant` ones.

Most applications need a few rules among the operations that they and the machine have; all that could lead
there takes ten times as long to apply. So the near ones are tried first.

Applications with the same operations get the same rules, so answers are kept: looking through all rules takes
longer than most of what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from axiloom.graph.ops import OPS
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.rule import Pattern, Rule, terms

KEPT = 256
"""Answers, of each question."""
FREE = frozenset(name for name, op in OPS.items() if op.operands == 0)
"""What follows from nothing is a constant, and needs no instruction."""


def relevant(texts: Iterable[RuleText], graph: Iterable[str], machine: Iterable[str]) -> tuple[RuleText, ...]:
    """Rules all of whose new operations can become operations in `machine`, and all of whose old ones can
    come from operations in `graph`; both as far as the rules themselves say."""
    return _relevant(tuple(texts), frozenset(graph), frozenset(machine))


@lru_cache(maxsize=KEPT)
def _relevant(
    texts: tuple[RuleText, ...], graph: frozenset[str], machine: frozenset[str]
) -> tuple[RuleText, ...]:
    rules = [rule for text in texts for rule in text.rules]
    useful = reachable(texts, machine)
    rules = [rule for rule in rules if _ops(rule.new) <= useful]
    there = _closed(graph | FREE, [(_ops(rule.old), _ops(rule.new)) for rule in rules])

    def wanted(rule: Rule) -> bool:
        return _ops(rule.new) <= useful and _ops(rule.old) <= there and not _for_constants(rule)

    return only(texts, wanted)


def reachable(texts: Iterable[RuleText], machine: Iterable[str]) -> frozenset[str]:
    """Operations that rules may lead from to those in `machine`; from others there is no way."""
    return _reachable(tuple(texts), frozenset(machine))


@lru_cache(maxsize=KEPT)
def _reachable(texts: tuple[RuleText, ...], machine: frozenset[str]) -> frozenset[str]:
    rules = [rule for text in texts for rule in text.rules]
    return _closed(machine | FREE, [(_ops(rule.new), _ops(rule.old)) for rule in rules])


def near(texts: Iterable[RuleText], graph: Iterable[str], machine: Iterable[str]) -> tuple[RuleText, ...]:
    """Rules about nothing but operations in `graph` and in `machine`."""
    return _near(tuple(texts), frozenset(graph) | frozenset(machine) | FREE)


@lru_cache(maxsize=KEPT)
def _near(texts: tuple[RuleText, ...], there: frozenset[str]) -> tuple[RuleText, ...]:
    return only(texts, lambda rule: _ops(rule.old) | _ops(rule.new) <= there and not _for_constants(rule))


@lru_cache(maxsize=KEPT)
def of_senses(texts: tuple[RuleText, ...], senses: tuple[str, ...]) -> tuple[RuleText, ...]:
    """The rules that hold in one of these senses."""
    return only(texts, lambda rule: rule.sense in senses)


def only(texts: Iterable[RuleText], wanted: Callable[[Rule], bool]) -> tuple[RuleText, ...]:
    """The rules that are wanted, in the texts that have some."""
    kept = ((text, {rule.name for rule in text.rules if wanted(rule)}) for text in texts)
    return tuple(text.only(names) for text, names in kept if names)


def _closed(ops: frozenset[str], rules: Sequence[tuple[frozenset[str], frozenset[str]]]) -> frozenset[str]:
    while True:
        more = ops.union(*(then for needs, then in rules if needs <= ops))
        if more == ops:
            return ops
        ops = more


def _ops(pattern: Pattern) -> frozenset[str]:
    return frozenset(term.op for term in terms(pattern))


def _for_constants(rule: Rule) -> bool:
    """Whether the left side is made of nothing: constants are computed, not rewritten."""
    return _ops(rule.old) <= FREE
