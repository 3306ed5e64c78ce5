"""The best order where all values of a memory have one size: a search over what is done and what is where.

Rows then are slots, and addresses follow from the order. A state is which steps are done and which values are
resident. A load is executed just before the step that needs it: earlier it would only take a slot. So a state
is left by a step whose other operands are there, with the loads it needs, and by what makes room for them:
values that can be loaded again. A plan's cycles beyond one execution of each step are those of loads that
come back; states are taken by these, so the first one with all steps done is the best plan, and none is
reached only if there is none.

Slots and no solver. On a device of rows all values have one size, so a memory is a few slots, and what is
done with what is resident is a small space: a search through it by cost proves the best order, or that
there is none. It took 1 to 2 ms of CPU for five random graphs of 14 to 37 nodes, and decided 39 of 40
graphs of 8 to 111 nodes. CP-SAT, which knows rows and time, ended at its limit of 150 ms without a proof
for 11 of the 16 graphs up to 40 nodes. It would help where sizes differ; no program of ours asked it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from axiloom.selection.allocate.problem import Executed, Problem, Step

MOST_STATES = 1000
"""States that are left: some 40 ms. Orders are found within a hundred or two; the rest proves that there is
none."""
State: TypeAlias = tuple[int, int]
"""Bits of steps that are done (loads are not counted), bits of steps whose values are resident."""
Act: TypeAlias = tuple[int, int]
"""A step by its number, and the bits of values that leave their slots for its result."""


@dataclass(frozen=True)
class Order:
    """An order that takes the fewest cycles."""

    executed: tuple[Executed, ...]


class Impossible:
    """No order fits."""


def search(
    problem: Problem, sizes: Mapping[str, int] | None = None, states: int = MOST_STATES
) -> Order | Impossible | None:
    """`sizes`: rows of memories in place of their own. None: not a problem of slots, or too many states."""
    slots = _slots(problem, sizes or {})
    return None if slots is None else _Search(problem, slots).run(states)


def _slots(problem: Problem, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """By memory, how many values it holds; a memory with a place of its own for each value holds them all."""
    read = {name for step in problem.steps for name in step.reads}
    if any(step.again and step.name not in read for step in problem.steps):
        return None
    slots: dict[str, int] = {}
    for memory in problem.memories:
        values = [step for step in problem.steps if step.memory == memory.name]
        places = sorted((step.at, step.rows) for step in values if step.at is not None)
        apart = all(at + rows <= after for (at, rows), (after, _) in pairwise(places))
        if len(places) == len(values) and apart:
            slots[memory.name] = len(values)
            continue
        sizes_here = {step.rows for step in values}
        if len(sizes_here) != 1:
            return None
        slots[memory.name] = sizes.get(memory.name, memory.rows) // sizes_here.pop()
        # The only slot is at 0, whether that is asked for or not.
        if places and (slots[memory.name] != 1 or places[-1][0]):
            return None
    return slots


class _Search:
    def __init__(self, problem: Problem, slots: Mapping[str, int]) -> None:
        self.problem, self.slots = problem, slots
        self.steps = problem.steps
        number = {step.name: i for i, step in enumerate(self.steps)}
        self.reads = [tuple(dict.fromkeys(number[name] for name in step.reads)) for step in self.steps]
        self.operands = [sum(1 << read for read in reads) for reads in self.reads]
        self.place = [number.get(step.in_place, -1) for step in self.steps]
        self.readers = [0] * len(self.steps)
        for i, reads in enumerate(self.reads):
            for read in reads:
                self.readers[read] |= 1 << i
        self.loads = sum(1 << i for i, step in enumerate(self.steps) if step.again)
        self.from_loads = sum(1 << i for i, needs in enumerate(self.operands) if not needs & ~self.loads)
        self.all = (1 << len(self.steps)) - 1 & ~self.loads
        self.inside = {
            name: sum(1 << i for i, step in enumerate(self.steps) if step.memory == name) for name in slots
        }

    def run(self, states: int) -> Order | Impossible | None:
        start: State = (0, 0)
        best = {start: (0, 0)}
        came: dict[State, tuple[State, tuple[Act, ...]]] = {}
        # Of equal costs the state with more steps done comes first.
        heap = [(0, 0, 0, 0, start)]
        count = left = 0
        while heap:
            cycles, many, _, _, state = heapq.heappop(heap)
            if best[state] < (cycles, many):
                continue
            if state[0] == self.all:
                return Order(tuple(self._executed(self._path(came, state))))
            if left == states:
                return None
            left += 1
            for then, acts, more in self._next(state):
                cost = cycles + sum(self.steps[load].cycles for load in more), many + len(more)
                if then not in best or cost < best[then]:
                    best[then] = cost
                    came[then] = state, acts
                    count += 1
                    heapq.heappush(heap, (*cost, -then[0].bit_count(), count, then))
        return Impossible()

    @staticmethod
    def _path(came: Mapping[State, tuple[State, tuple[Act, ...]]], state: State) -> list[Act]:
        path: list[tuple[Act, ...]] = []
        while state in came:
            state, acts = came[state]
            path.append(acts)
        return [act for acts in reversed(path) for act in acts]

    def _next(self, state: State) -> Iterator[tuple[State, tuple[Act, ...], tuple[int, ...]]]:
        """What a state is left for, by which acts, and the values that have to be loaded again for it."""
        done, resident = state
        there = resident | self.loads
        for i in _bits(self._readable(resident) & ~done & ~self.loads):
            operands = self.operands[i]
            if operands & ~there:
                continue
            missing = [operand for operand in self.reads[i] if not resident >> operand & 1]
            for acts, here, lost in self._loaded(missing, operands, resident):
                yield from self._executing(i, done, here, acts, lost)

    def _readable(self, resident: int) -> int:
        """Steps that read something that is resident, or nothing but loads."""
        ready = self.from_loads
        for bit in _bits(resident & ~self.loads):
            ready |= self.readers[bit]
        return ready

    def _loaded(
        self,
        missing: list[int],
        pinned: int,
        resident: int,
        acts: tuple[Act, ...] = (),
        lost: tuple[int, ...] = (),
    ) -> Iterator[tuple[tuple[Act, ...], int, tuple[int, ...]]]:
        """With `missing` loaded, in each way to make room; `pinned` stay."""
        if not missing:
            yield acts, resident, lost
            return
        first, *rest = missing
        for gone in self._room(first, resident, pinned):
            more = lost if gone < 0 else (*lost, gone)
            out = 0 if gone < 0 else 1 << gone
            here = resident & ~out | 1 << first
            yield from self._loaded(rest, pinned, here, (*acts, (first, out)), more)

    def _executing(
        self, i: int, done: int, resident: int, acts: tuple[Act, ...], lost: tuple[int, ...]
    ) -> Iterator[tuple[State, tuple[Act, ...], tuple[int, ...]]]:
        """Step `i`, whose operands are resident."""
        then = done | 1 << i
        dying = sum(1 << operand for operand in self.reads[i] if not self.readers[operand] & ~then)
        old = self.place[i]
        if old >= 0:
            # The result takes the operand's slot, so the operand is dead or comes back.
            if not dying >> old & 1 and not self.loads >> old & 1:
                return
            ways = [-1]
            dying |= 1 << old
            lost = lost if not self.readers[old] & ~then else (*lost, old)
        elif self.steps[i].apart:
            ways = list(self._room(i, resident, self.operands[i]))
        else:
            ways = list(self._room(i, resident & ~dying, 0))
        for gone in ways:
            out = dying if gone < 0 else dying | 1 << gone
            here = resident & ~out
            if self.readers[i] & ~then:
                here |= 1 << i
            more = lost if gone < 0 else (*lost, gone)
            yield (then, here), (*acts, (i, out)), more

    def _room(self, i: int, resident: int, pinned: int) -> Iterator[int]:
        """Which value leaves its slot for that of step `i`: -1 for none, where one is free."""
        memory = self.steps[i].memory
        here = resident & self.inside[memory]
        if here.bit_count() < self.slots[memory]:
            yield -1
            return
        yield from _bits(here & self.loads & ~pinned)

    def _executed(self, acts: list[Act]) -> Iterator[Executed]:
        """The order with addresses."""
        at: dict[int, int] = {}
        for i, out in acts:
            step = self.steps[i]
            where = {self.steps[operand].name: at[operand] for operand in self.reads[i]}
            if step.at is not None:
                place = step.at
            elif self.place[i] >= 0:
                place = at[self.place[i]]
            else:
                place = self._free(at, out, step) * step.rows
            for gone in [gone for gone in at if out >> gone & 1]:
                del at[gone]
            at[i] = place
            yield Executed(step, {**where, step.name: place})
            if not self.readers[i]:
                del at[i]

    def _free(self, held: Mapping[int, int], out: int, step: Step) -> int:
        """The first slot without a value. Those that leave do so before, but a step's own operands where its
        result lies apart from them."""
        stays = set(step.reads) if step.apart else set()
        taken = {
            place // step.rows
            for i, place in held.items()
            if self.steps[i].memory == step.memory and (not out >> i & 1 or self.steps[i].name in stays)
        }
        return next(slot for slot in range(self.slots[step.memory]) if slot not in taken)


def _bits(bits: int) -> Iterator[int]:
    """Their numbers, the least first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
