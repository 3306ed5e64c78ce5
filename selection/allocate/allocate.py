"""`allocate`: an order and addresses for a problem, or why there are none."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from axiloom.selection.allocate import slots
from axiloom.selection.allocate.bounds import checked, least_cycles, least_rows, writers
from axiloom.selection.allocate.exact import Ask
from axiloom.selection.allocate.listed import Lister, orders, timed
from axiloom.selection.allocate.place import Life, live_peak
from axiloom.selection.allocate.problem import Memory, Placed, Plan, Problem, Refusal, Step
from axiloom.selection.allocate.process import ask

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
    if isinstance(best, slots.Found):
        exact = made(problem, timed(problem, best.executed), bound)
        return replace(exact, bound=exact.cycles, seconds=time.perf_counter() - begun)
    if isinstance(best, slots.Impossible):
        return Refusal(_why(problem, _most(problem), seconds), True, time.perf_counter() - begun)
    if len(order) > EXACT_STEPS or not seconds:
        if plan is None:
            reason = (
                f"no order that was tried fits ({missing}), and {len(order)} steps are too many to prove it"
            )
            return Refusal(reason, False, time.perf_counter() - begun)
        return replace(plan, seconds=time.perf_counter() - begun)
    found = _exact(problem, plan, bound, seconds if plan is None else min(improve, seconds))
    if isinstance(found, Refusal):
        return replace(found, seconds=time.perf_counter() - begun)
    return replace(found, seconds=time.perf_counter() - begun)


def _is_best(problem: Problem, plan: Plan) -> bool:
    return plan.cycles <= plan.bound and len(plan.steps) == len(problem.steps)


def _too_big(problem: Problem) -> Refusal | None:
    """What one step alone asks of a memory."""
    for memory in problem.memories:
        rows, who = least_rows(problem)[memory.name]
        if rows > memory.units:
            reason = f"{memory.name} has {memory.units} rows, and {who} alone needs {rows}"
            return Refusal(reason, True, 0.0)
    return None


def _listed(problem: Problem, order: Sequence[Step], bound: int) -> tuple[Plan | None, str]:
    best: Plan | None = None
    missing = ""
    several = len({step.unit for step in problem.steps}) > 1
    for one in orders(problem, order):
        for spread in (True, False) if several else (False,):
            lister = Lister(problem, one, spread)
            if not lister.run():
                missing = missing or lister.missing
                continue
            plan = made(problem, timed(problem, lister.executed), bound)
            if best is None or (plan.cycles, len(plan.steps)) < (best.cycles, len(best.steps)):
                best = plan
            if _is_best(problem, best):
                return best, ""
    return best, missing


def made(problem: Problem, steps: Sequence[Placed], bound: int) -> Plan:
    steps = tuple(sorted(steps, key=lambda one: (one.start, one.step.name, one.copy)))
    cycles = max((one.start + one.step.cycles for one in steps), default=0)
    return Plan(steps, cycles, _peaks(problem, steps, cycles), bound, 0.0)


def _peaks(problem: Problem, steps: Sequence[Placed], cycles: int) -> dict[str, int]:
    """Rows in use at most, by the lifetimes of what is read."""
    values = {one.name: one for one in problem.values}
    writer = writers(problem)
    lives: dict[str, list[Life]] = {one.name: [] for one in problem.memories}
    open_: dict[tuple[str, int], tuple[int, int]] = {}
    for value in problem.values:
        if value.name not in writer:
            open_[value.name, value.at or 0] = (0, cycles if value.kept else 0)

    def close(name: str, at: int) -> None:
        begin, end = open_.pop((name, at))
        lives[values[name].memory].append(Life(begin, max(end, begin + 1), values[name].units))

    for one in steps:
        for name in one.step.reads:
            key = name, one.addresses[name]
            if key in open_:
                open_[key] = open_[key][0], max(open_[key][1], one.start + one.step.apart * one.step.cycles)
        for name in one.step.writes:
            key = name, one.addresses[name]
            if key in open_:
                close(*key)
            open_[key] = one.start, cycles if values[name].kept else one.start + 1
    for name, at in list(open_):
        close(name, at)
    return {memory: live_peak(found) for memory, found in lives.items()}


def _exact(problem: Problem, plan: Plan | None, bound: int, seconds: float) -> Plan | Refusal:
    most = plan.cycles if plan is not None else _most(problem)
    answer = ask(("solve", Ask(problem, most, seconds)), seconds)
    said, rows, found_bound = answer or ("limit", [], 0)
    if said in ("found", "best"):
        steps = {one.name: one for one in problem.steps}
        placed = [Placed(steps[name], copy, start, where) for name, copy, start, where in rows]
        better = made(problem, placed, max(bound, found_bound))
        if plan is None or (better.cycles, len(better.steps)) <= (plan.cycles, len(plan.steps)):
            return better if said == "found" else replace(better, bound=better.cycles)
    if plan is not None:
        return replace(plan, bound=max(plan.bound, min(found_bound, plan.cycles)))
    if said == "none":
        return Refusal(_why(problem, most, seconds), True, 0.0)
    return Refusal(f"no plan was found in {seconds:g} s, and none was proved impossible", False, 0.0)


def _most(problem: Problem) -> int:
    """Cycles of everything, one after the other, with all executions of what may be done again."""
    readers = {name: 0 for step in problem.steps for name in step.writes}
    for step in problem.steps:
        for name in dict.fromkeys(step.reads):
            if name in readers:
                readers[name] += 1
    return sum(
        step.cycles * (max(1, sum(readers[name] for name in step.writes)) if step.again else 1)
        for step in problem.steps
    )


def _why(problem: Problem, most: int, seconds: float) -> str:
    """Each memory alone: how many rows it would need if the others were as large as anybody wants."""
    everything: dict[str, int] = {one.name: 0 for one in problem.memories}
    for value in problem.values:
        top = value.units + value.align if value.at is None else value.at + value.units
        everything[value.memory] += top
    sizes = {one.name: max(one.units, everything[one.name]) for one in problem.memories}
    for memory in problem.memories:
        if (found := _by_slots(problem, memory, sizes)) is not None:
            fewest, at_best = found
            if fewest > memory.units:
                return _needs(problem, memory, fewest, at_best)
            continue
        answer = ask(("solve", Ask(problem, most, seconds, sizes, memory.name)), seconds)
        said, rows, least = answer or ("limit", [], 0)
        if said == "best" and least > memory.units:
            steps = {one.name: one for one in problem.steps}
            placed = [Placed(steps[name], copy, start, where) for name, copy, start, where in rows]
            return _needs(problem, memory, least, placed)
    names = ", ".join(f"{one.units} rows of {one.name}" for one in problem.memories)
    return f"in no order {names} are enough together"


def _by_slots(problem: Problem, memory: Memory, sizes: Mapping[str, int]) -> tuple[int, list[Placed]] | None:
    """The fewest rows of one memory where the others are as large as anybody wants, and a plan with them."""
    units = {value.units for value in problem.values if value.memory == memory.name}
    for rows in range(memory.units, sizes[memory.name] + 1, max(units, default=1)):
        found = slots.search(problem, {**sizes, memory.name: rows})
        if isinstance(found, slots.Found):
            return rows, timed(problem, found.executed)
        if found is None:
            return None
    return None


def _needs(problem: Problem, memory: Memory, rows: int, placed: Sequence[Placed]) -> str:
    return (
        f"in any order {memory.name} needs {rows} rows and has {memory.units}"
        f"{_conflict(problem, placed, memory.name)}"
    )


def _conflict(problem: Problem, placed: Sequence[Placed], memory: str) -> str:
    """Which values meet where most rows are in use, in the best of all orders."""
    values = {one.name: one for one in problem.values}
    last = {name: one.start for one in placed for name in one.step.reads}
    begun = {name: one.start for one in placed for name in one.step.writes}
    best: tuple[int, str, list[str]] = (0, "", [])
    for one in placed:
        here = [
            name
            for name, start in begun.items()
            if values[name].memory == memory and start <= one.start <= last.get(name, start)
        ]
        rows = sum(values[name].units for name in here)
        best = max(best, (rows, one.step.name, here), key=lambda found: found[0])
    return f": {', '.join(sorted(best[2]))} meet at {best[1]}" if best[2] else ""
