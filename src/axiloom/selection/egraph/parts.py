"""`parts`: problems that can be solved one by one, because every graph has the values between them.

A value that every choice needs is paid for in any case: what is above it and what is below it meet in nothing
else. So the blocks of a network, which hang together by what every block hands on, come apart.
"""

from __future__ import annotations

from collections import defaultdict

from axiloom.selection.egraph.problem import Problem, T, Way, Ways, groups


def parts(problem: Problem[T]) -> list[Problem[T]]:
    """Their classes are those of the problem, each once; what a part needs of another is there anyway.

    Costs of best choices add up to at most that of the whole, and exactly where the choices together have no
    circle.
    """
    always = certain(problem)
    place = {way: i for i, way in enumerate(problem.ways)}
    free = gratis(problem)
    needed = 0
    for root in problem.roots:
        needed |= always[root]
    there = needed | sum(1 << place[eclass] for eclass in free)
    ways: Ways[T] = {}
    for eclass, of in problem.ways.items():
        bit = 1 << place[eclass]
        # What needs this value itself cannot be below it.
        ways[eclass] = [way for way in of if not any(always[need] & bit for need in way[1])] or of
        if eclass in free:
            ways[eclass] = [free[eclass]]
    roots = {way for way in ways if needed >> place[way] & 1}
    return [_part(ways, classes, there, place, roots) for classes in _joined(ways, there, place)]


def gratis(problem: Problem[T]) -> dict[int, Way[T]]:
    """Classes that cost nothing with all that is below them, and how: sharing them saves nothing."""
    free: dict[int, Way[T]] = {}
    changed = True
    while changed:
        changed = False
        for eclass, of in problem.ways.items():
            if eclass in free:
                continue
            for way in of:
                if way[0] == 0 and all(need in free for need in way[1]):
                    free[eclass], changed = way, True
                    break
    return free


def certain(problem: Problem[T]) -> dict[int, int]:
    """For each class those that every way to make it has below it or is, as bits by place in `ways`."""
    place = {way: i for i, way in enumerate(problem.ways)}
    everything = (1 << len(place)) - 1
    always = dict.fromkeys(problem.ways, everything)
    changed = True
    while changed:
        changed = False
        for group in problem.order:
            for eclass in group:
                common = everything
                for _, needs, _ in problem.ways[eclass]:
                    below = 0
                    for need in needs:
                        below |= always[need]
                    common &= below
                common |= 1 << place[eclass]
                if common != always[eclass]:
                    always[eclass], changed = common, True
    return always


def _joined(ways: Ways[T], there: int, place: dict[int, int]) -> list[list[int]]:
    """Classes that share what is not always there (union and find)."""
    above = {way: way for way in ways}

    def top(eclass: int) -> int:
        while above[eclass] != eclass:
            above[eclass] = above[above[eclass]]
            eclass = above[eclass]
        return eclass

    for eclass, of in ways.items():
        for _, needs, _ in of:
            for need in needs:
                if not there >> place[need] & 1:
                    above[top(need)] = top(eclass)
    joined: dict[int, list[int]] = defaultdict(list)
    for eclass in ways:
        joined[top(eclass)].append(eclass)
    return list(joined.values())


def _part(
    ways: Ways[T], classes: list[int], there: int, place: dict[int, int], roots: set[int]
) -> Problem[T]:
    """What is there anyway and another part's is left out. Roots of this one stay operands: nothing is made
    of what it makes."""
    inside = set(classes)
    own: Ways[T] = {
        eclass: [
            (cost, tuple(need for need in needs if need in inside or not there >> place[need] & 1), node)
            for cost, needs, node in ways[eclass]
        ]
        for eclass in classes
    }
    return Problem(own, tuple(eclass for eclass in classes if eclass in roots), groups(own))
