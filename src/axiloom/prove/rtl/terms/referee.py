"""What a proof of a device rests on, asked again of bitwuzla: who says so too certifies it.

z3 finds what a device at rest looks like, which cases there are and where each leads. Here is kept what it
said, and bitwuzla, which shares no line with it, is given the same questions:

- a term, and what z3's rewriting made of it, wherever the search uses that;
- terms of the RTL and of the model as they were read, values for what they hang on, and what z3 worked out:
  each cycle of each module, each command of the model. Bitwuzla puts the values in by itself;
- a claim with its premises that z3 has proved, as it was before rewriting;
- that the cases of an instruction which were gone through are all that there are, whatever is at rest.

Functions without a meaning are that for both. That a search has gone on from each state, with all that the
other sides may do, is counted again (:attr:`~axiloom.prove.rtl.opcodes.explore.Explored.is_closed`). Shared
are Yosys' reading of the Verilog, the model, and what a state at rest is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from axiloom.base.worker import NoAnswerError, Worker
from axiloom.prove.rtl.terms.machine import Machine
from axiloom.prove.rtl.terms.nodes import number
from axiloom.prove.rtl.terms.smtlib import Text

ENGINE = "bitwuzla"
SHARED = ""
"""The group of what every claim rests on."""
TOGETHER = 200
"""Facts in one question."""
LIMIT_S = 60
"""Of one question: a busy machine takes ten times as long as an idle one."""
WHOLE_S = 600


@dataclass(frozen=True)
class _Worked:
    """Names of `terms`, of values for constants in them, and of what came out."""

    terms: Sequence[str]
    values: Mapping[str, str]
    results: Sequence[str]


@dataclass(frozen=True)
class Case:
    """All facts, as text: `lines`; names of what is asked, by group; `given`: what holds of functions."""

    lines: Sequence[str]
    given: Sequence[str]
    facts: Mapping[str, Sequence[str]]
    same: Sequence[tuple[str, str]]
    worked: Sequence[_Worked]


class Referee:
    """Keeps facts, and asks."""

    def __init__(self) -> None:
        self.group = SHARED
        """Of the claims that come."""
        self._rewritten: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._proved: dict[str, dict[int, Any]] = defaultdict(dict)
        self._worked: dict[tuple[int, ...], tuple[Sequence[Any], Sequence[Any], Sequence[Any]]] = {}
        self._wrong: set[str] = set()
        self._worker: Worker | None = None

    def simplify(self, term: Any) -> Any:
        """``z3.simplify(term)``"""
        simple = z3.simplify(term)
        self.same(term, simple)
        return simple

    def same(self, term: Any, other: Any) -> None:
        """One was made of the other."""
        key = number(term), number(other)
        if key[0] != key[1]:
            self._rewritten.setdefault(key, (term, other))

    def worked(self, terms: Sequence[Any], values: Sequence[tuple[Any, Any]], results: Sequence[Any]) -> None:
        """The `terms`, with `values` in the places of constants, are the `results`."""
        key = (*map(number, terms), *(number(value) for _, value in values))
        self._worked.setdefault(key, (terms, values, results))

    def proved(self, claim: Any, group: str | None = None) -> None:
        """z3 says that `claim` holds for all values of its constants."""
        self._proved[self.group if group is None else group].setdefault(number(claim), claim)

    def fails(self, group: str) -> None:
        """Something was left out."""
        self._wrong.add(group)

    def forget(self) -> None:
        """All that hangs on what is known of states at rest: the proof begins again."""
        self._proved = defaultdict(dict, {group: self._proved[group] for group in (SHARED, "product")})
        self._wrong.clear()

    def case(self, machine: Machine) -> Case:
        """All that was kept, and the cycles of `machine`."""
        text = Text()
        facts = {group: text.names(claims.values()) for group, claims in self._proved.items()}
        given: list[str] = []
        worked = [_named(text, *one) for one in self._worked.values()]
        for module in machine.modules:
            terms = [term for _, _, term in module.members]
            for values, results in module.known.values():
                worked.append(_named(text, terms, [*zip(module.constants, values, strict=True)], results))
            given += [text.name(a == b) for a, b in module.products if _is_product_of_numbers(a, b)]
        pairs = [*self._rewritten.values(), *machine.rewritten]
        same = [(text.name(one), text.name(other)) for one, other in pairs]
        return Case(text.lines, given, facts, same, worked)

    def ask(self, machine: Machine) -> None:
        """Without waiting for the answer."""
        self._worker = Worker()
        self._worker.send(not_certified, self.case(machine), LIMIT_S)

    def answer(self, groups: Collection[str]) -> set[str]:
        """Those of the `groups` that are certified, each with what it rests on."""
        assert self._worker is not None
        with self._worker as worker:
            try:
                wrong: set[str] = self._wrong | worker.receive(WHOLE_S)
            except NoAnswerError:
                return set()
        return set() if SHARED in wrong else set(groups) - wrong


def _named(
    text: Text, terms: Sequence[Any], values: Sequence[tuple[Any, Any]], results: Sequence[Any]
) -> _Worked:
    given = {}
    for constant, value in values:
        name = text.name(value)
        if z3.is_bool(constant) and not z3.is_bool(value):
            name = text.defined(f"(= {name} #b1)")
        given[text.name(constant)] = name
    return _Worked(text.names(terms), given, text.names(results))


def _is_product_of_numbers(term: Any, product: Any) -> bool:
    """Computed here, not by z3."""
    a, b = (child.as_long() for child in term.children())
    return bool((a * b - product.as_long()) % (1 << product.size()) == 0)


# --- in a worker


def not_certified(case: Case, limit_s: int) -> set[str]:
    """The groups of which bitwuzla does not say that all facts hold."""
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, limit_s * 1000)
    terms = bitwuzla.TermManager()
    parser = bitwuzla.Parser(terms, options)
    parser.parse("\n".join(["(set-logic QF_AUFBV)", *case.lines, ""]), True, False)
    solver = parser.bitwuzla()
    for name in case.given:
        solver.assert_formula(parser.parse_term(name))
    facts = {group: [*map(parser.parse_term, names)] for group, names in case.facts.items()}
    shared: list[Any] = []
    for one in case.worked:
        values = {parser.parse_term(a): parser.parse_term(b) for a, b in one.values.items()}
        mine = terms.substitute_terms([*map(parser.parse_term, one.terms)], values)
        for term, name in zip(mine, one.results, strict=True):
            shared += _equal(terms, term, parser.parse_term(name))
    for name, other in case.same:
        shared += _equal(terms, parser.parse_term(name), parser.parse_term(other))
    facts[SHARED] = [*facts.get(SHARED, ()), *shared]
    return {group for group, some in facts.items() if not _hold(solver, terms, some)}


def _equal(terms: Any, one: Any, other: Any) -> Iterator[Any]:
    """Of memories: what `other` says of some addresses, each by itself, and that all else is the same."""
    from bitwuzla import Kind

    if one == other:
        return
    if not one.sort().is_array():
        yield terms.mk_term(Kind.EQUAL, [one, other])
        return

    def at(address: Any) -> Any:
        mine, theirs = (terms.mk_term(Kind.ARRAY_SELECT, [memory, address]) for memory in (one, other))
        return terms.mk_term(Kind.EQUAL, [mine, theirs])

    anywhere, rest = terms.mk_const(one.sort().array_index()), other
    known = [terms.mk_false(), at(anywhere)]
    while rest.kind() == Kind.ARRAY_STORE:
        rest, address, _ = rest.children()
        known.append(terms.mk_term(Kind.EQUAL, [anywhere, address]))
        yield at(address)
    yield terms.mk_term(Kind.OR, known)


class _Sums:
    """Sums with their parts in one order, as solvers are slow to find that order does not matter."""

    def __init__(self, terms: Any) -> None:
        self._terms, self._known = terms, dict[int, Any]()

    def __call__(self, term: Any) -> Any:
        stack = [(term, False)]
        while stack:
            node, ready = stack.pop()
            if node.id() in self._known:
                continue
            below = node.children()
            if ready or not below:
                self._known[node.id()] = self._again(node, below)
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in below)
        return self._known[term.id()]

    def _again(self, node: Any, below: Sequence[Any]) -> Any:
        from bitwuzla import Kind

        now = [self._known[child.id()] for child in below]
        if node.kind() == Kind.BV_ADD:
            parts: list[Any] = []
            while now:
                part = now.pop()
                if part.kind() == Kind.BV_ADD:
                    now += part.children()
                else:
                    parts.append(part)
            first, *others = sorted(parts, key=lambda part: int(part.id()))
            for other in others:
                first = self._terms.mk_term(Kind.BV_ADD, [first, other])
            return first
        if all(a == b for a, b in zip(now, below, strict=True)):
            return node
        return self._terms.mk_term(node.kind(), now, node.indices())


def _hold(solver: Any, terms: Any, facts: Sequence[Any]) -> bool:
    import bitwuzla

    true, ordered = terms.mk_true(), _Sums(terms)
    simple = (solver.simplify_term(fact) for fact in facts)
    again = (solver.simplify_term(ordered(fact)) for fact in simple if fact != true)
    left = [fact for fact in again if fact != true]

    def says(some: Sequence[Any]) -> bool:
        whole = terms.mk_term(bitwuzla.Kind.AND, [true, *some])
        no: bool = solver.check_sat(terms.mk_term(bitwuzla.Kind.NOT, [whole])) == bitwuzla.Result.UNSAT
        return no

    chunks = (left[at : at + TOGETHER] for at in range(0, len(left), TOGETHER))
    return all(says(some) or all(says([fact]) for fact in some) for some in chunks)
