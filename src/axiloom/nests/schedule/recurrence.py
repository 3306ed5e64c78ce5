"""How soon a nest needs its own results: what bounds the interval at which it can start iterations."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from axiloom.nests.poly.dependences import Kind, dependences
from axiloom.nests.schedule.legality import common_loops, in_loops
from axiloom.nests.schedule.loops import bounds
from axiloom.nests.schedule.schedule import Placed, Schedule


@dataclass(frozen=True)
class Recurrence:
    """`sink` needs what `source` computed `iterations` iterations of the nest before: with a latency of l
    cycles in between the nest starts an iteration every ceil(l / iterations) cycles at most."""

    nest: int
    array: str
    source: str
    sink: str
    iterations: int

    def __str__(self) -> str:
        after = f"after {self.iterations} iteration{'s' if self.iterations > 1 else ''}"
        return f"nest {self.nest}: {self.sink} needs {self.array} of {self.source} {after}"


def recurrences(schedule: Schedule) -> tuple[Recurrence, ...]:
    """For each flow of values from an iteration of a nest to a later one, the least number of iterations in
    between. It is exact where the loops of a nest have constant bounds; else the loops count as their
    bounding box does."""
    placed = {statement.statement.name: statement for statement in schedule.statements}
    found = []
    for each in dependences(schedule.program).of(Kind.RAW):
        source, sink = placed[each.source.name], placed[each.sink.name]
        if source.order[0] != sink.order[0]:
            continue
        common, _ = common_loops(source.order, sink.order)
        running = [name for name in source.loops[:common] if name not in schedule.unrolled]
        distance = _least(in_loops(each, source, sink), common, _weights(schedule, source, running))
        if distance is not None:
            nest = int(source.order[0])
            found.append(Recurrence(nest, each.array, each.source.name, each.sink.name, distance))
    return tuple(found)


def _weights(schedule: Schedule, placed: Placed, running: list[str]) -> dict[int, int]:
    """Iterations of the nest in one of each loop, by the loop's depth."""
    weights, inside = {}, 1
    for name in reversed([loop for loop in placed.loops if loop not in schedule.unrolled]):
        depth = placed.loops.index(name)
        if name in running:
            weights[depth] = inside
        prefix = placed.order[: 2 * depth + 2]
        spans = [
            both
            for statement in schedule.statements
            if statement.order[: len(prefix)] == prefix and (both := bounds(statement, name)) is not None
        ]
        inside *= max(high for _, high in spans) - min(low for low, _ in spans) + 1 if spans else 1
    return weights


def _least(pairs: isl.Map, common: int, weights: dict[int, int]) -> int | None:
    """The least positive distance in iterations."""
    a, b = ([f"{side}{k}" for k in range(pairs.dim(kind))] for side, kind in _SIDES)
    form = " + ".join(f"{w}*(b{k} - a{k})" for k, w in weights.items() if k < common) or "0"
    distance = isl.Map(f"{{ [[{', '.join(a)}] -> [{', '.join(b)}]] -> [{form}] }}")
    values = pairs.wrap().apply(distance).intersect(isl.Set("{ [d] : d > 0 }"))
    return None if values.is_empty() else int(values.dim_min_val(0).to_python())


_SIDES = (("a", isl.dim_type.in_), ("b", isl.dim_type.out))
