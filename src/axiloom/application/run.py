"""The graph in float32 and with operators in the accelerators' numbers, side by side, call after call."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from axiloom.application.data import Data
from axiloom.application.metrics import Metric
from axiloom.application.units.counts import Array, Places
from axiloom.application.units.unit import Operator, Settings
from axiloom.graph.graph import Graph, Node
from axiloom.graph.ops.registry import OPS

Progress = Callable[[str], None]
Watch = Callable[[int, Operator, Sequence[Array]], None]
"""Is told the number of the call, an operator, and its operands."""
Plan = Mapping[str, Settings]
"""By the names of operators; those that are not there stay in float32."""


@dataclass
class Error:
    """Norm of the difference by the norm of the reference, over all calls; by step where there are steps."""

    difference: Array = field(default_factory=lambda: np.zeros(1))
    reference: Array = field(default_factory=lambda: np.zeros(1))

    def add(self, result: Array, exact: Array, steps: bool) -> None:
        apart = (result.astype(np.float64) - exact) ** 2
        size = exact.astype(np.float64) ** 2
        axes = tuple(range(1, apart.ndim)) if steps else None
        self.difference = self.difference + np.atleast_1d(apart.sum(axes))
        self.reference = self.reference + np.atleast_1d(size.sum(axes))

    @property
    def percent(self) -> float:
        return _percent(self.difference.sum(), self.reference.sum())

    @property
    def steps(self) -> list[float]:
        return [_percent(*sums) for sums in zip(self.difference, self.reference, strict=True)]


def _percent(difference: float, reference: float) -> float:
    if reference == 0:
        return 0.0 if difference == 0 else float("inf")
    return 100 * float(np.sqrt(difference / reference))


@dataclass
class Seen:
    """Of one operator: its `own` error on the inputs that it got, the error that its result `carries` against
    the run in float32, and what its numbers lost."""

    own: Error = field(default_factory=Error)
    carried: Error = field(default_factory=Error)
    places: Places = field(default_factory=Places)
    seconds: float = 0.0


@dataclass
class Run:
    """Figures of the metric, time, and `seen` by operator's name."""

    exact: float
    found: float
    output: Error
    seconds: float
    exact_seconds: float
    data: int
    seen: dict[str, Seen]


def run(
    graph: Graph,
    operators: Sequence[Operator],
    data: Data,
    plan: Plan,
    metric: Metric,
    *,
    errors: bool = True,
    progress: Progress = lambda _: None,
    watch: Watch = lambda *_: None,
) -> Run:
    """All calls of `data`. Without `errors` operators' errors are not taken, which is quicker.

    `watch` sees each operator with its operands, before it runs.
    """
    seen = {operator.name: Seen() for operator in operators if operator.name in plan}
    totals = np.zeros(4)
    spent = [0.0, 0.0]
    output = Error()
    for number_, call in enumerate(data.calls):
        progress(f"call {number_ + 1} of {len(data.calls)}")
        exact, result, seconds = _call(graph, operators, call, plan, seen, errors, partial(watch, number_))
        labels = None if data.labels is None else data.labels[number_]
        totals += *metric.of(exact, labels, exact), *metric.of(result, labels, exact)
        output.add(result, exact, False)
        spent[0] += seconds[0]
        spent[1] += seconds[1]
    exact_figure, figure = metric.told(*totals[:2]), metric.told(*totals[2:])
    return Run(exact_figure, figure, output, spent[1], spent[0], data.data, seen)


def _call(
    graph: Graph,
    operators: Sequence[Operator],
    inputs: Mapping[str, Array],
    plan: Plan,
    seen: Mapping[str, Seen],
    errors: bool,
    watch: Callable[[Operator, Sequence[Array]], None],
) -> tuple[Array, Array, tuple[float, float]]:
    """The first result in both, and the seconds of both."""
    ends = {id(operator.node): operator for operator in operators if operator.name in plan}
    covered = {id(part) for end in ends.values() for part in end.inside}
    nodes = list(graph.nodes())
    uses = Counter(id(operand) for node in nodes for operand in node.operands)
    uses.update(id(root) for root in graph.results)
    uses.update(id(operand) for operator in ends.values() for operand in operator.operands)
    exact: dict[int, Array] = {}
    values: dict[int, Array] = {}
    exact_seconds = seconds = 0.0
    for node in nodes:
        begun = time.perf_counter()
        exact[id(node)] = leaf(graph, node, inputs) if _is_leaf(node) else evaluated(node, exact)
        between = time.perf_counter()
        exact_seconds += between - begun
        operator = ends.get(id(node))
        if operator is not None:
            own = seen[operator.name]
            arrays = [values[id(part)] for part in operator.operands]
            watch(operator, arrays)
            between = time.perf_counter()
            result = operator.unit.run(operator, arrays, plan[operator.name], own.places)
            values[id(node)] = result
            passed = time.perf_counter() - between
            own.seconds += passed
            seconds += passed
            if errors:
                _judge(operator, own, arrays, exact, result)
        elif id(node) not in covered:
            same = all(values[id(part)] is exact[id(part)] for part in node.operands)
            values[id(node)] = exact[id(node)] if same else evaluated(node, values)
            seconds += between - begun if same else time.perf_counter() - between
        used = [*node.operands, *(operator.operands if operator is not None else ())]
        for part in used:
            uses[id(part)] -= 1
            if not uses[id(part)]:
                exact.pop(id(part), None)
                values.pop(id(part), None)
    first = graph.results[0]
    return exact[id(first)], values[id(first)], (exact_seconds, seconds)


def _judge(
    operator: Operator, seen: Seen, arrays: Sequence[Array], exact: Mapping[int, Array], result: Array
) -> None:
    steps = operator.node.op == "lstm"
    same = all(array is exact[id(part)] for array, part in zip(arrays, operator.operands, strict=True))
    reference = exact[id(operator.node)] if same else alone(operator, arrays)
    seen.own.add(result, reference, steps)
    seen.carried.add(result, exact[id(operator.node)], steps)


def alone(operator: Operator, arrays: Sequence[Array]) -> Array:
    """The operator in float32 on these operands."""
    values = {id(part): array for part, array in zip(operator.operands, arrays, strict=True)}
    for node in operator.inside:
        values[id(node)] = evaluated(node, values)
    return values[id(operator.node)]


def _is_leaf(node: Node) -> bool:
    return node.op in ("parameter", "constant")


def leaf(graph: Graph, node: Node, inputs: Mapping[str, Array]) -> Array:
    return graph.constant(node) if node.op == "constant" else inputs[str(node.attributes["name"])]


def evaluated(node: Node, values: Mapping[int, Array]) -> Array:
    arrays = [values[id(operand)] for operand in node.operands]
    return OPS[node.op].evaluate(arrays, [operand.type for operand in node.operands], node.attributes)
