"""Judges that share nothing with what makes plans: a replay on rows, and the cheapest plan by trying all."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st

from axiloom.selection.allocate import Executed, Memory, Problem, Step

Rows = dict[str, list[str]]


def faults(problem: Problem, plan: Sequence[Executed]) -> list[str]:
    """Why `plan` is none of `problem`; nothing if it is one. Rows hold names of values."""
    steps = {step.name: step for step in problem.steps}
    rows: Rows = {memory.name: [""] * memory.rows for memory in problem.memories}
    faults = []
    for number, execution in enumerate(plan):
        step, at = execution.step, execution.addresses
        where = f"{number}: {step.name}"
        for name in step.reads:
            if not _holds(rows, steps[name], at[name]):
                faults.append(f"{where}: {name} is not at {at[name]}")
        faults += [f"{where}: {fault}" for fault in _misplaced(problem, steps, step, at)]
        rows[step.memory][at[step.name] : at[step.name] + step.rows] = [step.name] * step.rows
    times = Counter(execution.step.name for execution in plan)
    faults += [f"{name} is not executed" for name in steps if name not in times]
    return faults + [
        f"{name} is executed again" for name in times if times[name] > 1 and not steps[name].again
    ]


def _holds(rows: Rows, step: Step, at: int) -> bool:
    return rows[step.memory][at : at + step.rows] == [step.name] * step.rows


def _misplaced(problem: Problem, steps: dict[str, Step], step: Step, at: dict[str, int]) -> list[str]:
    here = range(at[step.name], at[step.name] + step.rows)
    size = next(memory.rows for memory in problem.memories if memory.name == step.memory)
    operands = [steps[name] for name in step.reads if steps[name].memory == step.memory]
    met = [
        other.name for other in operands if {*here} & {*range(at[other.name], at[other.name] + other.rows)}
    ]
    return [
        *(["outside of its memory"] if here.start < 0 or here.stop > size else []),
        *([f"not at {step.at}"] if step.at is not None and here.start != step.at else []),
        *(["not in place"] if step.in_place and here.start != at[step.in_place] else []),
        *(["not apart"] if step.apart and not step.in_place and met else []),
    ]


def cheapest(problem: Problem) -> int | None:
    """Cycles of the best plan, by all steps at all addresses in all orders; None: there is none."""
    steps = {step.name: step for step in problem.steps}
    empty = tuple((memory.name, ("",) * memory.rows) for memory in problem.memories)
    heap: list[tuple[int, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]] = [(0, (), empty)]
    seen = set()
    while heap:
        cycles, done, memories = heapq.heappop(heap)
        if len(done) == len(steps):
            return cycles
        if (done, memories) in seen:
            continue
        seen.add((done, memories))
        rows = {name: [*content] for name, content in memories}
        for step in problem.steps:
            if step.name in done and not step.again:
                continue
            found = {
                name: [at for at in range(len(rows[steps[name].memory])) if _holds(rows, steps[name], at)]
                for name in step.reads
            }
            if not all(found.values()):
                continue
            reads = {name: places[0] for name, places in found.items()}
            for at in range(len(rows[step.memory]) - step.rows + 1):
                if not _misplaced(problem, steps, step, {**reads, step.name: at}):
                    after = {name: [*content] for name, content in rows.items()}
                    after[step.memory][at : at + step.rows] = [step.name] * step.rows
                    then = tuple((name, tuple(content)) for name, content in after.items())
                    heapq.heappush(heap, (cycles + step.cycles, tuple(sorted({*done, step.name})), then))
    return None


@st.composite
def problems(draw: st.DrawFn, most: int = 7, *, slots: bool = False) -> Problem:
    """Loads and steps on two memories that may be too small, and a place of the host for each result.
    `slots`: all values of a memory have one size."""
    size = {name: draw(st.integers(1, 3)) for name in "ab"}
    memories = [Memory(name, size[name] * draw(st.integers(1, 3)) + draw(st.integers(0, 1))) for name in "ab"]
    steps: list[Step] = []
    for number in range(draw(st.integers(1, most))):
        memory = draw(st.sampled_from("ab"))
        rows = size[memory] if slots else draw(st.integers(1, size[memory] + 1))
        known = [step.name for step in steps]
        reads = (
            draw(st.lists(st.sampled_from(known), min_size=number > 1, max_size=2, unique=True))
            if known
            else []
        )
        inside = [
            step.name for step in steps if step.name in reads and (step.memory, step.rows) == (memory, rows)
        ]
        place = inside[0] if inside and draw(st.booleans()) else ""
        again = not reads and draw(st.booleans())
        apart = not place and draw(st.booleans())
        cycles = draw(st.integers(1, 3))
        steps.append(Step(f"v{number}", tuple(reads), memory, rows, cycles, None, place, apart, again))
    unread = sorted({step.name for step in steps} - {name for step in steps for name in step.reads})
    stores = [Step(f"y{place}", (name,), "host", 1, at=place) for place, name in enumerate(unread)]
    return Problem((*memories, Memory("host", len(unread))), (*steps, *stores))
