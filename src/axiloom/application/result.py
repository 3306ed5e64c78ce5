"""What was found, as data for JSON, and in sentences that text and page share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from axiloom import __version__
from axiloom.application.metrics import Metric
from axiloom.application.units.counts import Counts
from axiloom.application.validate import Validated

WORTH_SAYING = 0.01
"""Share of a place's numbers from which on what is lost is named as a cause."""


def as_json(found: Validated) -> dict[str, Any]:
    """Plain values; times are wall-clock seconds of this machine."""
    run, request = found.run, found.request
    return {
        "version": __version__,
        "model": found.graph.name,
        "data": {"source": found.data.source, "count": run.data, "calls": len(found.data.calls)},
        "accelerators": list(request.accelerators),
        "numbers": request.numbers,
        "set": [f"{name}.{knob}={value}" for name, knob, value in request.sets],
        "seed": request.seed,
        "metric": found.metric.name,
        "float32": run.exact,
        "found": run.found,
        "result_error_percent": run.output.percent,
        "seconds_a_datum": run.seconds / run.data,
        "float32_seconds_a_datum": run.exact_seconds / run.data,
        "operators": [_operator(found, name) for name in run.seen],
        "kept": [{"place": place, "why": why} for place, why in found.offloaded.kept],
        "replayed": [asdict(one) for one in found.replayed],
        "without_rtl": dict(found.without_rtl),
        "advised": asdict(found.advised) if found.advised else None,
    }


def _operator(found: Validated, name: str) -> dict[str, Any]:
    seen = found.run.seen[name]
    (operator,) = (one for one in found.offloaded.operators if one.name == name)
    checked = found.checked.get(name)
    return {
        "name": name,
        "unit": operator.unit.name,
        "shape": operator.shape,
        "own_error_percent": seen.own.percent,
        "carried_error_percent": seen.carried.percent,
        "own_error_by_step": seen.own.steps if len(seen.own.steps) > 1 else None,
        "places": {place: asdict(counts) for place, counts in seen.places.of.items()},
        "settings": dict(found.plan[name]),
        "ranges": dict(found.ranges[name]),
        "wrong": list(found.wrong[name]),
        "checked": asdict(checked) if checked else None,
        "seconds": seen.seconds,
    }


def figure(metric: Metric, value: float) -> str:
    return f"{value:.2f}{' ' + metric.unit if metric.unit else ''}"


def verdict(found: Validated) -> str:
    """In one sentence: float32, the accelerators' numbers, the data."""
    run, metric = found.run, found.metric
    names = ", ".join(found.request.accelerators)
    here = figure(metric, run.found)
    if not metric.labels:
        return f"The result is {here} off float32 in the numbers of {names}, on {run.data} data."
    exact = figure(metric, run.exact)
    numbers = f"{here} in the numbers of {names}"
    return f"{metric.name.capitalize()} is {exact} in float32 and {numbers}, on {run.data} data."


def losses(counts: Counts) -> Iterator[tuple[str, int]]:
    yield "saturated", counts.saturated
    yield "flushed to 0", counts.flushed
    yield "wrapped", counts.wrapped


def causes(found: Validated, most: int = 3) -> list[str]:
    """What the operators with the largest errors on their own inputs lost, in sentences; worst first."""
    said = []
    for name, seen in sorted(found.run.seen.items(), key=lambda one: -one[1].own.percent)[:most]:
        parts = [
            f"{100 * count / counts.elements:.1f} % of {place} {what}"
            for place, counts in seen.places.of.items()
            for what, count in losses(counts)
            if counts.elements and count / counts.elements >= WORTH_SAYING
        ]
        reason = "; ".join([*found.wrong[name], *parts]) or "rounding alone"
        said.append(f"{name}: error {seen.own.percent:.2f} % on its own inputs: {reason}")
    return said


def rtl(found: Validated) -> str:
    """What of the sampled calls ran on no RTL, and why."""
    if not found.without_rtl:
        return ""
    why = "; ".join(f"{name}: {said}" for name, said in sorted(found.without_rtl.items()))
    return f"On the accelerator's text alone, not on RTL: {why}."
