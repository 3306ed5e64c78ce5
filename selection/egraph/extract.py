"""`extract`: the cheapest graph of a saturated one. A node is counted once, however often it is used.

Tree costs count a shared node once a use: in a network with residuals they double at each block, and after
sixty blocks they mean nothing. Here a class's cost is that of the set of nodes that make it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from axiloom.selection.egraph.saturated import ENode, Saturated, SaturationError
from axiloom.selection.ir.graph import Graph, Node, Type

Cost: TypeAlias = Callable[[ENode, Sequence[Type], Type], int | None]
"""Cycles of a node, from its operands' types and its own; None: nothing can do it. Not negative."""

MOST_COST = 1 << 60


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


Ways: TypeAlias = dict[int, list[tuple[int, tuple[int, ...], ENode]]]


@dataclass(frozen=True)
class Problem:
    """Ways with costs: `ways[c]` are (cost, classes needed, the node), none dominated by another."""

    ways: Ways
    roots: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]
    """Classes in groups, what is needed first; those of one group need each other."""


def extract(saturated: Saturated, cost: Cost, *, seconds: float = 5.0, name: str = "extracted") -> Extracted:
    """The cheapest graph: greedy first, then CP-SAT for at most `seconds` (0: not at all), with a bound.

    Raises SaturationError where a result cannot be made, with the values that nothing makes.
    """
    from axiloom.selection.egraph.exact import improve

    begun = time.perf_counter()
    problem = problem_of(saturated, cost)
    chosen, total = greedy(problem)
    bound = 0
    if all(len(one) == 1 for one in problem.ways.values()):
        bound = total
    elif seconds > 0:
        chosen, total, bound = improve(problem, chosen, total, seconds)
    kept = {one: problem.ways[one][way][2] for one, way in chosen.items()}
    graph = graph_of(saturated, kept, name)
    return Extracted(graph, kept, total, bound, time.perf_counter() - begun)


def problem_of(saturated: Saturated, cost: Cost) -> Problem:
    """What can be made, and what of it can be the best."""
    ways: Ways = {}
    for number, nodes in enumerate(saturated.classes):
        found = []
        for node in nodes:
            said = cost(node, [saturated.types[one] for one in node.operands], saturated.types[number])
            if said is None:
                continue
            if said < 0:
                raise SaturationError(f"{node.op}: a cost of {said}; costs are not negative")
            found.append((said, tuple(sorted(set(node.operands))), node))
        ways[number] = found
    makeable = _makeable(ways)
    if missing := [one for one in saturated.roots if one not in makeable]:
        raise SaturationError(_why(saturated, ways, makeable, missing[0]))
    needed = _reached(ways, makeable, saturated.roots)
    kept = {
        one: _undominated([way for way in ways[one] if makeable.issuperset(way[1])], one)
        for one in sorted(needed)
    }
    needed = _reached(kept, makeable, saturated.roots)
    kept = {one: kept[one] for one in sorted(needed)}
    if sum(max(way[0] for way in of) for of in kept.values()) * (len(kept) + 1) > MOST_COST:
        raise SaturationError(f"costs add up to more than {MOST_COST // (len(kept) + 1)} cycles")
    return Problem(kept, tuple(dict.fromkeys(saturated.roots)), _groups(kept))


def _makeable(ways: Ways) -> set[int]:
    users: dict[int, list[tuple[int, int]]] = defaultdict(list)
    left: dict[tuple[int, int], int] = {}
    found: set[int] = set()
    stack: list[int] = []
    for one, of in ways.items():
        for i, (_, needs, _) in enumerate(of):
            left[one, i] = len(needs)
            for need in needs:
                users[need].append((one, i))
            if not needs and one not in found:
                found.add(one)
                stack.append(one)
    while stack:
        for user in users[stack.pop()]:
            left[user] -= 1
            if not left[user] and user[0] not in found:
                found.add(user[0])
                stack.append(user[0])
    return found


