"""``--select egraph``: which unit of which accelerator takes which operation, for the application as a whole.

Proved rules make all forms of the application; each product and each LSTM in them is offered to all units and
to the host. The cheapest graph is taken, every value in it paid for once. It is another graph than the
application's, equal in real numbers: :func:`check` compares them in float32.

Units of several instruction sets are chosen in the application, not in one program. A unit may be driven by
micro-ops, or by a program of many commands, and need not have an instruction that is a product as a whole. It
knows what it takes and how it is driven, so it can make an offer for a class of the saturated graph.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from axiloom.application.cycles import of_operator, on_host
from axiloom.application.data import Data
from axiloom.application.offload import Offloaded, numbered, units
from axiloom.application.units.unit import Operator, Unit
from axiloom.base.errors import MismatchError, UsageError
from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, Node, Type
from axiloom.selection.egraph.exact import improve
from axiloom.selection.egraph.extract import greedy
from axiloom.selection.egraph.problem import problem_of_ways
from axiloom.selection.egraph.saturated import ENode, Limits, Saturated
from axiloom.selection.egraph.saturation import saturate
from axiloom.selection.rules import library
from axiloom.selection.rules.library import RuleText

LIMITS = Limits(iterations=80, seconds=60.0)
"""An LSTM comes apart one step an iteration."""
FAMILIES = ("products", "convolutions", "moves", "networks", "recurrent")
LEFT_OUT = (
    *("slices", "dense_of_one_channel", "dense_is_dot_of_transpose", "dot_is_points"),
    *("rows_padded", "columns_padded", "terms_padded", "terms_padded_reals"),
    *("scaled_convolution", "scaled_dense"),
)
"""Rules that lead to no unit, or to more of them than there are values."""
CLOSE = 1e-3
"""How far the chosen graph may be off in float32, of the largest element: only roundings differ."""
HOST = "host"


@dataclass(frozen=True)
class Taken:
    """How a class is made: `inside` (operands first, each with what it reads) ends in it; `unit` None: the
    host."""

    inside: tuple[ENode, ...]
    unit: Unit | None = None


Way: TypeAlias = tuple[int, tuple[int, ...], Taken]


@dataclass(frozen=True)
class Choice:
    """Where an operation went that a unit could take, and its cycles by unit."""

    name: str
    shape: str
    place: str
    cycles: Mapping[str, int]


@dataclass(frozen=True)
class Selected:
    """`graph` with `offloaded` takes `cycles`; `alone`: with each accelerator alone, by name (0: it takes
    nothing). No graph of this e-graph takes fewer than `bound`."""

    graph: Graph
    offloaded: Offloaded
    choices: tuple[Choice, ...]
    cycles: int
    bound: int
    alone: Mapping[str, int]
    on_host: int
    forms: int
    rules: tuple[str, ...]
    stopped: str
    apart: float = 0.0
    """The chosen graph from the application's, in float32, of the largest element."""
    seconds: float = 0.0


def select(graph: Graph, accelerators: Sequence[str], *, seconds: float = 20.0) -> Selected:
    """Raises UsageError where no unit takes anything, SaturationError where rules contradict each other."""
    begun = time.perf_counter()
    chosen = units(accelerators)
    saturated = saturate(graph, _rules(), LIMITS)
    offers = {unit.name: _offers(saturated, unit) for unit in chosen}
    base = _host(saturated)
    picked, cost, bound = _cheapest(saturated, base, [offers[unit.name] for unit in chosen], seconds)
    if not any(taken.unit for taken in picked.values()):
        raise UsageError(f"{graph.name}: on {', '.join(accelerators)} nothing is faster than on the host")
    alone = {
        name: _cheapest(saturated, base, [offers[unit.name] for unit in units([name])], seconds)[1]
        for name in accelerators
    }
    only_host = _cheapest(saturated, base, [], seconds)[1]
    selected_graph, assigned = _graph(saturated, picked, graph)
    operators = _operators(selected_graph, assigned)
    rules = {node.rule for taken in picked.values() for node in taken.inside if node.rule}
    choices = tuple(_choices(operators, chosen))
    return Selected(
        selected_graph,
        Offloaded(operators, ()),
        choices,
        cost,
        bound,
        alone,
        only_host,
        saturated.nodes,
        tuple(sorted(rules)),
        saturated.stopped,
        seconds=time.perf_counter() - begun,
    )


