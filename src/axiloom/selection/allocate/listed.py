"""Orders by priorities: a step after the other, values loaded again where they do not fit.

What fits is decided row by row as the order goes. A load (`again`, no reads) waits until its value is needed,
and its value is the first to make room, the one that is needed again last going first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from axiloom.selection.allocate.bounds import writers
from axiloom.selection.allocate.problem import Placed, Problem, Step, Value


@dataclass(frozen=True)
class Resident:
    value: Value
    at: int
    copy: int

    @property
    def end(self) -> int:
        return self.at + self.value.units


@dataclass(frozen=True)
class Executed:
    """A step of an order, before it has a time."""

    step: Step
    copy: int
    addresses: dict[str, int]


def orders(problem: Problem, checked: Sequence[Step]) -> list[list[Step]]:
    """Orders to try, operands first: as the problem has them, and depth first from the results."""
    tried = [list(checked)]
    position = {step.name: number for number, step in enumerate(problem.steps)}
    for sign in (1, -1):
        ranks = {name: sign * number for name, number in position.items()}
        order = _depth_first(problem, ranks)
        if [step.name for step in order] not in [[step.name for step in known] for known in tried]:
            tried.append(order)
    return tried


def _depth_first(problem: Problem, ranks: Mapping[str, int]) -> list[Step]:
    writer = writers(problem)
    steps: dict[str, Step] = {}
    read = {name for step in problem.steps for name in step.reads}
    roots = [step for step in problem.steps if not any(name in read for name in step.writes)]
    stack = [(step, False) for step in sorted(roots, key=lambda step: ranks[step.name], reverse=True)]
    while stack:
        step, ready = stack.pop()
        if step.name in steps:
            continue
        if ready:
            steps[step.name] = step
            continue
        stack.append((step, True))
        needs = {writer[name].name: writer[name] for name in step.reads if name in writer}
        below = sorted(needs.values(), key=lambda step: ranks[step.name], reverse=True)
        stack += [(step, False) for step in below]
    return list(steps.values())


@dataclass
class Lister:
    """One order, executed on memories of rows. `spread`: look for room behind what came last, so that a load
    need not wait for what is being read."""

    problem: Problem
    order: Sequence[Step]
    spread: bool = False
    resident: dict[str, Resident] = field(default_factory=dict)
    executed: list[Executed] = field(default_factory=list)
    copies: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    missing: str = ""
    """Why it failed."""

    def __post_init__(self) -> None:
        self.values = {value.name: value for value in self.problem.values}
        self.sizes = {memory.name: memory.units for memory in self.problem.memories}
        self.made = writers(self.problem)
        self.single = len({step.unit for step in self.problem.steps}) == 1
        self.uses: dict[str, list[int]] = defaultdict(list)
        """Numbers in `order` of the steps that still read a value, the last first."""
        for number in range(len(self.order) - 1, -1, -1):
            for name in dict.fromkeys(self.order[number].reads):
                self.uses[name].append(number)
        self.cursor: dict[str, int] = defaultdict(int)

    def run(self) -> bool:
        for value in self.problem.values:
            if value.name not in self.made and not self._settle(value, frozenset()):
                return False
        for step in self.order:
            lazy = step.again and not step.reads and all(self.uses[name] for name in step.writes)
            if not lazy and not self._execute(step):
                return False
        kept = [value.name for value in self.problem.values if value.kept]
        for name in kept:
            if name not in self.resident and not self._execute(self.made[name]):
                return False
        for name in kept:
            if name not in self.resident:  # one that came back took its place
                self.missing = self.missing or f"{name} is gone at the end"
                return False
        return True

    def _execute(self, step: Step) -> bool:
        pinned = frozenset(step.reads)
        for name in dict.fromkeys(step.reads):
            if name in self.resident:
                continue
            if not self.made[name].again or not self._execute_pinned(self.made[name], pinned):
                self.missing = self.missing or f"{name} is gone when {step.name} needs it"
                return False
        return self._execute_pinned(step, pinned)

    def _execute_pinned(self, step: Step, pinned: frozenset[str]) -> bool:
        if any(name not in self.resident for name in step.reads):
            self.missing = f"what {step.name} needs is gone"
            return False
        where = {name: self.resident[name].at for name in step.reads}
        if not self.copies[step.name]:
            for name in dict.fromkeys(step.reads):
                self.uses[name].pop()
        dying = set() if step.apart or not self.single else {n for n in step.reads if self._dead(n)}
        own = pinned - dying
        own |= {name for name in pinned if name not in step.reads}
        for name, old in step.in_place.items():
            if not self._dead(old):
                self.missing = f"{old} is overwritten by {step.name}, and needed after it"
                return False
            self.resident[name] = Resident(self.values[name], self.resident[old].at, self.copies[step.name])
            where[name] = self.resident.pop(old).at
        done: set[str] = set(step.in_place)
        for name in step.writes:
            if name in step.in_place:
                continue
            self.resident.pop(name, None)
            if not self._settle(self.values[name], own | done):
                self.missing = self.missing or f"{step.name} finds no room for {name}"
                return False
            done.add(name)
            where[name] = self.resident[name].at
        self.executed.append(Executed(step, self.copies[step.name], where))
        self.copies[step.name] += 1
        return True

    def _dead(self, name: str) -> bool:
        return not self.uses[name] and not self.values[name].kept

    def _settle(self, value: Value, pinned: frozenset[str] | set[str]) -> bool:
        """Room for a value: what is dead goes, then what can be loaded again."""
        here = {
            name: resident
            for name, resident in self.resident.items()
            if resident.value.memory == value.memory
        }
        gone = [name for name in here if self._dead(name) and name not in pinned]
        for name in gone:
            del self.resident[name]
            del here[name]
        again = [n for n in here if n not in pinned and n in self.made and self._loads(self.made[n])]
        again.sort(key=lambda name: (self.uses[name][-1] if self.uses[name] else len(self.order), name))
        while True:
            at = self._room(value, here)
            if at is not None:
                self.resident[value.name] = Resident(value, at, self.copies[self._maker(value)])
                self.cursor[value.memory] = at + value.units
                return True
            if not again:
                return False
            name = again.pop()
            del self.resident[name]
            del here[name]

    def _maker(self, value: Value) -> str:
        return self.made[value.name].name if value.name in self.made else ""

    @staticmethod
    def _loads(step: Step) -> bool:
        return step.again and not step.reads

    def _room(self, value: Value, here: dict[str, Resident]) -> int | None:
        taken = sorted((resident.at, resident.end) for resident in here.values())
        if value.at is not None:
            free = all(high <= value.at or low >= value.at + value.units for low, high in taken)
            return value.at if free else None
        gaps: list[tuple[int, int]] = []
        low = 0
        for begin, end in [*taken, (self.sizes[value.memory], self.sizes[value.memory])]:
            start = -(-low // value.align) * value.align
            if begin - start >= value.units:
                gaps.append((start, begin - start))
            low = max(low, end)
        if not gaps:
            return None
        if self.spread:
            behind = [at for at, _ in gaps if at >= self.cursor[value.memory]]
            inside = -(-self.cursor[value.memory] // value.align) * value.align
            if any(at <= inside and inside + value.units <= at + room for at, room in gaps):
                return inside
            return behind[0] if behind else gaps[0][0]
        return min(gaps, key=lambda gap: (gap[1], gap[0]))[0]


@dataclass
class Segments:
    """Rows of a memory, by what was last done with them: piece after piece, (from, to, written, read)."""

    pieces: list[tuple[int, int, int, int]] = field(default_factory=list)

    def over(self, low: int, high: int) -> list[tuple[int, int, int, int]]:
        return [piece for piece in self.pieces if piece[0] < high and low < piece[1]]

    def set(self, low: int, high: int, written: int, read: int) -> None:
        kept = []
        for piece in self.pieces:
            begin, end, last_written, last_read = piece
            if end <= low or high <= begin:
                kept.append(piece)
                continue
            if begin < low:
                kept.append((begin, low, last_written, last_read))
            if high < end:
                kept.append((high, end, last_written, last_read))
        self.pieces = [*kept, (low, high, written, read)]


def timed(problem: Problem, executed: Sequence[Executed]) -> list[Placed]:
    """When each step of an order begins: its unit is free, what it reads is written, and nobody reads or
    writes any more what it overwrites."""
    values = {value.name: value for value in problem.values}
    single = len({step.unit for step in problem.steps}) == 1
    free: dict[str, int] = defaultdict(int)
    memories: dict[str, Segments] = defaultdict(Segments)
    placed = []
    for execution in executed:
        step = execution.step
        begin = free[step.unit]
        read = [_range(values[name], execution.addresses[name]) for name in dict.fromkeys(step.reads)]
        written = [_range(values[name], execution.addresses[name]) for name in step.writes]
        for memory, low, high in read:
            begin = max([begin, *(piece[2] for piece in memories[memory].over(low, high))])
        for memory, low, high in written:
            pieces = memories[memory].over(low, high)
            begin = max([begin, *(max(piece[2], piece[3]) for piece in pieces)])
        end = begin + step.cycles
        until = begin if single and not step.apart else end
        for memory, low, high in read:
            for piece in memories[memory].over(low, high):
                cut = max(low, piece[0]), min(high, piece[1])
                memories[memory].set(*cut, piece[2], max(piece[3], until))
        for memory, low, high in written:
            memories[memory].set(low, high, end, begin)
        free[step.unit] = end
        placed.append(Placed(step, execution.copy, begin, dict(execution.addresses)))
    return placed


def _range(value: Value, at: int) -> tuple[str, int, int]:
    return value.memory, at, at + value.units
