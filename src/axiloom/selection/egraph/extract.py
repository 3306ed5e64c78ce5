"""`extract`: the cheapest graph of a saturated one. A node is counted once, however often it is used.

Tree costs count a shared node once a use: in a network with residuals they double at each block, and after
sixty blocks they mean nothing. Here a class's cost is that of the set of nodes that make it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass

from axiloom.graph.graph import Graph, Node
from axiloom.selection.egraph.exact import improve
from axiloom.selection.egraph.problem import Cost, Problem, T, problem_of, used
from axiloom.selection.egraph.saturated import ENode, Saturated


@dataclass(frozen=True)
class Extracted:
    """`chosen[i]` is the way that makes class i; only of classes that are used."""

    graph: Graph
    chosen: dict[int, ENode]
    cost: int
    bound: int
    """No graph of this e-graph costs less."""
    seconds: float

    @property
    def proved(self) -> bool:
        return self.bound >= self.cost


def extract(saturated: Saturated, cost: Cost, *, seconds: float = 5.0, name: str = "extracted") -> Extracted:
    """The cheapest graph: greedy first, then CP-SAT for at most `seconds` (0: not at all), with a bound.

    Raises SaturationError where a result cannot be made, with the values that nothing makes.
    """
    begun = time.perf_counter()
    problem = problem_of(saturated, cost)
    chosen, total = greedy(problem)
    bound = 0
    if all(len(way) == 1 for way in problem.ways.values()):
        bound = total
    elif seconds > 0:
        chosen, total, bound = improve(problem, chosen, total, seconds)
    kept = {eclass: problem.ways[eclass][way][2] for eclass, way in chosen.items()}
    graph = graph_of(saturated, kept, name)
    return Extracted(graph, kept, total, bound, time.perf_counter() - begun)


def greedy(problem: Problem[T]) -> tuple[dict[int, int], int]:
    """For each class the way whose set of nodes is cheapest, as far as one class at a time can see.

    Sets are bits of an integer; of two that cost the same, that of fewer nodes is taken, then the first.
    """
    scale = len(problem.ways) + 1
    place = {way: i for i, way in enumerate(problem.ways)}
    weigh: dict[int, int] = defaultdict(int)
    """Cost of a class's chosen way to the classes that have it."""
    paid: dict[int, int] = {}
    best: dict[int, tuple[int, int, int]] = {}
    for group in problem.order:
        changed = True
        while changed:
            changed = False
            for eclass in group:
                for i, (cost, needs, _) in enumerate(problem.ways[eclass]):
                    if any(need not in best for need in needs):
                        continue
                    mask = 0
                    for need in needs:
                        mask |= best[need][1]
                    bit = 1 << place[eclass]
                    if mask & bit:
                        continue
                    own = cost * scale + 1
                    total = own + sum(v * (mask & m).bit_count() for v, m in weigh.items() if m & mask)
                    if eclass not in best or total < best[eclass][0]:
                        best[eclass] = (total, mask | bit, i)
                        if eclass in paid:
                            weigh[paid[eclass]] &= ~bit
                        weigh[own] |= bit
                        paid[eclass] = own
                        changed = len(group) > 1
    return used(problem, {eclass: choice[2] for eclass, choice in best.items()})


def graph_of(saturated: Saturated, chosen: dict[int, ENode], name: str) -> Graph:
    """The chosen nodes as a graph; constants have their names, not their contents."""
    nodes: dict[int, Node] = {}
    for eclass, node in chosen.items():  # in the order of `used`: operands first
        operands = tuple(nodes[need] for need in node.operands)
        nodes[eclass] = Node(node.op, operands, dict(node.attributes), saturated.types[eclass], node.place)
    parameters = tuple(node for node in nodes.values() if node.op == "parameter")
    return Graph(name, parameters, tuple(nodes[root] for root in saturated.roots))