def check(selected: Selected, graph: Graph, data: Data) -> Selected:
    """Compared with the application on the first call of the data. Raises MismatchError."""
    (old,) = evaluate(graph, data.calls[0])[:1]
    (new,) = evaluate(selected.graph, data.calls[0])[:1]
    apart = float(np.max(np.abs(new - old), initial=0)) / max(float(np.max(np.abs(old), initial=0)), 1e-30)
    if not apart <= CLOSE:
        raise MismatchError(f"{graph.name}: the chosen graph is {apart:.2g} of the largest element off")
    return replace(selected, apart=apart)


def lines(selected: Selected) -> list[str]:
    """What went where and why, for people."""
    counted = Counter(operator.unit.name for operator in selected.offloaded.operators)
    where = ", ".join(f"{many} on {name}" for name, many in counted.items())
    best = (
        "the cheapest" if selected.bound >= selected.cycles else f"none takes fewer than {selected.bound:,}"
    )
    alone = ", ".join(f"{name} alone {cycles:,}" for name, cycles in selected.alone.items())
    names = list(dict.fromkeys(name for choice in selected.choices for name in choice.cycles))
    rows = [["operation", "operands", *names, "goes to"]]
    same: Counter[tuple[str, ...]] = Counter()
    for choice in selected.choices:
        cells = [f"{choice.cycles[name]:,}" if name in choice.cycles else "-" for name in names]
        same[choice.name, choice.shape, *cells, choice.place] += 1
    rows += [[f"{many} x {row[0]}" if many > 1 else row[0], *row[1:]] for row, many in same.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        f"Selected: {where}; {selected.cycles:,} cycles, {best} of {selected.forms} forms "
        f"({selected.stopped}); {alone}, the host alone {selected.on_host:,}",
        f"Rules: {', '.join(selected.rules) or 'none'}; {selected.apart:.1g} of the largest element apart",
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ),
    ]


def _rules() -> tuple[RuleText, ...]:
    texts = [text for text in library.ours() if text.place.partition(".")[0] in FAMILIES]
    return tuple(text.only(rule.name for rule in text.rules if rule.name not in LEFT_OUT) for text in texts)


def _host(saturated: Saturated) -> dict[int, list[Way]]:
    ways: dict[int, list[Way]] = {}
    for eclass, nodes in enumerate(saturated.classes):
        ways[eclass] = [
            (
                on_host(
                    node.op, node.given, [saturated.types[n] for n in node.operands], saturated.types[eclass]
                ),
                tuple(dict.fromkeys(node.operands)),
                Taken((node,)),
            )
            for node in nodes
        ]
    return ways


def _offers(saturated: Saturated, unit: Unit) -> dict[int, list[Way]]:
    offers: dict[int, list[Way]] = {}
    known: dict[object, int | None] = {}
    for eclass, nodes in enumerate(saturated.classes):
        for inside in _groups(saturated, nodes):
            operator = _operator(saturated, unit, eclass, inside)
            if operator is None:
                continue
            key = tuple((n.op, n.attributes, tuple(saturated.types[x] for x in n.operands)) for n in inside)
            if key not in known:
                known[key] = of_operator(operator)
            cost = known[key]
            assert cost is not None
            needs = dict.fromkeys(n for node in inside for n in node.operands)
            if len(inside) > 1:
                needs.pop(inside[1].operands[0], None)
            offers.setdefault(eclass, []).append((cost, tuple(needs), Taken(inside, unit)))
    return offers


def _groups(saturated: Saturated, nodes: Sequence[ENode]) -> Iterator[tuple[ENode, ...]]:
    """What a unit may take that ends in one of these: a node, or a product and its bias."""
    for node in nodes:
        if node.op == "bias_add":
            for inner in saturated.classes[node.operands[0]]:
                if inner.op in PRODUCTS:
                    yield inner, node
        elif node.op in (*PRODUCTS, "lstm"):
            yield (node,)


