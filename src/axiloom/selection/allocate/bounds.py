"""What no plan can do better, and problems that mean nothing."""

from __future__ import annotations

from collections import Counter, defaultdict

from axiloom.base.errors import AxiloomError
from axiloom.selection.allocate.problem import Problem, Step


class ProblemError(AxiloomError):
    """A problem that means nothing: unknown names, values with two writers, circles."""


def writers(problem: Problem) -> dict[str, Step]:
    return {name: step for step in problem.steps for name in step.writes}


def readers(problem: Problem) -> dict[str, list[Step]]:
    by_value: dict[str, list[Step]] = defaultdict(list)
    for step in problem.steps:
        for name in dict.fromkeys(step.reads):
            by_value[name].append(step)
    return by_value


def checked(problem: Problem) -> list[Step]:
    """The steps, each behind those it needs. Raises ProblemError."""
    for what, names in (
        ("memory", [memory.name for memory in problem.memories]),
        ("value", [value.name for value in problem.values]),
        ("step", [step.name for step in problem.steps]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ProblemError(f"{what} {twice[0]} is there twice")
    memories = {memory.name: memory for memory in problem.memories}
    values = {value.name: value for value in problem.values}
    for value in problem.values:
        if value.memory not in memories:
            raise ProblemError(f"value {value.name}: no memory {value.memory}")
        if value.units < 1 or value.align < 1 or (value.at is not None and value.at % value.align):
            raise ProblemError(
                f"value {value.name}: {value.units} rows at {value.at}, multiple of {value.align}"
            )
    steps: dict[str, Step] = {}
    for step in problem.steps:
        if step.cycles < 1:
            raise ProblemError(f"step {step.name}: {step.cycles} cycles")
        for name in (*step.reads, *step.writes):
            if name not in values:
                raise ProblemError(f"step {step.name}: no value {name}")
        for name in step.writes:
            if name in steps:
                raise ProblemError(f"value {name}: written by {steps[name].name} and by {step.name}")
            steps[name] = step
        for new, old in step.in_place.items():
            same = new in step.writes and old in step.reads
            if not same or values[new].memory != values[old].memory or values[new].units > values[old].units:
                raise ProblemError(f"step {step.name}: {new} cannot be in the place of {old}")
    return _ordered(problem, steps)


def _ordered(problem: Problem, writer: dict[str, Step]) -> list[Step]:
    missing = {
        step.name: {writer[read].name for read in step.reads if read in writer} for step in problem.steps
    }
    after: dict[str, list[str]] = defaultdict(list)
    for name, needs in missing.items():
        for need in needs:
            after[need].append(name)
    steps = {step.name: step for step in problem.steps}
    ready = [step.name for step in problem.steps if not missing[step.name]]
    order: list[Step] = []
    for name in ready:  # grows as it goes
        order.append(steps[name])
        for dependent in after[name]:
            missing[dependent].discard(name)
            if not missing[dependent]:
                ready.append(dependent)
    if len(order) < len(problem.steps):
        stuck = next(name for name, needs in missing.items() if needs)
        raise ProblemError(f"step {stuck}: needs its own result")
    return order


def least_cycles(problem: Problem, order: list[Step]) -> int:
    """No plan takes fewer: the busiest unit, and the longest way from step to step."""
    busy: Counter[str] = Counter()
    done: dict[str, int] = {}
    writer = writers(problem)
    for step in order:
        busy[step.unit] += step.cycles
        begin = max((done[writer[read].name] for read in step.reads if read in writer), default=0)
        done[step.name] = begin + step.cycles
    return max([*busy.values(), *done.values()], default=0)


def least_rows(problem: Problem) -> dict[str, tuple[int, str]]:
    """By memory: rows that some step needs at once, whatever the order, and that step."""
    values = {value.name: value for value in problem.values}
    least: dict[str, tuple[int, str]] = {memory.name: (0, "") for memory in problem.memories}
    several = len({step.unit for step in problem.steps}) > 1
    for step in problem.steps:
        at_once: Counter[str] = Counter()
        for name in dict.fromkeys(step.reads):
            at_once[values[name].memory] += values[name].units
        written: Counter[str] = Counter()
        for name in step.writes:
            if name not in step.in_place:
                written[values[name].memory] += values[name].units
        for memory in {*at_once, *written}:
            both = at_once[memory] + written[memory]
            need = both if step.apart or several else max(at_once[memory], written[memory])
            if need > least[memory][0]:
                least[memory] = need, step.name
    for value in problem.values:
        end = value.units if value.at is None else value.at + value.units
        if end > least[value.memory][0]:
            least[value.memory] = end, value.name
    return least


def most_cycles(problem: Problem) -> int:
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
