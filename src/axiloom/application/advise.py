"""What to change, and what each change gives: measured, never guessed.

A unit proposes changes from what it saw (saturated cells, weights that are flushed); a change that several
operators share goes into all of them at once. Then come the operators that cost most: each alone is put back
to float32, and the figure is taken again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from axiloom.application.data import Data
from axiloom.application.metrics import Metric
from axiloom.application.run import Plan, Progress, Run, run
from axiloom.application.units.unit import Operator, Ranges, Settings
from axiloom.graph.graph import Graph

WORST = 3
"""Operators that are put back to float32, one at a time."""


@dataclass(frozen=True)
class Advice:
    """`figure` of the metric with the change, on `data` data, `gain` over none; `error` of the result in
    percent. `options`: what makes the change on the command line, none where a line cannot."""

    why: str
    operators: tuple[str, ...]
    figure: float
    gain: float
    error: float
    options: tuple[str, ...]


@dataclass(frozen=True)
class Advised:
    """`before` is the figure without changes on the same data, `exact` that of float32."""

    before: float
    exact: float
    error: float
    data: int
    advice: tuple[Advice, ...]


def advise(
    graph: Graph,
    operators: Sequence[Operator],
    data: Data,
    plan: Plan,
    metric: Metric,
    ranges: Mapping[str, Ranges],
    seen: Run,
    chosen: Plan | None,
    progress: Progress,
) -> Advised:
    """`seen`: the run under `plan`; `chosen`: settings of the checked pass, if the plan has others."""

    def measured(other: Plan) -> Run:
        return run(graph, operators, data, other, metric, errors=False, progress=progress)

    base = measured(plan)
    advice = []
    for why, changes in _proposed(operators, plan, ranges, seen, chosen):
        other = measured({**plan, **changes})
        advice.append(_advice(why, changes, plan, base, other, metric))
    worst = sorted(seen.seen, key=lambda name: -seen.seen[name].own.percent)[:WORST]
    for name in worst if len(plan) > 1 else ():
        other = measured({key: settings for key, settings in plan.items() if key != name})
        gain = metric.gain(base.found, other.found)
        why = "left in float32, to see what it costs"
        advice.append(Advice(why, (name,), other.found, gain, other.output.percent, ()))
    advice.sort(key=lambda change: (-change.gain, change.error))
    return Advised(base.found, base.exact, base.output.percent, data.data, tuple(advice))


def _proposed(
    operators: Sequence[Operator],
    plan: Plan,
    ranges: Mapping[str, Ranges],
    seen: Run,
    chosen: Plan | None,
) -> Iterator[tuple[str, dict[str, Settings]]]:
    shared: dict[str, dict[str, Settings]] = {}
    for operator in operators:
        if operator.name in plan:
            settings, places = plan[operator.name], seen.seen[operator.name].places
            for change in operator.unit.changes(settings, ranges[operator.name], places):
                if dict(change.settings) != dict(settings):
                    shared.setdefault(change.why, {})[operator.name] = change.settings
    yield from shared.items()
    if chosen is not None and dict(chosen) != dict(plan):
        yield "all that the checked pass chooses (--numbers chosen)", dict(chosen)


def _advice(
    why: str, changes: Mapping[str, Settings], plan: Plan, base: Run, other: Run, metric: Metric
) -> Advice:
    names = tuple(changes)
    options = tuple(dict.fromkeys(_options(changes, plan)))
    gain = metric.gain(base.found, other.found)
    return Advice(why, names, other.found, gain, other.output.percent, options)


def _options(changes: Mapping[str, Settings], plan: Plan) -> Iterator[str]:
    """``--set`` of each knob; for all operators at once where all of the plan get the same value."""
    knobs = {key for settings in changes.values() for key in settings}
    for key in sorted(knobs):
        moved = {
            name: settings[key]
            for name, settings in changes.items()
            if key in settings and settings[key] != plan[name].get(key)
        }
        alike = len({*moved.values()}) == 1 and len(moved) == sum(
            key in settings for settings in plan.values()
        )
        for name, value in moved.items():
            yield f"{'*' if alike else name}.{key}={value}"
