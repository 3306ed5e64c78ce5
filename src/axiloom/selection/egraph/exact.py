"""The cheapest choice: a way for each class that is needed, and no circle. By CP-SAT where ways are many."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from axiloom.selection.egraph.branches import branched
from axiloom.selection.egraph.parts import parts
from axiloom.selection.egraph.problem import Problem, T, used
from axiloom.selection.egraph.saturated import SaturationError

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

SLACK_S = 2.0
"""What a choice may take longer by the clock than by the solver's count of its work."""


def improve(
    problem: Problem[T], start: dict[int, int], cost: int, seconds: float
) -> tuple[dict[int, int], int, int]:
    """The choice, its cost, and a cost below which there is none. At worst `start`.

    Part by part; the whole only where choices of parts go round in a circle. `seconds` are the solver's own
    count of its work for each of them, about those of an idle machine, so that a busy one chooses the same;
    `SLACK_S` more by the clock end everything.
    """
    until = time.monotonic() + seconds + SLACK_S
    picked: dict[int, int] = {}
    bound = 0
    for part in parts(problem):
        if not part.roots:  # costs nothing, and may be used by others
            picked |= {eclass: _place(problem, eclass, of[0][2]) for eclass, of in part.ways.items()}
            continue
        known = [way for way in part.ways if way in start]
        begin = {eclass: _place(part, eclass, problem.ways[eclass][start[eclass]][2]) for eclass in known}
        chosen, _, least = _solved(part, begin, seconds, until)
        bound += least
        picked |= {
            eclass: _place(problem, eclass, part.ways[eclass][way][2]) for eclass, way in chosen.items()
        }
    try:
        chosen, total = used(problem, picked)
    except (SaturationError, KeyError):
        chosen, total, least = _solved(problem, start, seconds, until)
        bound = max(bound, least)
    if total > cost:
        return start, cost, min(bound, cost)
    return chosen, total, min(bound, total)


def _place(problem: Problem[T], eclass: int, node: T) -> int:
    """Which way of a class that is."""
    # What costs nothing has one way in a part, whichever was there.
    return next((i for i, way in enumerate(problem.ways[eclass]) if way[2] is node), 0)


def _solved(
    problem: Problem[T], start: dict[int, int], seconds: float, until: float
) -> tuple[dict[int, int], int, int]:
    """Of one problem, by trying all ways where they are few; else by CP-SAT with one worker and a fixed seed:
    the same problem has the same answer, unless the clock ends the search."""
    chosen, cost = used(problem, start)
    if all(len(of) == 1 for of in problem.ways.values()):
        return chosen, cost, cost
    if (best := branched(problem, start)) is not None:
        return *best, best[1]
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    ways = _ways(model, problem)
    _acyclic(model, problem, ways)
    scale = len(problem.ways) + 1
    for eclass, of in ways.items():
        for i, way in enumerate(of):
            model.add_hint(way, int(start.get(eclass) == i))
    model.minimize(
        sum(
            (problem.ways[eclass][i][0] * scale + 1) * way
            for eclass, of in ways.items()
            for i, way in enumerate(of)
        )
    )
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = seconds
    solver.parameters.max_time_in_seconds = max(0.01, until - time.monotonic())
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.solve(model)
    # Each node weighs 1 beside its cost times `scale`: as many nodes as there are weigh less than one cycle.
    bound = max(0, int(solver.best_objective_bound - len(problem.ways)) // scale)
    if solver.status_name() not in ("OPTIMAL", "FEASIBLE"):
        return start, cost, min(bound, cost)
    picked = {
        eclass: i for eclass, of in ways.items() for i, way in enumerate(of) if solver.boolean_value(way)
    }
    chosen, total = used(problem, picked)
    if total > cost:
        return start, cost, min(bound, cost)
    return chosen, total, total if solver.status_name() == "OPTIMAL" else min(bound, total)


def _ways(model: cp_model.CpModel, problem: Problem[T]) -> dict[int, list[cp_model.IntVar]]:
    """A class that is needed has one way; a way needs its operands."""
    roots = set(problem.roots)
    needed = {eclass: model.new_bool_var(f"c{eclass}") for eclass in problem.ways}
    ways = {}
    for eclass, of in problem.ways.items():
        ways[eclass] = [model.new_bool_var(f"c{eclass}w{i}") for i in range(len(of))]
        model.add(sum(ways[eclass]) == needed[eclass])
        if eclass in roots:
            model.add(needed[eclass] == 1)
        for way, (_, needs, _) in zip(ways[eclass], of, strict=True):
            for need in needs:
                model.add_implication(way, needed[need])
    return ways


def _acyclic(model: cp_model.CpModel, problem: Problem[T], ways: dict[int, list[cp_model.IntVar]]) -> None:
    """Within a group, operands stand below."""
    for group in problem.order:
        if len(group) == 1:
            continue
        inside = set(group)
        level = {eclass: model.new_int_var(0, len(group) - 1, f"l{eclass}") for eclass in group}
        for eclass in group:
            for way, (_, needs, _) in zip(ways[eclass], problem.ways[eclass], strict=True):
                for need in inside.intersection(needs):
                    model.add(level[eclass] >= level[need] + 1).only_enforce_if(way)
