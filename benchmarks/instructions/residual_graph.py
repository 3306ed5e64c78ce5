"""A graph of 900 nodes with residuals: what tree costs choose, and what is right.

Sixty blocks of a multilayer perceptron with a residual each: every block's input is used twice, so the cost
of a tree doubles at each block. Egglog's own extraction adds costs of trees in 64 bits, which are full after
some fifty blocks: whatever comes then costs the same, and products stay on the CPU. Here a node is counted
once, and CP-SAT says below which cost there is no graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from axiloom.graph import Graph, Node, Type
from axiloom.graph.ops import Builder
from axiloom.selection.accelerators.kernels import accelerators
from axiloom.selection.egraph import Limits, extract, saturate
from axiloom.selection.egraph.problem import Problem, problem_of, used
from axiloom.selection.rules import library
from axiloom.selection.rules.prove.proved import usable
from benchmarks.networks.matches import cost, with_offers

BLOCKS, ROWS, WIDTH = 60, 4, 64
FULL = (1 << 64) - 1
FAMILIES = ("products", "moves")
PROOF_S = 20.0
"""For CP-SAT's bound."""


def residual(blocks: int = BLOCKS) -> Graph:
    """(1, 4, 64): each block two dense layers with bias, gelu, a scale, and the sum with what came in."""
    builder, number = Builder(), "float32"
    x = builder.leaf("parameter", "x", Type((1, ROWS, WIDTH), number))
    parameters = (x,)

    def weight(name: str, *shape: int) -> Node:
        return builder.leaf("constant", name, Type(shape, number))

    for i in range(blocks):
        y = builder.op("scale_shift", x, weight(f"s{i}", WIDTH), weight(f"t{i}", WIDTH), dimension=2)
        for name in "ab":
            y = builder.op("dense", y, weight(f"w{i}{name}", WIDTH, WIDTH), number=number)
            repeated = builder.op(
                "broadcast_in_dim", weight(f"b{i}{name}", WIDTH), shape=y.type.shape, dimensions=(2,)
            )
            y = builder.op("add", y, repeated)
            y = builder.op("gelu", y) if name == "a" else y
        x = builder.op("add", x, y)
    return Graph("residual", parameters, (x,))


def by_trees(problem: Problem, full: int | None) -> dict[int, int]:
    """For each class the way whose tree is cheapest, as an e-graph's usual extraction has it: until nothing
    changes, a way that costs strictly less is taken. `full`: where costs end; None: nowhere."""
    costs: dict[int, int] = {}
    picked: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for number, ways in problem.ways.items():
            for i, (own, needs, _) in enumerate(ways):
                if not all(need in costs for need in needs):
                    continue
                total = own + 1 + sum(costs[need] for need in needs)
                total = total if full is None else min(total, full)
                if number not in costs or total < costs[number]:
                    costs[number], picked[number], changed = total, i, True
    return picked


def timed(what: Callable[[], dict[int, int]]) -> tuple[dict[int, int], float]:
    begun = time.perf_counter()
    chosen = what()
    return chosen, time.perf_counter() - begun


def main() -> None:
    graph = residual()
    nodes = list(graph.nodes())
    products = sum(node.op == "dense" for node in nodes)
    texts = usable(rule for rule in library.ours() if rule.place.partition(".")[0] in FAMILIES)
    saturated = saturate(graph, texts, Limits(iterations=80))
    offered = with_offers(saturated, [accelerators()["flexasr"].only(("linear",))])
    problem = problem_of(offered, cost)
    size = f"{saturated.nodes} nodes in {len(saturated.classes)} classes"
    print(f"{len(nodes)} nodes, {products} products; {size} ({saturated.stopped}, {saturated.seconds:.2f} s)")
    print(f"{'extraction':36} {'on FlexASR':>10} {'cycles':>12} {'s':>6}")
    for name, full in (("trees, 64 bits (egglog's own)", FULL), ("trees, without an end", None)):
        picked, seconds = timed(lambda full=full: by_trees(problem, full))
        chosen, total = used(problem, picked)
        there = sum(problem.ways[number][way][2].op == "flexasr.linear" for number, way in chosen.items())
        print(f"{name:36} {there:10} {total:12} {seconds:6.2f}")
    for name, limit in (("each node once, greedy", 0.0), ("each node once, CP-SAT", PROOF_S)):
        extracted = extract(offered, cost, seconds=limit)
        there = sum(node.op == "flexasr.linear" for node in extracted.chosen.values())
        bound = (
            f"  bound {extracted.bound}: {'the cheapest' if extracted.proved else 'open'}" if limit else ""
        )
        print(f"{name:36} {there:10} {extracted.cost:12} {extracted.seconds:6.2f}{bound}")
        assert there == products


if __name__ == "__main__":
    main()
