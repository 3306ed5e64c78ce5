"""A validation as data for JSON, and in sentences that text and page share."""

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


def as_json(validated: Validated) -> dict[str, Any]:
    """Plain values; times are wall-clock seconds of this machine."""
    run, request = validated.run, validated.request
    return {
        "version": __version__,
        "model": validated.graph.name,
        "data": {"source": validated.data.source, "count": run.data, "calls": len(validated.data.calls)},
        "accelerators": list(request.accelerators),
        "numbers": request.numbers,
        "set": [f"{name}.{knob}={value}" for name, knob, value in request.sets],
        "seed": request.seed,
        "metric": validated.metric.name,
        "float32": run.exact,
        "found": run.found,
        "result_error_percent": run.output.percent,
        "seconds_a_datum": run.seconds / run.data,
        "float32_seconds_a_datum": run.exact_seconds / run.data,
        "operators": [_operator(validated, name) for name in run.seen],
        "kept": [{"place": place, "why": why} for place, why in validated.offloaded.kept],
        "replayed": [asdict(sample) for sample in validated.replayed],
        "without_rtl": dict(validated.without_rtl),
        "advised": asdict(validated.advised) if validated.advised else None,
    }


def _operator(validated: Validated, name: str) -> dict[str, Any]:
    seen = validated.run.seen[name]
    (operator,) = (candidate for candidate in validated.offloaded.operators if candidate.name == name)
    checked = validated.checked.get(name)
    return {
        "name": name,
        "unit": operator.unit.name,
        "shape": operator.shape,
        "own_error_percent": seen.own.percent,
        "carried_error_percent": seen.carried.percent,
        "own_error_by_step": seen.own.steps if len(seen.own.steps) > 1 else None,
        "places": {place: asdict(counts) for place, counts in seen.places.of.items()},
        "settings": dict(validated.plan[name]),
        "ranges": dict(validated.ranges[name]),
        "wrong": list(validated.wrong[name]),
        "checked": asdict(checked) if checked else None,
        "seconds": seen.seconds,
    }


def figure(metric: Metric, value: float) -> str:
    return f"{value:.2f}{' ' + metric.unit if metric.unit else ''}"


def verdict(validated: Validated) -> str:
    """In one sentence: float32, the accelerators' numbers, the data."""
    run, metric = validated.run, validated.metric
    names = ", ".join(validated.request.accelerators)
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


def causes(validated: Validated, most: int = 3) -> list[str]:
    """What the operators with the largest errors on their own inputs lost, in sentences; worst first."""
    said = []
    for name, seen in sorted(validated.run.seen.items(), key=lambda item: -item[1].own.percent)[:most]:
        parts = [
            f"{100 * count / counts.elements:.1f} % of {place} {what}"
            for place, counts in seen.places.of.items()
            for what, count in losses(counts)
            if counts.elements and count / counts.elements >= WORTH_SAYING
        ]
        reason = "; ".join([*validated.wrong[name], *parts]) or "rounding alone"
        said.append(f"{name}: error {seen.own.percent:.2f} % on its own inputs: {reason}")
    return said


def rtl(validated: Validated) -> str:
    """What of the sampled calls ran on no RTL, and why."""
    if not validated.without_rtl:
        return ""
    why = "; ".join(f"{name}: {said}" for name, said in sorted(validated.without_rtl.items()))
    return f"On the accelerator's text alone, not on RTL: {why}."
