"""`allocate`: an order and addresses for a problem, or why there are none."""

from __future__ import annotations

from functools import partial

from axiloom.selection.allocate import slots
from axiloom.selection.allocate.listed import Lister, orders
from axiloom.selection.allocate.problem import Executed, Memory, Plan, Problem, Refusal


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
        return Refusal(partial(_why, problem), True)
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


def _why(problem: Problem) -> str:
    """Which memory is too small, and what meets in it: how many rows each would need if the others were as
    large as anybody wants. That takes longer to find than that there is no plan: it is found when read."""
    everything: dict[str, int] = {memory.name: 0 for memory in problem.memories}
    for step in problem.steps:
        everything[step.memory] += step.rows + (1 if step.at is None else step.at)
    sizes = {memory.name: max(memory.rows, everything[memory.name]) for memory in problem.memories}
    for memory in problem.memories:
        apart = max({step.rows for step in problem.steps if step.memory == memory.name}, default=1)
        for rows in range(memory.rows, sizes[memory.name] + 1, apart):
            answer = slots.search(problem, {**sizes, memory.name: rows})
            if isinstance(answer, slots.Order):
                if rows > memory.rows:
                    needs = f"in any order {memory.name} needs {rows} rows and has {memory.rows}"
                    return needs + _conflict(answer.executed, memory.name)
                break
            if answer is None:
                break
    names = ", ".join(f"{memory.rows} rows of {memory.name}" for memory in problem.memories)
    return f"in no order {names} are enough together"


def _conflict(executed: tuple[Executed, ...], memory: str) -> str:
    """Which values meet where most rows are in use, in the best of all orders."""
    last = {name: time for time, execution in enumerate(executed) for name in execution.step.reads}
    begun = {execution.step.name: (time, execution.step) for time, execution in enumerate(executed)}
    best: tuple[int, str, list[str]] = (0, "", [])
    for now, execution in enumerate(executed):
        here = [
            step
            for name, (start, step) in begun.items()
            if step.memory == memory and start <= now <= last.get(name, start)
        ]
        meeting = sum(step.rows for step in here), execution.step.name, [step.name for step in here]
        best = max(best, meeting, key=lambda meeting: meeting[0])
    return f": {', '.join(sorted(best[2]))} meet at {best[1]}" if best[2] else ""
