"""`faults`: a plan replayed on memories of rows. It shares nothing with what makes plans."""

from __future__ import annotations

from axiloom.selection.allocate.problem import Plan, Problem


def faults(problem: Problem, plan: Plan) -> list[str]:
    """Why `plan` is none of `problem`; nothing if it is one.

    Rows hold names of values. A step's reads are looked at when it begins and, if it is `apart` or others
    run beside it, still have to be there when it ends; its results are written when it begins, so that
    nothing can hide in the time that it takes.
    """
    sizes = {memory.name: memory.units for memory in problem.memories}
    values = {value.name: value for value in problem.values}
    rows: dict[str, list[str | None]] = {name: [None] * units for name, units in sizes.items()}
    faults: list[str] = []
    faults += _units(plan) + _executions(problem, plan)
    written = {name for step in problem.steps for name in step.writes}
    single = len({step.unit for step in problem.steps}) == 1
    for value in problem.values:
        if value.name not in written and value.at is not None:
            rows[value.memory][value.at : value.at + value.units] = [value.name] * value.units
    events = []
    for number, execution in enumerate(plan.steps):
        events.append((execution.start, 1, number))
        events.append((execution.start + execution.step.cycles, 0, number))
    finished: dict[tuple[str, int], int] = {}
    for time, begins, number in sorted(events):
        placed = plan.steps[number]
        step, where = placed.step, f"{placed.step.name} (execution {placed.copy}) at {time}"
        kept_open = not begins and (step.apart or not single)
        if begins or kept_open:
            for name in dict.fromkeys(step.reads):
                if kept_open and name in step.in_place.values():
                    continue
                value, at = values[name], placed.addresses.get(name)
                if at is None or rows[value.memory][at : at + value.units] != [name] * value.units:
                    faults.append(f"{where}: {name} is not in {value.memory} at {at}")
                if begins and name in written and at is not None and finished.get((name, at), 0) > time:
                    faults.append(f"{where}: {name} is not finished")
        if begins:
            for name in step.writes:
                value, at = values[name], placed.addresses.get(name, -1)
                if at < 0 or at + value.units > sizes[value.memory] or at % value.align:
                    faults.append(f"{where}: {name} at {at} of {value.memory}")
                    continue
                if value.at is not None and at != value.at:
                    faults.append(f"{where}: {name} at {at}, not at {value.at}")
                if name in step.in_place and at != placed.addresses.get(step.in_place[name]):
                    faults.append(f"{where}: {name} is not in the place of {step.in_place[name]}")
                rows[value.memory][at : at + value.units] = [name] * value.units
                finished[name, at] = time + step.cycles
    for value in problem.values:
        if value.kept and rows[value.memory].count(value.name) < value.units:
            faults.append(f"{value.name} is not there at the end")
    return faults


def _units(plan: Plan) -> list[str]:
    """A unit does one thing at a time."""
    free: dict[str, int] = {}
    faults = []
    for placed in sorted(plan.steps, key=lambda placed: placed.start):
        if placed.start < free.get(placed.step.unit, 0):
            faults.append(f"{placed.step.name} at {placed.start}: unit {placed.step.unit} is busy")
        free[placed.step.unit] = placed.start + placed.step.cycles
    if plan.cycles != max(free.values(), default=0):
        faults.append(f"{plan.cycles} cycles are said, {max(free.values(), default=0)} are taken")
    return faults


def _executions(problem: Problem, plan: Plan) -> list[str]:
    """Each step at least once, and only loads more often."""
    counts: dict[str, int] = {}
    for placed in plan.steps:
        counts[placed.step.name] = counts.get(placed.step.name, 0) + 1
    faults = [f"{step.name} is not executed" for step in problem.steps if step.name not in counts]
    again = {step.name for step in problem.steps if step.again}
    return faults + [
        f"{name} is executed {n} times" for name, n in counts.items() if n > 1 and name not in again
    ]
