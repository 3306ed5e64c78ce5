"""`saturate`. The engine is in a process of its own, kept warm: egglog itself cannot be interrupted."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import AxiloomError
from axiloom.base.worker import NoAnswerError, Worker
from axiloom.graph.graph import Graph
from axiloom.selection.egraph.saturated import Limits, Saturated, SaturationError
from axiloom.selection.rules import library
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.proved import usable

if TYPE_CHECKING:
    from axiloom.selection.egraph.engine import Engine
from axiloom.graph.graph import Node


def flat(graph: Graph) -> list[tuple[Any, ...]]:
    """The graph without nesting: pickle descends into operands."""
    number: dict[int, int] = {}
    rows: list[tuple[Any, ...]] = []
    for node in graph.nodes():
        operands = tuple(number[id(operand)] for operand in node.operands)
        number[id(node)] = len(rows)
        rows.append((node.op, operands, dict(node.attributes), node.type, node.place))
    return [(graph.name, tuple(number[id(result)] for result in graph.results)), *rows]


def unflat(rows: Sequence[tuple[Any, ...]]) -> Graph:
    """The graph of `flat`."""
    nodes: list[Node] = []
    for op, operands, attributes, type_, place in rows[1:]:
        nodes.append(Node(op, tuple(nodes[operand] for operand in operands), attributes, type_, place))
    name, results = rows[0]
    parameters = tuple(node for node in nodes if node.op == "parameter")
    return Graph(name, parameters, tuple(nodes[result] for result in results))


GRACE_S = 5.0
"""Beyond the limit: the engine looks at its clock between iterations."""
START_S = 60.0


WORKER = Worker()
Text = tuple[str, str, frozenset[str] | None, frozenset[str]]
"""Of rules: its place, the text, names of rules that may be used or None, names of those that are proved for
the sizes that they state alone."""


def warm(rules: Sequence[RuleText]) -> float:
    """Starts the engine with these rules; the seconds that it took."""
    begun = time.perf_counter()
    _ask(_texts(rules), None, Limits(), START_S)
    return time.perf_counter() - begun


def saturate(
    graph: Graph, rules: Sequence[RuleText], limits: Limits | None = None, *, unproved: bool = False
) -> Saturated:
    """All that `rules` make of a graph. A limit that ends it is in `stopped`.

    A rule of a user's is proved first, one of ours when it is applied: should it not be decided, all is made
    again without it. `unproved`: as they are, for tests. Raises SaturationError, and RuleError for a rule
    that is wrong.
    """
    limits = limits or Limits()
    # Contents of constants stay here: no rule looks at them.
    plain = flat(Graph(graph.name, graph.parameters, graph.results))
    if unproved:
        return _saturated(plain, tuple(rules), limits)
    now = [
        kept for text in rules for kept in usable([text], () if (text.place, text.text) in _ours() else None)
    ]
    while True:
        saturated = _saturated(plain, tuple(now), limits)
        proved = [*usable(now, saturated.applied)]
        if proved == now:
            return saturated
        now = proved


@cache
def _ours() -> frozenset[tuple[str, str]]:
    """Place and text of the files that come with Axiloom."""
    return frozenset((text.place, text.text) for text in library.every())


def _saturated(graph: Any, rules: tuple[RuleText, ...], limits: Limits) -> Saturated:
    warm(rules)
    answer = _ask(_texts(rules), graph, limits, limits.seconds + GRACE_S)
    assert answer is not None
    return answer


def _texts(rules: Sequence[RuleText]) -> tuple[Text, ...]:
    return tuple((rule.place, rule.text, rule.names, rule.bounded) for rule in rules)


def _ask(texts: tuple[Text, ...], graph: Any, limits: Limits, seconds: float) -> Saturated | None:
    """What the engine answers. Raises SaturationError if it takes longer than that, or dies."""
    try:
        answer = WORKER.ask(_answer, texts, graph, limits, seconds=seconds)
    except NoAnswerError as error:
        late = f"saturation was killed after {seconds:g} s: one iteration took too long"
        died = "the engine of egraphs died; the graph may be too big for memory"
        raise SaturationError(late if error.late else died) from None
    if isinstance(answer, SaturationError):
        raise answer
    return answer


# --- in the worker


def _answer(texts: tuple[Text, ...], rows: Any, limits: Limits) -> Saturated | SaturationError | None:
    """None if there is no graph: the rules are read then, and no more."""
    try:
        engine = _engine_of(texts)
        return None if rows is None else engine.saturate(unflat(rows), limits)
    except AxiloomError as error:
        return SaturationError(str(error))


@lru_cache(maxsize=8)
def _engine_of(texts: tuple[Text, ...]) -> Engine:
    """One stays for each set of rules."""
    from axiloom.selection.egraph.engine import Engine

    sys.setrecursionlimit(1 << 20)
    engine = Engine([rule for text in texts for rule in RuleText(*text).rules])
    gc.freeze()  # the collector need not look through rules again with every graph
    return engine
