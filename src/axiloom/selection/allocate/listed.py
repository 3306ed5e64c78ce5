"""Orders by priorities: a step after the other, values loaded again where they do not fit.

What fits is decided row by row as the order goes. A load (`again`) waits until its value is needed, and its
value is the first to make room, the one that is needed again last going first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from axiloom.selection.allocate.problem import Executed, Problem, Step


def orders(problem: Problem) -> list[list[Step]]:
    """Orders to try, operands first: as the problem has them, and depth first from the results."""
    tried = [_ordered(problem)]
    for sign in (1, -1):
        order = _depth_first(problem, sign)
        if order not in tried:
            tried.append(order)
    return tried


def _ordered(problem: Problem) -> list[Step]:
    missing = {step.name: set(step.reads) for step in problem.steps}
    order = [step for step in problem.steps if not step.reads]
    after: dict[str, list[Step]] = defaultdict(list)
    for step in problem.steps:
        for name in dict.fromkeys(step.reads):
            after[name].append(step)
    for step in order:  # grows as it goes
        for dependent in after[step.name]:
            missing[dependent.name].discard(step.name)
            if not missing[dependent.name]:
                order.append(dependent)
    assert len(order) == len(problem.steps), "a step needs its own result"
    return order


def _depth_first(problem: Problem, sign: int) -> list[Step]:
    ranks = {step.name: sign * number for number, step in enumerate(problem.steps)}
    by_name = {step.name: step for step in problem.steps}
    read = {name for step in problem.steps for name in step.reads}

    def last_first(steps: Sequence[Step]) -> list[tuple[Step, bool]]:
        return [(step, False) for step in sorted(steps, key=lambda step: ranks[step.name], reverse=True)]

    order: dict[str, Step] = {}
    stack = last_first([step for step in problem.steps if step.name not in read])
    while stack:
        step, ready = stack.pop()
        if step.name in order:
            continue
        if ready:
            order[step.name] = step
            continue
        stack += [(step, True), *last_first([by_name[name] for name in dict.fromkeys(step.reads)])]
    return list(order.values())


@dataclass
class Lister:
    """One order, executed on memories of rows."""

    problem: Problem
    order: Sequence[Step]
    resident: dict[str, int] = field(default_factory=dict)
    """Value to its address."""
    executed: list[Executed] = field(default_factory=list)
    missing: str = ""
    """Why it failed."""

    def __post_init__(self) -> None:
        self.sizes = {memory.name: memory.rows for memory in self.problem.memories}
        self.steps = {step.name: step for step in self.problem.steps}
        self.uses: dict[str, list[int]] = defaultdict(list)
        """Numbers in `order` of the steps that still read a value, the last first."""
        for number in range(len(self.order) - 1, -1, -1):
            for name in dict.fromkeys(self.order[number].reads):
                self.uses[name].append(number)

    def run(self) -> bool:
        return all((step.again and self.uses[step.name]) or self._execute(step) for step in self.order)

    def _execute(self, step: Step) -> bool:
        pinned = frozenset(step.reads)
        for name in dict.fromkeys(step.reads):
            if name in self.resident:
                continue
            if not self.steps[name].again or not self._execute_pinned(self.steps[name], pinned):
                self.missing = self.missing or f"{name} is gone when {step.name} needs it"
                return False
        return self._execute_pinned(step, pinned)

    def _execute_pinned(self, step: Step, pinned: frozenset[str]) -> bool:
        if any(name not in self.resident for name in step.reads):
            self.missing = f"what {step.name} needs is gone"
            return False
        where = {name: self.resident[name] for name in step.reads}
        for name in where:
            self.uses[name].pop()
        if step.in_place:
            if self.uses[step.in_place]:
                self.missing = f"{step.in_place} is overwritten by {step.name}, and needed after it"
                return False
            self.resident[step.name] = self.resident.pop(step.in_place)
        else:
            dying = set() if step.apart else {name for name in step.reads if not self.uses[name]}
            self.resident.pop(step.name, None)
            if not self._settle(step, pinned - dying):
                self.missing = self.missing or f"{step.name} finds no room"
                return False
        where[step.name] = self.resident[step.name]
        self.executed.append(Executed(step, where))
        return True

    def _settle(self, step: Step, pinned: frozenset[str]) -> bool:
        """Room for a result: what is dead goes, then what can be loaded again."""
        here = [name for name in self.resident if self.steps[name].memory == step.memory]
        for name in [name for name in here if not self.uses[name] and name not in pinned]:
            del self.resident[name]
            here.remove(name)
        again = [name for name in here if name not in pinned and self.steps[name].again]
        again.sort(key=lambda name: (self.uses[name][-1] if self.uses[name] else len(self.order), name))
        while (at := self._room(step, here)) is None:
            if not again:
                return False
            here.remove(again[-1])
            del self.resident[again.pop()]
        self.resident[step.name] = at
        return True

    def _room(self, step: Step, here: Sequence[str]) -> int | None:
        taken = sorted((self.resident[name], self.resident[name] + self.steps[name].rows) for name in here)
        if step.at is not None:
            free = all(high <= step.at or low >= step.at + step.rows for low, high in taken)
            return step.at if free else None
        gaps: list[tuple[int, int]] = []
        low = 0
        for begin, end in [*taken, (self.sizes[step.memory], self.sizes[step.memory])]:
            if begin - low >= step.rows:
                gaps.append((begin - low, low))
            low = max(low, end)
        return min(gaps)[1] if gaps else None
