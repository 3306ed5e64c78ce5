"""`allocate`: an order and addresses for a problem, or why there are none."""

from __future__ import annotations

from functools import partial

from axiloom.selection.allocate import slots
from axiloom.selection.allocate.listed import Lister, orders
from axiloom.selection.allocate.problem import Memory, Plan, Problem, Refusal
from axiloom.selection.allocate.why import why


def allocate(problem: Problem) -> Plan | Refusal:
    """A plan, or why there is none. Orders by priorities come first; where they load values again or find no
    room, a search over slots, if all values of a memory have one size. `Plan.bound` says how much better one
    might be."""
    for memory in problem.memories:
        rows, who = _least_rows(problem, memory)
        if rows > memory.rows:
            return Refusal(partial(_alone, memory, who, rows), True)
    plan, missing = _listed(problem)
    if plan is not None and len(plan.steps) == len(problem.steps):
        return plan
    best = slots.search(problem)
    if isinstance(best, slots.Order):
        exact = Plan(best.executed, 0)
        return Plan(exact.steps, exact.cycles)
    if isinstance(best, slots.Impossible):
        return Refusal(partial(why, problem), True)
    return plan or Refusal(lambda: f"no order that was tried fits ({missing})", False)


def _alone(memory: Memory, who: str, rows: int) -> str:
    return f"{memory.name} has {memory.rows} rows, and {who} alone needs {rows}"


def _least_rows(problem: Problem, memory: Memory) -> tuple[int, str]:
    """Rows that some step needs at once, whatever the order, and that step."""
    steps = {step.name: step for step in problem.steps}
    least = 0, ""
    for step in problem.steps:
        operands = (steps[name] for name in dict.fromkeys(step.reads))
        read = sum(operand.rows for operand in operands if operand.memory == memory.name)
        written = step.rows if step.memory == memory.name and not step.in_place else 0
        end = step.rows + (step.at or 0) if step.memory == memory.name else 0
        need = max(read + written if step.apart else max(read, written), end)
        least = max(least, (need, step.name), key=lambda needed: needed[0])
    return least


def _listed(problem: Problem) -> tuple[Plan | None, str]:
    best: Plan | None = None
    missing = ""
    for order in orders(problem):
        lister = Lister(problem, order)
        if not lister.run():
            missing = missing or lister.missing
            continue
        plan = Plan(tuple(lister.executed), sum(step.cycles for step in problem.steps))
        if best is None or (plan.cycles, len(plan.steps)) < (best.cycles, len(best.steps)):
            best = plan
        if len(best.steps) == len(problem.steps):
            break
    return best, missing
