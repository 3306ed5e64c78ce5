"""A validation in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from axiloom.application.replay import ON_RTL, TEXT
from axiloom.application.result import causes, figure, rtl, verdict
from axiloom.application.select import lines
from axiloom.application.validate import Validated

MOST_STEPS = 12
"""Steps that a line shows."""


def text(validated: Validated) -> str:
    return "\n".join(_lines(validated))


def _lines(validated: Validated) -> Iterator[str]:
    run = validated.run
    if validated.selected is not None:
        yield from lines(validated.selected)
        yield ""
    yield verdict(validated)
    yield f"{run.seconds / run.data:.3g} s a datum ({run.exact_seconds / run.data:.3g} s in float32)"
    yield ""
    yield from _table(
        ["operator", "unit", "own error %", "carried %", "saturated", "flushed", "wrapped"], _rows(validated)
    )
    for name, seen in run.seen.items():
        steps = seen.own.steps
        if len(steps) > 1:
            at = sorted({round(i * (len(steps) - 1) / (MOST_STEPS - 1)) for i in range(MOST_STEPS)})
            yield f"{name}, error by step: " + ", ".join(f"{i + 1}: {steps[i]:.1f} %" for i in at)
    yield ""
    yield from causes(validated)
    for place, why in validated.offloaded.kept:
        yield f"not offloaded: {place}: {why}"
    if validated.advised is not None:
        yield ""
        yield from _advice(validated)
    if validated.request.replays:
        yield ""
        yield from _replayed(validated)


def _rows(validated: Validated) -> Iterator[list[str]]:
    units = {operator.name: operator.unit.name for operator in validated.offloaded.operators}
    for name, seen in validated.run.seen.items():
        places = seen.places.of.values()
        lost = [sum(getattr(place, kind) for place in places) for kind in ("saturated", "flushed", "wrapped")]
        errors = f"{seen.own.percent:.2f}", f"{seen.carried.percent:.2f}"
        yield [name, units[name], *errors, *(f"{count:,}" for count in lost)]


def _advice(validated: Validated) -> Iterator[str]:
    advised, metric = validated.advised, validated.metric
    assert advised is not None
    before, exact = figure(metric, advised.before), figure(metric, advised.exact)
    yield f"changes, on {advised.data} data (without: {before}, float32: {exact})"
    for change in advised.advice:
        whom = change.operators[0] if len(change.operators) == 1 else f"{len(change.operators)} operators"
        yield f"  {figure(metric, change.figure):>10}  result {change.error:.2f} % off  {whom}: {change.why}"
        if 0 < len(change.options) <= 4:
            yield "              " + " ".join(f"--set '{option}'" for option in change.options)


def _replayed(validated: Validated) -> Iterator[str]:
    for where in (TEXT, ON_RTL):
        if parts := [sample for sample in validated.replayed if sample.where == where]:
            elements = sum(part.elements for part in parts)
            alike = elements - sum(part.wrong for part in parts)
            calls = "call" if len(parts) == 1 else "calls"
            yield f"{len(parts)} sampled {calls} on the {where}: {alike} of {elements} results alike"
    for sample in validated.replayed:
        if sample.wrong:
            yield (
                f"  {sample.operator}, call {sample.call + 1}, {sample.what}, on {sample.where}: "
                f"{sample.wrong} differ"
            )
    if said := rtl(validated):
        yield said


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    everything = [[*head], *rows]
    widths = [max(len(row[i]) for row in everything) for i in range(len(head))]
    for row in everything:
        first = [row[i].ljust(widths[i]) for i in range(2)]
        yield "  ".join([*first, *(row[i].rjust(widths[i]) for i in range(2, len(head)))]).rstrip()
