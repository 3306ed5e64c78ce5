"""Schedules of random programs, and a machine that executes them under a plan in any order it allows: what an
element holds is a number that stands for how it was computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from tests.nests.fuzz import programs
from tests.nests.schedule.enumeration import points

from axiloom.nests.dataflow import Edge, Plan
from axiloom.nests.program import Load, loads
from axiloom.nests.schedule import Nest, Placed, Schedule
from axiloom.nests.schedule.errors import ScheduleError

Memory = dict[tuple[str, tuple[int, ...]], int]


def random_schedule(seed: int) -> Schedule:
    """Of two nests or more; some of the innermost loops are unrolled."""
    rng = Random(seed)
    schedule = Schedule.of(programs.program(rng))
    while len(schedule.nests) < 2:
        schedule = Schedule.of(programs.program(rng))
    for placed in schedule.statements:
        if len(placed.loops) > 1 and rng.random() < 0.5:
            with suppress(ScheduleError):
                schedule = schedule.unroll(placed.statement.name, placed.loops[-1])
    return schedule


# --- execution ----------------------------------------------------------------------------------------------


@dataclass
class Pipe:
    """A nest under way: its iterations in order, each a list of instances."""

    nest: Nest
    iterations: list[list[tuple[Placed, dict[str, int]]]]
    done: int = 0


def pipe(nest: Nest, unrolled: frozenset[str]) -> Pipe:
    instances = []
    for placed in nest.statements:
        for point in points(placed.loops, placed.domain):
            at = dict(zip(placed.loops, point, strict=True))
            time = [at[each] if isinstance(each, str) else each for each in placed.order]
            lanes = [isinstance(each, str) and each in unrolled for each in placed.order]
            depth = lanes.index(True) if True in lanes else len(time)
            instances.append((tuple(time), tuple(time[:depth]), placed, at))
    instances.sort(key=lambda each: each[0])
    found: dict[tuple[int, ...], list[tuple[Placed, dict[str, int]]]] = {}
    for _, iteration, placed, at in instances:
        found.setdefault(iteration, []).append((placed, at))
    return Pipe(nest, list(found.values()))


def sequential(schedule: Schedule) -> Memory:
    return run(schedule, None, lambda ready: ready[0])


def is_at(edge: Edge, iteration: list[tuple[Placed, dict[str, int]]]) -> bool:
    return any(
        placed.statement.name == edge.statement and all(form.value(at) >= 0 for form in edge.when)
        for placed, at in iteration
    )


def run(schedule: Schedule, plan: Plan | None, choose: Callable[[list[int]], int]) -> Memory:
    """All iterations, each in one step; of the nests that can go on, `choose` says which. Without a plan, one
    nest after the other. What passes through a FIFO is found nowhere else by the reader."""
    pipes = [pipe(each, schedule.unrolled) for each in schedule.nests]
    memory: Memory = {}
    orders, streams = (plan.orders, plan.streams) if plan else ((), ())
    tokens = [each.initial for each in orders]
    queues: list[deque[Memory]] = [deque() for _ in streams]
    held: list[Memory] = [{} for _ in streams]

    def can_go(pipe: Pipe) -> bool:
        if pipe.done == len(pipe.iterations):
            return False
        here = pipe.iterations[pipe.done]
        return all(tokens[n] or not is_at(each.before, here) for n, each in enumerate(orders)) and all(
            queues[n] or not (each.pop and is_at(each.pop, here)) for n, each in enumerate(streams)
        )

    while any(each.done < len(each.iterations) for each in pipes):
        ready = [n for n, each in enumerate(pipes) if can_go(each)]
        assert ready, "deadlock"
        mine = pipes[choose(ready)]
        here = mine.iterations[mine.done]
        mine.done += 1
        for n, order in enumerate(orders):
            tokens[n] += is_at(order.after, here) - is_at(order.before, here)
        for n, stream in enumerate(streams):
            if stream.pop and is_at(stream.pop, here):
                held[n] = queues[n].popleft()
        written: Memory = {}
        for placed, at in here:
            instance = dict(
                zip(placed.statement.iterators, [f.value(at) for f in placed.instance], strict=True)
            )

            def read(load: Load, instance: dict[str, int] = instance, mine: Pipe = mine) -> int:
                element = load.array, tuple(each.value(instance) for each in load.subscripts)
                for n, stream in enumerate(streams):
                    if (stream.array, stream.consumer) == (load.array, mine.nest.number):
                        return held[n][element]
                return memory.get(element, hash(element))

            given = tuple(read(load) for load in loads(placed.statement.value))
            value = hash((placed.statement.name, *instance.values(), given))
            target = placed.statement.target
            element = target.array, tuple(each.value(instance) for each in target.subscripts)
            memory[element] = written[element] = value
        for n, stream in enumerate(streams):
            if stream.push and is_at(stream.push, here):
                queues[n].append({each: value for each, value in written.items() if each[0] == stream.array})
    assert not any(queues), "an entry is left"
    return memory
