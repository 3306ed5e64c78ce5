"""Why a problem has no plan: which memory is too small, and what meets in it.

It may take longer to find than that there is none, and many callers only ask whether there is a plan. So it
is found when it is read.
"""

from __future__ import annotations

from axiloom.selection.allocate import slots
from axiloom.selection.allocate.problem import Executed, Problem


def why(problem: Problem) -> str:
    """Each memory alone: how many rows it would need if the others were as large as anybody wants."""
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
