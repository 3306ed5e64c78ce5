"""What was found, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axiloom.application.replay import ON_RTL, TEXT
from axiloom.application.result import causes, figure, rtl, verdict
from axiloom.application.select import lines
from axiloom.application.validate import Validated

MOST_STEPS = 12
"""Steps that a line shows."""


def text(found: Validated) -> str:
    return "\n".join(_lines(found))


def _lines(found: Validated) -> Iterator[str]:
    run = found.run
    if found.selected is not None:
        yield from lines(found.selected)
        yield ""
    yield verdict(found)
    yield f"{run.seconds / run.data:.3g} s a datum ({run.exact_seconds / run.data:.3g} s in float32)"
    yield ""
    yield from _table(
        ["operator", "unit", "own error %", "carried %", "saturated", "flushed", "wrapped"], _rows(found)
    )
    for name, seen in run.seen.items():
        steps = seen.own.steps
        if len(steps) > 1:
            at = sorted({round(i * (len(steps) - 1) / (MOST_STEPS - 1)) for i in range(MOST_STEPS)})
            yield f"{name}, error by step: " + ", ".join(f"{i + 1}: {steps[i]:.1f} %" for i in at)
    yield ""
    yield from causes(found)
    for place, why in found.offloaded.kept:
        yield f"not offloaded: {place}: {why}"
    if found.advised is not None:
        yield ""
        yield from _advice(found)
    if found.request.replays:
        yield ""
        yield from _replayed(found)


def _rows(found: Validated) -> Iterator[list[str]]:
    units = {operator.name: operator.unit.name for operator in found.offloaded.operators}
    for name, seen in found.run.seen.items():
        places = seen.places.of.values()
        lost = [sum(getattr(place, kind) for place in places) for kind in ("saturated", "flushed", "wrapped")]
        errors = f"{seen.own.percent:.2f}", f"{seen.carried.percent:.2f}"
        yield [name, units[name], *errors, *(f"{one:,}" for one in lost)]


def _advice(found: Validated) -> Iterator[str]:
    advised, metric = found.advised, found.metric
    assert advised is not None
    before, exact = figure(metric, advised.before), figure(metric, advised.exact)
    yield f"changes, on {advised.data} data (without: {before}, float32: {exact})"
    for one in advised.advice:
        whom = one.operators[0] if len(one.operators) == 1 else f"{len(one.operators)} operators"
        yield f"  {figure(metric, one.figure):>10}  result {one.error:.2f} % off  {whom}: {one.why}"
        if 0 < len(one.options) <= 4:
            yield "              " + " ".join(f"--set '{option}'" for option in one.options)


def _replayed(found: Validated) -> Iterator[str]:
    for where in (TEXT, ON_RTL):
        if parts := [one for one in found.replayed if one.where == where]:
            elements = sum(part.elements for part in parts)
            alike = elements - sum(part.wrong for part in parts)
            calls = "call" if len(parts) == 1 else "calls"
            yield f"{len(parts)} sampled {calls} on the {where}: {alike} of {elements} results alike"
    for one in found.replayed:
        if one.wrong:
            yield f"  {one.operator}, call {one.call + 1}, {one.what}, on {one.where}: {one.wrong} differ"
    if said := rtl(found):
        yield said


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    everything = [[*head], *rows]
    widths = [max(len(row[i]) for row in everything) for i in range(len(head))]
    for row in everything:
        first = [row[i].ljust(widths[i]) for i in range(2)]
        yield "  ".join([*first, *(row[i].rjust(widths[i]) for i in range(2, len(head)))]).rstrip()