PRODUCTS = ("dense", "convolution")


def _operator(saturated: Saturated, unit: Unit, eclass: int, inside: tuple[ENode, ...]) -> Operator | None:
    """Asked of nodes with operands of the same types."""
    first = _node(inside[0], [_leaf(n, saturated.types[n]) for n in inside[0].operands], None, saturated)
    node = first
    if len(inside) > 1:
        bias = inside[1].operands[1]
        first = replace(first, type=saturated.types[inside[1].operands[0]])
        operands = [first, _leaf(bias, saturated.types[bias])]
        node = _node(inside[1], operands, saturated.types[eclass], saturated)
    else:
        node = replace(first, type=saturated.types[eclass])
    taken = unit.take(node, Counter())
    return taken if isinstance(taken, Operator) else None


def _leaf(number: int, type_: Type) -> Node:
    return Node("parameter", (), {"name": str(number)}, type_)


def _node(way: ENode, operands: Sequence[Node], type_: Type | None, saturated: Saturated) -> Node:
    return Node(way.op, tuple(operands), dict(way.attributes), type_ or operands[0].type, way.place)


def _cheapest(
    saturated: Saturated,
    base: Mapping[int, list[Way]],
    offers: Sequence[Mapping[int, list[Way]]],
    seconds: float,
) -> tuple[dict[int, Taken], int, int]:
    ways = {
        eclass: [*of, *(way for offer in offers for way in offer.get(eclass, ()))]
        for eclass, of in base.items()
    }
    problem = problem_of_ways(ways, saturated.roots)
    assert problem is not None, "the host makes everything"
    picked, cost = greedy(problem)
    picked, cost, bound = improve(problem, picked, cost, seconds)
    return {eclass: problem.ways[eclass][way][2] for eclass, way in picked.items()}, cost, bound


def _graph(
    saturated: Saturated, picked: Mapping[int, Taken], graph: Graph
) -> tuple[Graph, Mapping[int, Unit]]:
    """The chosen nodes, and units by the ``id`` of the nodes that they make."""
    nodes: dict[int, Node] = {}
    assigned: dict[int, Unit] = {}
    for eclass, taken in picked.items():  # operands first
        first = taken.inside[0]
        type_ = saturated.types[eclass if len(taken.inside) == 1 else taken.inside[1].operands[0]]
        node = Node(
            first.op, tuple(nodes[n] for n in first.operands), dict(first.attributes), type_, first.place
        )
        if len(taken.inside) > 1:
            last = taken.inside[1]
            operands = node, nodes[last.operands[1]]
            place = last.place or first.place
            node = Node(last.op, operands, dict(last.attributes), saturated.types[eclass], place)
        nodes[eclass] = node
        if taken.unit is not None:
            assigned[id(node)] = taken.unit
    there = {str(node.attributes["name"]): node for node in nodes.values() if node.op == "parameter"}
    parameters = tuple(
        there.get(str(parameter.attributes["name"]), parameter) for parameter in graph.parameters
    )
    results = tuple(nodes[root] for root in saturated.roots)
    return Graph(graph.name, parameters, results, graph.constants), assigned


def _operators(graph: Graph, assigned: Mapping[int, Unit]) -> tuple[Operator, ...]:
    nodes = list(graph.nodes())
    uses = Counter(id(operand) for node in nodes for operand in node.operands)
    units_of = ((node, assigned[id(node)]) for node in nodes if id(node) in assigned)
    taken = (unit.take(node, uses) for node, unit in units_of)
    return numbered(operator for operator in taken if isinstance(operator, Operator))


def _choices(operators: Sequence[Operator], chosen: Sequence[Unit]) -> Iterator[Choice]:
    for operator in operators:
        cycles = {}
        for unit in chosen:
            taken = unit.take(operator.node, Counter())
            if isinstance(taken, Operator):
                cycles[unit.name] = of_operator(taken)
        inside = operator.inside
        cycles[HOST] = sum(
            on_host(part.op, part.attributes, [operand.type for operand in part.operands], part.type)
            for part in inside
        )
        yield Choice(operator.node.op, operator.shape, operator.unit.name, cycles)
