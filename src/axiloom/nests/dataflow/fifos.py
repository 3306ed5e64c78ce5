"""FIFOs: whether an array can pass from one nest to another through one, and which iterations push and pop.

It can if each iteration of the reader finds all it reads in one entry (what the lanes of one iteration of
the writer wrote for good), each lane always at the same place of it, and if the entries are needed in the
order in which they are written. An entry that several iterations in a row read is popped by the first and
held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from axiloom.nests.dataflow.iterations import Visits, forms
from axiloom.nests.poly.sets import Condition
from axiloom.nests.program import Load
from axiloom.nests.schedule.plan import Edge


@dataclass(frozen=True)
class Passage:
    """How an array passes: `entries` are pushed in all, each of them once."""

    push: Edge
    pop: Edge
    entries: int


class NoPassageError(Exception):
    """Why an array cannot pass through a FIFO: a sentence about it, without its name."""


def passage(array: str, producers: Sequence[Visits], consumers: Sequence[Visits]) -> Passage:
    """Of `array`, between the statements of two nests, which are all that touch it. Raises
    NoPassageError."""
    writers = [producer for producer in producers if producer.writes(array)]
    readers = [consumer for consumer in consumers if consumer.reads(array)]
    if not writers or len(readers) != 1:
        raise NoPassageError(f"{len(readers)} statements read it, a FIFO has one reader")
    if any(consumer.writes(array) for consumer in consumers):
        raise NoPassageError("the nest that reads it writes it too")
    writer, last = final(array, writers)
    reader = readers[0]
    by_load = [sources(load, reader, writer, last) for load in reader.reads(array)]
    entry = by_load[0]
    for other in by_load[1:]:
        entry = entry.union(other)
    entry = entry.coalesce()
    if not entry.is_single_valued():
        raise NoPassageError(f"an iteration of {reader.name} reads what several of {writer.name} write")
    in_order(entry, reader, writer)
    pushes, pops = entry.range(), entry.reverse().lexmin().range()
    push = one_condition(pushes, writer, "pushed at")
    pop = one_condition(pops, reader, "popped at")
    return Passage(Edge(writer.name, push), Edge(reader.name, pop), int(pushes.count_val().to_python()))


def final(array: str, writers: Sequence[Visits]) -> tuple[Visits, isl.Map]:
    """The statement that writes each element last, and elements to its instances that do."""
    length = max(len(writer.placed.order) for writer in writers)
    times = [
        writer.touches(writer.writes(array)[0]).reverse().apply_range(writer.times(length))
        for writer in writers
    ]
    total = times[0]
    for instances in times[1:]:
        total = total.union(instances)
    last = total.lexmax()
    ends = [
        writer for writer, time in zip(writers, times, strict=True) if not last.intersect(time).is_empty()
    ]
    if len(ends) > 1:
        names = " and ".join(end.name for end in ends)
        raise NoPassageError(f"{names} both write elements for the last time")
    (writer,) = ends
    return writer, writer.touches(writer.writes(array)[0]).reverse().lexmax()


def sources(load: Load, reader: Visits, writer: Visits, last: isl.Map) -> isl.Map:
    """Iterations of `reader` to those of `writer` whose entries `load` reads."""
    read = reader.touches(load)
    if not read.range().is_subset(last.domain()):
        raise NoPassageError(f"{reader.name} reads elements that {writer.name} does not write")
    source = read.apply_range(last)  # loops, lanes -> loops, lanes
    lanes = source.project_out(isl.dim_type.in_, 0, len(reader.loops))
    lanes = lanes.project_out(isl.dim_type.out, 0, len(writer.loops))
    if not lanes.is_single_valued():
        raise NoPassageError(f"a lane of {reader.name} reads what different lanes of {writer.name} write")
    source = source.project_out(isl.dim_type.in_, len(reader.loops), len(reader.lanes))
    return source.project_out(isl.dim_type.out, len(writer.loops), len(writer.lanes)).coalesce()


def in_order(entry: isl.Map, reader: Visits, writer: Visits, does: str = "writes") -> None:
    """Entries are needed in the order in which they are pushed, or again at once."""
    later = isl.Map.lex_lt(entry.domain().get_space())  # an iteration to those after it
    before = isl.Map.lex_gt(entry.range().get_space())
    swapped = entry.reverse().apply_range(later).apply_range(entry).intersect(before)
    if swapped.is_empty():
        return
    pair = swapped.sample()
    first, second = _numbers(pair.domain()), _numbers(pair.range())
    raise NoPassageError(
        f"{reader.name} needs what {writer.name} {does} at {_at(writer, second)} after what it {does} at "
        f"{_at(writer, first)}"
    )


def _numbers(point: isl.BasicSet) -> list[int]:
    singleton = isl.Set.from_basic_set(point)
    return [singleton.dim_min_val(i).to_python() for i in range(singleton.dim(isl.dim_type.set))]


def _at(side: Visits, values: Sequence[int]) -> str:
    return "(" + ", ".join(f"{name}={value}" for name, value in zip(side.loops, values, strict=True)) + ")"


def one_condition(points: isl.Set, side: Visits, what: str) -> Condition:
    try:
        conditions = forms(points, side.loops, side.iterations)
    except ValueError as error:
        raise NoPassageError(f"{what} iterations of {side.name} that need a division: {error}") from None
    if len(conditions) != 1:
        raise NoPassageError(
            f"{what} iterations of {side.name} that are {len(conditions)} conditions, not one"
        )
    return conditions[0]
