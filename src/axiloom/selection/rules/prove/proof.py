"""A rule's proof: on every path both sides have one type, and each of its elements is the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from axiloom.graph.graph import GraphError, Type
from axiloom.graph.ops import OPS
from axiloom.selection.rules.expressions import Unsaid, equal
from axiloom.selection.rules.make import build
from axiloom.selection.rules.prove.cases import Case, bounds_of
from axiloom.selection.rules.prove.conditions import Dropped, Undecided
from axiloom.selection.rules.prove.context import Context, Memory, following
from axiloom.selection.rules.prove.equal import Equality
from axiloom.selection.rules.prove.terms import Read, Terms
from axiloom.selection.rules.rule import Rule

MOST_PATHS = 20_000


@dataclass(frozen=True)
class Value:
    """A tensor in a proof: its type, and its elements as terms."""

    type: Type
    read: Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class Outcome:
    """`proved` on all of `paths`; else `why` says on which it is not."""

    proved: bool
    bounded: bool
    paths: int
    why: str = ""
    shown: tuple[int, ...] = ()
    """Integers with which z3 saw two elements differ: perhaps they refute the rule."""


def prove(rule: Rule, until: float) -> Outcome:
    """For all sizes; where that is not decided, for the sizes that the rule states. `until`: by the clock of
    `time.monotonic`."""
    first = _tried(rule, None, until)
    if first.proved or first.why.startswith("!"):
        return first
    second = _tried(rule, bounds_of(rule), until)
    return Outcome(True, True, second.paths, first.why) if second.proved else first


def _tried(rule: Rule, sizes: Callable[[str], Sequence[int]] | None, until: float) -> Outcome:
    path: list[tuple[int, int]] | None = []
    done = 0
    memory = Memory()
    while path is not None:
        context = Context(path, memory=memory)
        shown: set[int] = set()
        try:
            if why := _path(Case(rule, context, sizes), shown):
                return Outcome(False, sizes is not None, done, why, tuple(sorted(shown)))
            done += 1
        except Dropped:
            pass
        except (Undecided, Unsaid) as error:
            return Outcome(False, sizes is not None, done, str(error))
        if done > MOST_PATHS or time.monotonic() > until:
            return Outcome(False, sizes is not None, done, f"{done} cases, and no end in sight")
        path = following(context.path)
    if not done:
        return Outcome(False, sizes is not None, 0, "no case: the left side matches nothing")
    return Outcome(True, sizes is not None, done)


def _path(case: Case, shown: set[int]) -> str:
    """Why both sides differ on one path, perhaps with the integers `shown`; empty: they are the same. Raises
    Dropped."""
    case.fill()
    context, terms = case.context, Terms(case.context)
    tensors = {name: _tensor(name, type_) for name, type_ in case.tensors.items()}
    make = _maker(terms)
    try:
        old = build(case.rule.old, case.env, tensors, make)
    except (GraphError, Unsaid):
        raise Dropped from None
    try:
        new = build(case.rule.new, case.env, tensors, make)
    except (GraphError, Unsaid) as error:
        return f"the right side has no type for {_said(case)}: {error}"
    if old.type.number != new.type.number or not _holds(context, equal(old.type.shape, new.type.shape)):
        return f"{old.type} becomes {new.type} for {_said(case)}"
    index = [context.unknown(f"i{d}", 0, n - 1) for d, n in enumerate(old.type.shape)]
    equality = Equality(context, case.rule.sense, shown)
    with context.under():
        left, right = old.read(index), new.read(index)
    if equality.same(left, right):
        return ""
    equality.unroll = True
    return "" if equality.same(left, right) else f"elements differ for {_said(case)}"


def _tensor(name: str, type_: Type) -> Value:
    return Value(type_, lambda at: Read(name, tuple(at), type_.number))


def _holds(context: Context, condition: Any) -> bool:
    return context.valid(condition)


def _maker(terms: Terms) -> Callable[[str, Sequence[Any], Mapping[str, Any]], Value]:
    def make(op: str, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Value:
        types = [operand.type for operand in operands]
        reads = [operand.read for operand in operands]
        result = OPS[op].result(types, attributes)
        return Value(result, lambda at: OPS[op].element(terms, reads, at, types, attributes))

    return make


def _said(case: Case) -> str:
    types = ", ".join(f"{name}: {type_}" for name, type_ in case.tensors.items())
    names = {attribute.name for attribute in case.rule.attributes}
    values = [f"{name} = {value}" for name, value in case.env.items() if name in names]
    return ", ".join([types, *values])
