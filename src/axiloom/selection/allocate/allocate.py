"""`allocate`: an order and addresses for a problem, or why there are none."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from axiloom.selection.allocate import slots
from axiloom.selection.allocate.bounds import checked, least_cycles, least_rows, most_cycles, writers
from axiloom.selection.allocate.exact import Ask, within
from axiloom.selection.allocate.listed import Lister, orders, timed
from axiloom.selection.allocate.lives import Life, live_peak
from axiloom.selection.allocate.problem import Memory, Placed, Plan, Problem, Refusal, Step
from axiloom.selection.allocate.why import why

SECONDS = 20.0
IMPROVE_S = 1.0
"""For a better plan than the quick way's, where that is not known to be the best."""
EXACT_STEPS = 150
"""Of more steps, counting those that may be executed again, CP-SAT is not asked: it would not end."""


def allocate(problem: Problem, *, seconds: float = SECONDS, improve: float = IMPROVE_S) -> Plan | Refusal:
    """A plan, or why there is none, in about `seconds`; where the quick way finds one, `improve` seconds are
    spent on a better one; 0: no solver is asked. Where all values of a memory have one size, a search over
    slots comes first. `Plan.bound` says how much better one might be.

    Raises ProblemError for a problem that means nothing.
    """
    begun = time.perf_counter()
    order = checked(problem)
    bound = least_cycles(problem, order)
    too_big = _too_big(problem)
    if too_big is not None:
        return replace(too_big, seconds=time.perf_counter() - begun)
    plan, missing = _listed(problem, order, bound)
    if plan is not None and _is_best(problem, plan):
        return replace(plan, seconds=time.perf_counter() - begun)
    best = slots.search(problem)
    if isinstance(best, slots.Order):
        exact = plan_of(problem, timed(problem, best.executed), bound)
        return replace(exact, bound=exact.cycles, seconds=time.perf_counter() - begun)
    if isinstance(best, slots.Impossible):
        return Refusal(partial(why, problem, seconds), True, time.perf_counter() - begun)
    if len(order) > EXACT_STEPS or not seconds:
        if plan is None:
            reason = (
                f"no order that was tried fits ({missing}), and {len(order)} steps are too many to prove it"
            )
            return Refusal(lambda: reason, False, time.perf_counter() - begun)
        return replace(plan, seconds=time.perf_counter() - begun)
    outcome = _exact(problem, plan, bound, seconds if plan is None else min(improve, seconds))
    return replace(outcome, seconds=time.perf_counter() - begun)


def _is_best(problem: Problem, plan: Plan) -> bool:
    return plan.cycles <= plan.bound and len(plan.steps) == len(problem.steps)


def _too_big(problem: Problem) -> Refusal | None:
    """What one step alone asks of a memory."""
    for memory in problem.memories:
        rows, who = least_rows(problem)[memory.name]
        if rows > memory.units:
            return Refusal(partial(_alone, memory, who, rows), True, 0.0)
    return None


def _alone(memory: Memory, who: str, rows: int) -> str:
    return f"{memory.name} has {memory.units} rows, and {who} alone needs {rows}"


def _listed(problem: Problem, order: Sequence[Step], bound: int) -> tuple[Plan | None, str]:
    best: Plan | None = None
    missing = ""
    several = len({step.unit for step in problem.steps}) > 1
    for candidate in orders(problem, order):
        for spread in (True, False) if several else (False,):
            lister = Lister(problem, candidate, spread)
            if not lister.run():
                missing = missing or lister.missing
                continue
            plan = plan_of(problem, timed(problem, lister.executed), bound)
            if best is None or (plan.cycles, len(plan.steps)) < (best.cycles, len(best.steps)):
                best = plan
            if _is_best(problem, best):
                return best, ""
    return best, missing


def plan_of(problem: Problem, steps: Sequence[Placed], bound: int) -> Plan:
    steps = tuple(sorted(steps, key=lambda placed: (placed.start, placed.step.name, placed.copy)))
    cycles = max((step.start + step.step.cycles for step in steps), default=0)
    return Plan(steps, cycles, _peaks(problem, steps, cycles), bound, 0.0)


def _peaks(problem: Problem, steps: Sequence[Placed], cycles: int) -> dict[str, int]:
    """Rows in use at most, by the lifetimes of what is read."""
    values = {value.name: value for value in problem.values}
    writer = writers(problem)
    lives: dict[str, list[Life]] = {memory.name: [] for memory in problem.memories}
    open_: dict[tuple[str, int], tuple[int, int]] = {}
    for value in problem.values:
        if value.name not in writer:
            open_[value.name, value.at or 0] = (0, cycles if value.kept else 0)

    def close(name: str, at: int) -> None:
        begin, end = open_.pop((name, at))
        lives[values[name].memory].append(Life(begin, max(end, begin + 1), values[name].units))

    for step in steps:
        for name in step.step.reads:
            key = name, step.addresses[name]
            if key in open_:
                open_[key] = (
                    open_[key][0],
                    max(open_[key][1], step.start + step.step.apart * step.step.cycles),
                )
        for name in step.step.writes:
            key = name, step.addresses[name]
            if key in open_:
                close(*key)
            open_[key] = step.start, cycles if values[name].kept else step.start + 1
    for name, at in list(open_):
        close(name, at)
    return {memory: live_peak(memory_lives) for memory, memory_lives in lives.items()}


def _exact(problem: Problem, plan: Plan | None, bound: int, seconds: float) -> Plan | Refusal:
    most = plan.cycles if plan is not None else most_cycles(problem)
    answer = within(seconds, Ask(problem, most, seconds))
    said, rows, found_bound = answer or ("limit", [], 0)
    if said in ("found", "best"):
        steps = {step.name: step for step in problem.steps}
        placed = [Placed(steps[name], copy, start, where) for name, copy, start, where in rows]
        better = plan_of(problem, placed, max(bound, found_bound))
        if plan is None or (better.cycles, len(better.steps)) <= (plan.cycles, len(plan.steps)):
            return better if said == "found" else replace(better, bound=better.cycles)
    if plan is not None:
        return replace(plan, bound=max(plan.bound, min(found_bound, plan.cycles)))
    if said == "none":
        return Refusal(partial(why, problem, seconds), True, 0.0)
    reason = f"no plan was found in {seconds:g} s, and none was proved impossible"
    return Refusal(lambda: reason, False, 0.0)
