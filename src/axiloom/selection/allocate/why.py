"""Why a problem has no plan: which memory is too small, and what meets in it.

It may take longer to find than that there is none, and many callers only ask whether there is a plan. So it
is found when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from axiloom.selection.allocate import slots
from axiloom.selection.allocate.bounds import most_cycles
from axiloom.selection.allocate.exact import Ask, within
from axiloom.selection.allocate.listed import timed
from axiloom.selection.allocate.problem import Memory, Placed, Problem


def why(problem: Problem, seconds: float) -> str:
    """Each memory alone: how many rows it would need if the others were as large as anybody wants."""
    most = most_cycles(problem)
    everything: dict[str, int] = {memory.name: 0 for memory in problem.memories}
    for value in problem.values:
        top = value.units + value.align if value.at is None else value.at + value.units
        everything[value.memory] += top
    sizes = {memory.name: max(memory.units, everything[memory.name]) for memory in problem.memories}
    for memory in problem.memories:
        if (by_slots := _by_slots(problem, memory, sizes)) is not None:
            fewest, at_best = by_slots
            if fewest > memory.units:
                return _needs(problem, memory, fewest, at_best)
            continue
        answer = within(seconds, Ask(problem, most, seconds, sizes, memory.name))
        said, rows, least = answer or ("limit", [], 0)
        if said == "best" and least > memory.units:
            steps = {step.name: step for step in problem.steps}
            placed = [Placed(steps[name], copy, start, where) for name, copy, start, where in rows]
            return _needs(problem, memory, least, placed)
    names = ", ".join(f"{memory.units} rows of {memory.name}" for memory in problem.memories)
    return f"in no order {names} are enough together"


def _by_slots(problem: Problem, memory: Memory, sizes: Mapping[str, int]) -> tuple[int, list[Placed]] | None:
    """The fewest rows of one memory where the others are as large as anybody wants, and a plan with them."""
    units = {value.units for value in problem.values if value.memory == memory.name}
    for rows in range(memory.units, sizes[memory.name] + 1, max(units, default=1)):
        answer = slots.search(problem, {**sizes, memory.name: rows})
        if isinstance(answer, slots.Order):
            return rows, timed(problem, answer.executed)
        if answer is None:
            return None
    return None


def _needs(problem: Problem, memory: Memory, rows: int, placed: Sequence[Placed]) -> str:
    return (
        f"in any order {memory.name} needs {rows} rows and has {memory.units}"
        f"{_conflict(problem, placed, memory.name)}"
    )


def _conflict(problem: Problem, placed: Sequence[Placed], memory: str) -> str:
    """Which values meet where most rows are in use, in the best of all orders."""
    values = {value.name: value for value in problem.values}
    last = {name: execution.start for execution in placed for name in execution.step.reads}
    begun = {name: execution.start for execution in placed for name in execution.step.writes}
    best: tuple[int, str, list[str]] = (0, "", [])
    for execution in placed:
        here = [
            name
            for name, start in begun.items()
            if values[name].memory == memory and start <= execution.start <= last.get(name, start)
        ]
        rows = sum(values[name].units for name in here)
        best = max(best, (rows, execution.step.name, here), key=lambda meeting: meeting[0])
    return f": {', '.join(sorted(best[2]))} meet at {best[1]}" if best[2] else ""
