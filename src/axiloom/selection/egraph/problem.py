"""`Problem`: what can be made of a saturated graph and what it costs, without what cannot be the best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from axiloom.graph.graph import Type
from axiloom.selection.egraph.saturated import ENode, Saturated, SaturationError

Cost: TypeAlias = Callable[[ENode, Sequence[Type], Type], int | None]
"""Cycles of a node, from its operands' types and its own; None: nothing can do it. Not negative."""

T = TypeVar("T")
Way: TypeAlias = tuple[int, tuple[int, ...], T]
"""Cost, classes needed, what is done."""
Ways: TypeAlias = dict[int, list[Way[T]]]

MOST_COST = 1 << 60


@dataclass(frozen=True)
class Problem(Generic[T]):
    """Ways with costs: `ways[c]` are (cost, classes needed, what is done), none dominated by another."""

    ways: Ways[T]
    roots: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]
    """Classes in groups, what is needed first; those of one group need each other."""


def problem_of(saturated: Saturated, cost: Cost) -> Problem[ENode]:
    """What can be made, and what of it can be the best."""
    ways: Ways[ENode] = {}
    for number, nodes in enumerate(saturated.classes):
        own = []
        for node in nodes:
            said = cost(
                node, [saturated.types[operand] for operand in node.operands], saturated.types[number]
            )
            if said is None:
                continue
            if said < 0:
                raise SaturationError(f"{node.op}: a cost of {said}; costs are not negative")
            own.append((said, tuple(sorted(set(node.operands))), node))
        ways[number] = own
    problem = problem_of_ways(ways, saturated.roots)
    if problem is None:
        makeable = makeable_of(ways)
        missing = next(root for root in saturated.roots if root not in makeable)
        raise SaturationError(_why(saturated, ways, makeable, missing))
    return problem


def problem_of_ways(ways: Ways[T], roots: Sequence[int]) -> Problem[T] | None:
    """What can be made, and what of it can be the best; None if a root cannot be made."""
    makeable = makeable_of(ways)
    if not makeable.issuperset(roots):
        return None
    needed = _reached(ways, makeable, roots)
    kept = {
        eclass: _undominated([way for way in ways[eclass] if makeable.issuperset(way[1])], eclass)
        for eclass in sorted(needed)
    }
    needed = _reached(kept, makeable, roots)
    kept = {eclass: kept[eclass] for eclass in sorted(needed)}
    if sum(max(way[0] for way in of) for of in kept.values()) * (len(kept) + 1) > MOST_COST:
        raise SaturationError(f"costs add up to more than {MOST_COST // (len(kept) + 1)} cycles")
    return Problem(kept, tuple(dict.fromkeys(roots)), groups(kept))


def makeable_of(ways: Ways[T]) -> set[int]:
    """Those that can be made of what needs nothing."""
    users: dict[int, list[tuple[int, int]]] = defaultdict(list)
    left: dict[tuple[int, int], int] = {}
    makeable: set[int] = set()
    stack: list[int] = []
    for eclass, of in ways.items():
        for i, (_, needs, _) in enumerate(of):
            left[eclass, i] = len(needs)
            for need in needs:
                users[need].append((eclass, i))
            if not needs and eclass not in makeable:
                makeable.add(eclass)
                stack.append(eclass)
    while stack:
        for user in users[stack.pop()]:
            left[user] -= 1
            if not left[user] and user[0] not in makeable:
                makeable.add(user[0])
                stack.append(user[0])
    return makeable


def _why(saturated: Saturated, ways: object, makeable: set[int], root: int) -> str:
    """The first value, operands first, all of whose operands can be made and which cannot."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        eclass = stack.pop()
        if eclass in seen or eclass in makeable:
            continue
        seen.add(eclass)
        own = [node for node in saturated.classes[eclass] if not node.rule] or saturated.classes[eclass]
        lacking = [n for node in own for n in node.operands if n not in makeable and n not in seen]
        if not lacking:
            node = own[0]
            operands = ", ".join(str(saturated.types[n]) for n in node.operands)
            where = f"{node.place}: " if node.place else ""
            return f"{where}nothing makes {node.op}({operands}) : {saturated.types[eclass]}"
        stack += lacking
    return f"nothing makes a result of {saturated.types[root]}"


def _reached(ways: Ways[T], makeable: set[int], roots: Sequence[int]) -> set[int]:
    seen, stack = set(roots), list(roots)
    while stack:
        for _, needs, _ in ways[stack.pop()]:
            if makeable.issuperset(needs):
                new = [need for need in needs if need not in seen]
                seen.update(new)
                stack += new
    return seen


def _undominated(ways: list[Way[T]], own: int) -> list[Way[T]]:
    """Without those that cost as much as another and need as much; none needs itself."""
    kept: list[Way[T]] = []
    for way in sorted(ways, key=lambda way: (way[0], len(way[1]))):
        if own not in way[1] and not any(set(other[1]) <= set(way[1]) for other in kept):
            kept.append(way)
    return kept


def groups(ways: Ways[T]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected classes, needed ones first (Tarjan, without recursion)."""
    low: dict[int, int] = {}
    number: dict[int, int] = {}
    components: list[tuple[int, ...]] = []
    stack: list[int] = []
    on: set[int] = set()
    needs = {eclass: sorted({n for _, all_, _ in of for n in all_}) for eclass, of in ways.items()}
    for start in ways:
        if start in number:
            continue
        work = [(start, iter(needs[start]))]
        number[start] = low[start] = len(number)
        stack.append(start)
        on.add(start)
        while work:
            eclass, rest = work[-1]
            for child in rest:
                if child not in number:
                    number[child] = low[child] = len(number)
                    stack.append(child)
                    on.add(child)
                    work.append((child, iter(needs[child])))
                    break
                if child in on:
                    low[eclass] = min(low[eclass], number[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[eclass])
                if low[eclass] == number[eclass]:
                    at = stack.index(eclass)
                    components.append(tuple(sorted(stack[at:])))
                    on.difference_update(stack[at:])
                    del stack[at:]
    return tuple(components)


def used(problem: Problem[T], picked: dict[int, int]) -> tuple[dict[int, int], int]:
    """What the roots need of a choice, and its cost. The choice has no circle, or this says so."""
    chosen: dict[int, int] = {}
    state: dict[int, bool] = {}
    stack = [(root, False) for root in reversed(problem.roots)]
    while stack:
        eclass, done = stack.pop()
        if done:
            state[eclass] = True
            chosen[eclass] = picked[eclass]
            continue
        if eclass in state:
            if not state[eclass]:
                raise SaturationError("extraction went round in a circle")
            continue
        state[eclass] = False
        stack.append((eclass, True))
        stack += [(need, False) for need in problem.ways[eclass][picked[eclass]][1] if not state.get(need)]
    return chosen, sum(problem.ways[eclass][way][0] for eclass, way in chosen.items())
