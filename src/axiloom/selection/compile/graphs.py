"""`compile_graph`: from an application to a program of a machine's instructions.

Rules make all equal forms of it, `cover` chooses what makes which value where, `place` orders that and gives
addresses, and the host's memory is laid out around it. What comes out is not to be trusted:
:mod:`axiloom.selection.validate` replays it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from axiloom.graph.graph import Graph, Node
from axiloom.selection.compile.assemble import assemble
from axiloom.selection.compile.cover import Cover, Made, cover
from axiloom.selection.compile.identities import with_identities
from axiloom.selection.compile.place import Placement, place
from axiloom.selection.compile.relevant import near, of_senses, reachable, relevant
from axiloom.selection.compile.target import Target
from axiloom.selection.compile.views import VIEWS
from axiloom.selection.egraph.saturated import Limits, Saturated, SaturationError
from axiloom.selection.egraph.saturation import saturate
from axiloom.selection.machine.derive import Meaning
from axiloom.selection.program.program import Program
from axiloom.selection.rules.library import RuleText, ours

SECONDS = 0.15
"""For each choice by a solver. What was found then is used, and the bound is said."""
LIMITS = Limits(nodes=20_000, iterations=12, seconds=3.0)
Choose: TypeAlias = Callable[[Iterable[RuleText], Iterable[str], Iterable[str]], tuple[RuleText, ...]]


@dataclass(frozen=True)
class Compiled:
    """A program and how it came to be. `reals`: rules for real numbers were used, so that roundings may
    differ from the application's. `seconds` by stage."""

    program: Program
    cover: Cover
    placement: Placement
    reals: bool
    seconds: Mapping[str, float]

    @property
    def cycles(self) -> int:
        return self.placement.cycles


def compile_graph(
    graph: Graph,
    target: Target,
    rules: Sequence[RuleText] | None = None,
    *,
    limits: Limits = LIMITS,
    seconds: float = SECONDS,
) -> Compiled:
    """Rules near the application and the machine first, then all that could lead there, then those for real
    numbers. `seconds`: for each choice by CP-SAT. Raises CompileError or SaturationError, whose text
    names the value or the bound."""
    texts = ours() if rules is None else tuple(rules)
    _check(graph, target, texts)
    fault: SaturationError | None = None
    forms: dict[tuple[RuleText, ...], Saturated] = {}
    for reals, choose in ((False, near), (False, relevant), (True, near), (True, relevant)):
        times: dict[str, float] = {}
        clock = _Clock(times)
        chosen = _rules(graph, target, texts, reals, choose)
        clock("rules")
        if chosen not in forms:
            forms[chosen] = saturate(graph, chosen, limits)
        clock("saturate")
        saturated = forms[chosen]
        if reals:
            saturated = with_identities(saturated, target.instructions(saturated.types))
        offered = target.offers.of(saturated, graph) if target.offers is not None else None
        try:
            whole = saturated if offered is None else offered.saturated
            covered = cover(whole, target, offered, seconds=seconds)
        except SaturationError as error:
            fault = fault or error
            continue
        clock("cover")
        placement = place(covered, target)
        clock("place")
        program = assemble(graph, covered, placement, target)
        clock("program")
        return Compiled(program, covered, placement, reals, times)
    assert fault is not None
    raise fault


@dataclass
class _Clock:
    times: dict[str, float]
    last: float = 0.0

    def __post_init__(self) -> None:
        self.last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.times[stage] = now - self.last
        self.last = now


def _rules(
    graph: Graph, target: Target, texts: Iterable[RuleText], reals: bool, choose: Choose
) -> tuple[RuleText, ...]:
    senses = ("exact", "integers", "reals") if reals else ("exact", "integers")
    allowed = of_senses(tuple(texts), senses)
    return choose(allowed, {node.op for node in graph.nodes()}, _machine(graph, target))


def _machine(graph: Graph, target: Target) -> set[str]:
    """Operations that instructions and views are made of."""
    meanings = target.instructions(node.type for node in graph.nodes())
    offered = target.offers.ops if target.offers is not None else frozenset()
    ops = {node.op for meaning in meanings for node in _ops_of(meaning.value)} - {"parameter"}
    return ops | offered | set(VIEWS)


def _check(graph: Graph, target: Target, texts: Sequence[RuleText]) -> None:
    """What no rule can help: numbers that the machine has not, operations from which nothing leads there."""
    name = target.isa.name
    numbers = {
        meaning.result.type.number
        for meaning in target.meanings.found.values()
        if isinstance(meaning, Meaning)
    }
    numbers |= target.offers.numbers if target.offers is not None else frozenset()
    there = reachable(texts, _machine(graph, target)) | {"parameter", "constant"}
    constant: set[int] = set()
    for node in graph.nodes():
        if node.op != "parameter" and all(id(operand) in constant for operand in node.operands):
            constant.add(id(node))
            continue
        where = f"{node.place}: " if node.place else ""
        if node.op not in there:
            raise SaturationError(
                f"{where}{name} has nothing that makes {_said(node)}, and no rule leads there"
            )
        if node.op == "parameter" and node.type.number not in numbers and "convert" not in there:
            raise SaturationError(
                f"{where}{node.attributes['name']} is {node.type}; {name} has {', '.join(sorted(numbers))}"
            )


def _said(node: Node) -> str:
    return f"{node.op}({', '.join(str(operand.type) for operand in node.operands)}) : {node.type}"


def _ops_of(node: Node) -> list[Node]:
    return [node, *(below for operand in node.operands for below in _ops_of(operand))]


def instructions_of(covered: Cover) -> list[str]:
    """What was chosen, by name, operands first."""
    return [way.meaning.instruction for way in covered.ways.values() if isinstance(way, Made)]