def _why(saturated: Saturated, ways: object, makeable: set[int], root: int) -> str:
    """The first value, operands first, all of whose operands can be made and which cannot."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        one = stack.pop()
        if one in seen or one in makeable:
            continue
        seen.add(one)
        own = [node for node in saturated.classes[one] if not node.rule] or saturated.classes[one]
        lacking = [n for node in own for n in node.operands if n not in makeable and n not in seen]
        if not lacking:
            node = own[0]
            operands = ", ".join(str(saturated.types[n]) for n in node.operands)
            where = f"{node.place}: " if node.place else ""
            return f"{where}nothing makes {node.op}({operands}) : {saturated.types[one]}"
        stack += lacking
    return f"nothing makes a result of {saturated.types[root]}"


def _reached(ways: Ways, makeable: set[int], roots: Sequence[int]) -> set[int]:
    seen, stack = set(roots), list(roots)
    while stack:
        for _, needs, _ in ways[stack.pop()]:
            if makeable.issuperset(needs):
                new = [one for one in needs if one not in seen]
                seen.update(new)
                stack += new
    return seen


def _undominated(
    ways: list[tuple[int, tuple[int, ...], ENode]], own: int
) -> list[tuple[int, tuple[int, ...], ENode]]:
    """Without those that cost as much as another and need as much; none needs itself."""
    kept: list[tuple[int, tuple[int, ...], ENode]] = []
    for way in sorted(ways, key=lambda one: (one[0], len(one[1]))):
        if own not in way[1] and not any(set(other[1]) <= set(way[1]) for other in kept):
            kept.append(way)
    return kept


def _groups(ways: Ways) -> tuple[tuple[int, ...], ...]:
    """Strongly connected classes, needed ones first (Tarjan, without recursion)."""
    low: dict[int, int] = {}
    number: dict[int, int] = {}
    found: list[tuple[int, ...]] = []
    stack: list[int] = []
    on: set[int] = set()
    needs = {one: sorted({n for _, all_, _ in of for n in all_}) for one, of in ways.items()}
    for start in ways:
        if start in number:
            continue
        work = [(start, iter(needs[start]))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on.add(start)
        while work:
            one, rest = work[-1]
            for child in rest:
                if child not in number:
                    number[child] = low[child] = len(number)
                    stack.append(child)
                    on.add(child)
                    work.append((child, iter(needs[child])))
                    break
                if child in on:
                    low[one] = min(low[one], number[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[one])
                if low[one] == number[one]:
                    at = stack.index(one)
                    found.append(tuple(sorted(stack[at:])))
                    on.difference_update(stack[at:])
                    del stack[at:]
    return tuple(found)


def greedy(problem: Problem) -> tuple[dict[int, int], int]:
    """For each class the way whose set of nodes is cheapest, as far as one class at a time can see.

    Sets are bits of an integer; of two that cost the same, that of fewer nodes is taken, then the first.
    """
    scale = len(problem.ways) + 1
    place = {one: i for i, one in enumerate(problem.ways)}
    weigh: dict[int, int] = defaultdict(int)
    """Cost of a class's chosen way to the classes that have it."""
    paid: dict[int, int] = {}
    best: dict[int, tuple[int, int, int]] = {}
    for group in problem.order:
        changed = True
        while changed:
            changed = False
            for one in group:
                for i, (cost, needs, _) in enumerate(problem.ways[one]):
                    if any(need not in best for need in needs):
                        continue
                    mask = 0
                    for need in needs:
                        mask |= best[need][1]
                    bit = 1 << place[one]
                    if mask & bit:
                        continue
                    own = cost * scale + 1
                    total = own + sum(v * (mask & m).bit_count() for v, m in weigh.items() if m & mask)
                    if one not in best or total < best[one][0]:
                        best[one] = (total, mask | bit, i)
                        if one in paid:
                            weigh[paid[one]] &= ~bit
                        weigh[own] |= bit
                        paid[one] = own
                        changed = len(group) > 1
    return used(problem, {one: found[2] for one, found in best.items()})


def used(problem: Problem, picked: dict[int, int]) -> tuple[dict[int, int], int]:
    """What the roots need of a choice, and its cost. The choice has no circle, or this says so."""
    chosen: dict[int, int] = {}
    state: dict[int, bool] = {}
    stack = [(one, False) for one in reversed(problem.roots)]
    while stack:
        one, done = stack.pop()
        if done:
            state[one] = True
            chosen[one] = picked[one]
            continue
        if one in state:
            if not state[one]:
                raise SaturationError("extraction went round in a circle")
            continue
        state[one] = False
        stack.append((one, True))
        stack += [(need, False) for need in problem.ways[one][picked[one]][1] if not state.get(need)]
    return chosen, sum(problem.ways[one][way][0] for one, way in chosen.items())


def graph_of(saturated: Saturated, chosen: dict[int, ENode], name: str) -> Graph:
    """The chosen nodes as a graph; constants have their names, not their contents."""
    made: dict[int, Node] = {}
    for one, node in chosen.items():  # in the order of `used`: operands first
        operands = tuple(made[need] for need in node.operands)
        made[one] = Node(node.op, operands, dict(node.attributes), saturated.types[one], node.place)
    parameters = tuple(one for one in made.values() if one.op == "parameter")
    return Graph(name, parameters, tuple(made[one] for one in saturated.roots))
