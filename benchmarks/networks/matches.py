"""Exact and flexible matches: how often accelerators' kernels are chosen for a graph as it stands, and for
all that rules make of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from axiloom.graph.graph import Graph, Type
from axiloom.graph.ops.convolution import dims_of
from axiloom.selection.accelerators.kernels import Patterns
from axiloom.selection.accelerators.offers import matches as matches_of
from axiloom.selection.egraph import ENode, Extracted, Limits, Saturated, extract, saturate
from axiloom.selection.egraph.engine import LEAVES
from axiloom.selection.rules.library import RuleText

CALL = 1_000
"""Cycles to start an accelerator."""
LANES = 16
"""Multiply-adds of an accelerator in a cycle; the CPU takes a cycle for half of one."""
FREE = (*LEAVES, "splat", "reshape")
"""What costs nothing: no element is computed, and none lies elsewhere."""


@dataclass(frozen=True)
class Matches:
    """`counted`: ``ACCELERATOR.KERNEL`` to how often it is chosen."""

    counted: Mapping[str, int]
    saturated: Saturated
    extracted: Extracted

    def of(self, accelerator: str, kernels: Iterable[str]) -> int:
        """How many calls of these kernels."""
        return sum(self.counted.get(f"{accelerator}.{kernel}", 0) for kernel in kernels)

    @property
    def seconds(self) -> float:
        return self.saturated.seconds + self.extracted.seconds


def matches(
    graph: Graph,
    accelerators: Iterable[Patterns],
    rules: Sequence[RuleText] = (),
    limits: Limits | None = None,
    *,
    seconds: float = 0.0,
) -> Matches:
    """Without rules: exact matches. `seconds`: for a proof that the choice is the cheapest."""
    saturated = saturate(graph, rules, limits)
    offered = with_offers(saturated, accelerators)
    extracted = extract(offered, cost, seconds=seconds, name=graph.name)
    counted = Counter(node.op for node in extracted.chosen.values() if "." in node.op)
    return Matches(dict(sorted(counted.items())), saturated, extracted)


def cost(node: ENode, operands: Sequence[Type], result: Type) -> int | None:
    """Cycles, roughly: enough to tell an accelerator from a CPU, and a product from a move."""
    accelerator, _, kernel = node.op.rpartition(".")
    work = _WORK.get(kernel)
    done = (
        work(node, operands, result)
        if work
        else sum(operand.elements for operand in operands) + result.elements
    )
    if accelerator:
        return CALL + done // LANES
    return 0 if node.op in FREE else 1 + (2 * done if work else done)


def _rows(_: ENode, operands: Sequence[Type], result: Type) -> int:
    """Of a dense layer: each result is a sum over the last dimension."""
    return result.elements * operands[0].shape[-1]


def _contracted(node: ENode, operands: Sequence[Type], result: Type) -> int:
    dimensions = node.given["lhs_contracting"]
    assert isinstance(dimensions, tuple)
    return result.elements * prod(operands[0].shape[dimension] for dimension in dimensions)


def _kernels(node: ENode, operands: Sequence[Type], result: Type) -> int:
    """Of a convolution: each result is a sum over a kernel."""
    dims = dims_of(str(node.given.get("dims", "bf01_oi01->bf01")))
    return result.elements * operands[1].elements // operands[1].shape[dims.kernel_out]


def _cells(_: ENode, operands: Sequence[Type], result: Type) -> int:
    """Of LSTM cells: four gates."""
    x, h = operands[-3:-1]
    return 4 * result.elements * (x.shape[-1] + h.shape[-1])


_WORK: Mapping[str, Callable[[ENode, Sequence[Type], Type], int]] = {
    **dict.fromkeys(("dense", "linear", "gemm"), _rows),
    "dot_general": _contracted,
    **dict.fromkeys(("convolution", "conv"), _kernels),
    **dict.fromkeys(("lstm", "lstm_cells", "lstm_h", "lstm_c"), _cells),
}
"""Multiply-adds."""


def with_offers(saturated: Saturated, accelerators: Iterable[Patterns]) -> Saturated:
    """The same classes with a node ``ACCELERATOR.KERNEL`` for each match; operands in the pattern's order."""
    chosen = [(accelerator.name, matcher) for accelerator in accelerators for matcher in accelerator.matchers]
    classes = []
    for number, nodes in enumerate(saturated.classes):
        offers = dict.fromkeys(
            ENode(f"{name}.{matcher.rule.name}", operands, (), name)
            for name, matcher in chosen
            for operands in matches_of(saturated, matcher, number)
        )
        classes.append((*nodes, *offers))
    return replace(saturated, classes=tuple(classes))
