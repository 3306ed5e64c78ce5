"""Streams at the border of a circuit: arrays that come in, or go out, element by element.

An array comes in if one statement reads it, and each iteration that pops finds in its entry all that it and
those up to the next pop read, each element once. It goes out if all that an iteration writes is written for
good. The order of elements is that of the iterations: :func:`elements` says it.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np
import numpy.typing as npt

from axiloom.nests.dataflow.fifos import NoPassageError, Passage, final, in_order, one_condition, sources
from axiloom.nests.dataflow.iterations import Visits
from axiloom.nests.poly.sets import domain
from axiloom.nests.schedule.plan import Edge


def arrival(array: str, statements: Sequence[Visits]) -> Passage:
    """Of an array that a nest reads. Raises NoPassageError."""
    readers = [statement for statement in statements if statement.reads(array)]
    if len(readers) != 1 or any(statement.writes(array) for statement in statements):
        raise NoPassageError(f"{len(readers)} statements read it, a port has one reader")
    (reader,) = readers
    loads = reader.reads(array)
    if len(loads) != 1:
        raise NoPassageError(f"{reader.name} reads it in {len(loads)} places, a port is read in one")
    first = reader.touches(loads[0]).reverse().lexmin()
    entry = sources(loads[0], reader, reader, first)
    if not entry.is_single_valued():
        raise NoPassageError(f"an iteration of {reader.name} reads elements that came at different times")
    in_order(entry, reader, reader, "first reads")
    when = one_condition(entry.range(), reader, "popped at")
    edge = Edge(reader.name, when)
    return Passage(edge, edge, int(entry.range().count_val().to_python()))


def departure(array: str, statements: Sequence[Visits]) -> Passage:
    """Of an array that a nest writes. Raises NoPassageError."""
    writer, last = final(array, [statement for statement in statements if statement.writes(array)])
    pushes = writer.by_iteration(last.reverse()).domain()
    written = writer.by_iteration(writer.touches(writer.writes(array)[0])).intersect_domain(pushes)
    if not written.is_subset(writer.by_iteration(last.reverse())):
        raise NoPassageError(f"an iteration of {writer.name} writes elements for good, and others not")
    edge = Edge(writer.name, one_condition(pushes, writer, "pushed at"))
    return Passage(edge, edge, int(pushes.count_val().to_python()))


def elements(array: str, edge: Edge, statements: Sequence[Visits]) -> list[npt.NDArray[np.int64]]:
    """What each entry of a port holds, in the order of entries: subscripts of its elements, of shape
    (elements, dimensions), each once, lanes in their order. All are enumerated."""
    (side,) = [statement for statement in statements if statement.name == edge.statement]
    access = (side.writes(array) or side.reads(array))[0]
    points = side.instances.intersect(
        domain(side.loops, edge.when).add_dims(isl.dim_type.set, len(side.lanes))
    )
    rows: list[tuple[int, ...]] = []
    points.foreach_point(
        lambda point: rows.append(
            tuple(
                point.get_coordinate_val(isl.dim_type.set, n).to_python()
                for n in range(len(side.loops) + len(side.lanes))
            )
        )
    )
    rows.sort()
    values = np.array(rows, np.int64).reshape(len(rows), -1)
    at = {name: values[:, n] for n, name in enumerate((*side.loops, *side.lanes))}
    subscripts = np.stack(
        [np.broadcast_to(f.values(at), len(rows)) for f in side.placed.subscripts(access.subscripts)], axis=1
    )
    entries: dict[tuple[int, ...], dict[tuple[int, ...], None]] = {}
    for point, element in zip(rows, subscripts.tolist(), strict=True):
        entries.setdefault(point[: len(side.loops)], {})[tuple(element)] = None
    return [np.array(list(entry), np.int64) for entry in entries.values()]
