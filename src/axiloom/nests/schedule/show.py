"""Schedules and dependences for people: the loops as a tree, and a line for each dependence."""

from __future__ import annotations

from collections.abc import Iterator

from axiloom.nests.poly.dependences import Kind, dependences
from axiloom.nests.poly.vectors import directions
from axiloom.nests.poly.vectors import distances as as_text
from axiloom.nests.schedule.legality import distances
from axiloom.nests.schedule.loops import bounds, statics
from axiloom.nests.schedule.schedule import Placed, Schedule

INDENT = "  "


def tree(schedule: Schedule) -> str:
    """The loops with their bounds, and the statements with the instance they stand for.
    ::

        nest 1, interval 1
          for io 0..49
            for ii 0..3, unrolled
              S2(4*io + ii)
    """
    lines: list[str] = []
    open_loops: tuple[int | str, ...] = ()
    for statement in sorted(schedule.statements, key=lambda placed: statics(placed.order)):
        if statement.order[:1] != open_loops[:1]:
            number = int(statement.order[0])
            lines.append(f"nest {number}, interval {schedule.intervals.get(number, 1)}")
        for depth, name in enumerate(statement.loops):
            if statement.order[: 2 * depth + 2] != open_loops[: 2 * depth + 2]:
                lines.append(INDENT * (depth + 1) + _loop(schedule, statement, name, 2 * depth + 2))
        at = ", ".join(map(str, statement.instance))
        lines.append(f"{INDENT * (len(statement.loops) + 1)}{statement.statement.name}({at})")
        open_loops = statement.order
    return "\n".join(lines)


def _loop(schedule: Schedule, placed: Placed, name: str, length: int) -> str:
    """With the range over all statements in it."""
    prefix = placed.order[:length]
    inside = [statement for statement in schedule.statements if statement.order[:length] == prefix]
    ranges = [both for member in inside if (both := bounds(member, name)) is not None]
    span = f"{min(low for low, _ in ranges)}..{max(high for _, high in ranges)}" if ranges else "empty"
    return f"for {name} {span}{', unrolled' if name in schedule.unrolled else ''}"


def dependence_table(schedule: Schedule) -> str:
    """A line each: kind, from, to, array, distances by loop of the schedule, directions; then what is read
    and never written before. ``RAW S2 -> S2  C  i 0, j 0, k 1  (=, =, <)``."""
    rows = [
        (
            f"{distance.kind} {distance.source} -> {distance.sink}",
            distance.array,
            ", ".join(
                f"{n} {as_text((d,))[1:-1]}" for n, d in zip(distance.loops, distance.vector, strict=True)
            ),
            directions(distance.vector) if distance.loops else "",
        )
        for distance in distances(schedule)
    ]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(4)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *_live(schedule)])


def _live(schedule: Schedule) -> Iterator[str]:
    """By array: what the caller must bring."""
    readers: dict[str, dict[str, None]] = {}
    for read in dependences(schedule.program).live_in:
        readers.setdefault(read.array, {})[read.statement.name] = None
    for array, statements in readers.items():
        yield f"live in: {array}, read by {', '.join(statements)}"


def dot(schedule: Schedule) -> str:
    """The graph of dependences, for Graphviz. Flow is solid; what only keeps an order is dashed."""
    lines = [f"digraph {schedule.program.name.replace('-', '_')!r} {{".replace("'", '"')]
    lines += [f'  "{statement.name}";' for statement in schedule.program.statements]
    for distance in distances(schedule):
        style = "solid" if distance.kind is Kind.RAW else "dashed"
        label = f"{distance.kind} {distance.array} {as_text(distance.vector)}"
        lines.append(f'  "{distance.source}" -> "{distance.sink}" [label="{label}", style={style}];')
    return "\n".join([*lines, "}"])
