"""The whole of ``axiloom validate``: offload, exponents, the run, replays, advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from axiloom.application.advise import Advised, advise
from axiloom.application.choose import Checked, choose, observe
from axiloom.application.data import Data
from axiloom.application.metrics import METRICS, Metric
from axiloom.application.offload import Offloaded, offload
from axiloom.application.replay import Replayed, sample
from axiloom.application.run import Plan, Progress, Run, run
from axiloom.application.select import Selected, check, select
from axiloom.application.units.unit import Operator, Ranges, Settings, changed
from axiloom.base.errors import UsageError
from axiloom.graph.graph import Graph

NUMBERS = ("chosen", "published")
ALL = "*"


@dataclass(frozen=True)
class Request:
    """`sets`: (operator or ``*``, knob, value). `calibration`: calls of the data that ranges come from.
    `replays`: sampled calls; `advise`: calls of the data on which changes are measured, 0 for none."""

    accelerators: tuple[str, ...]
    numbers: str = "chosen"
    metric: str = "accuracy"
    sets: tuple[tuple[str, str, int], ...] = ()
    calibration: int = 1
    replays: int = 0
    advise: int = 0
    seed: int = 0
    selecting: bool = False
    """Units are chosen for the whole application at once, not the first that takes an operation."""


@dataclass(frozen=True)
class Validated:
    """`checked` and `wrong` are by operator; `checked` has those that the pass chose."""

    graph: Graph
    request: Request
    offloaded: Offloaded
    metric: Metric
    data: Data
    ranges: Mapping[str, Ranges]
    plan: Plan
    checked: Mapping[str, Checked]
    run: Run
    replayed: Sequence[Replayed] = ()
    without_rtl: Mapping[str, str] = field(default_factory=dict)
    """Units or operators whose sampled calls did not run on RTL, and why."""
    advised: Advised | None = None
    wrong: Mapping[str, Sequence[str]] = field(default_factory=dict)
    selected: Selected | None = None


def validate(
    graph: Graph,
    data: Data,
    request: Request,
    progress: Progress = lambda _: None,
    calibration: Data | None = None,
) -> Validated:
    """Raises UsageError."""
    metric = METRICS[request.metric]
    if metric.labels and data.labels is None:
        raise UsageError(f"--metric {metric.name}: {data.source} has no labels; --metric error needs none")
    selected: Selected | None = None
    if request.selecting:
        progress("selecting units")
        selected = check(select(graph, request.accelerators), graph, data)
        graph, offloaded = selected.graph, selected.offloaded
    else:
        offloaded = offload(graph, request.accelerators)
    operators = offloaded.operators
    settled(
        operators, {operator.name: {} for operator in operators}, request.sets
    )  # refused before minutes of work
    observed = observe(graph, operators, calibration or data.first(request.calibration), progress)
    checked: dict[str, Checked] = {}
    if request.numbers == "chosen" or request.advise:
        checked = choose(operators, observed, progress)
    chosen = {name: outcome.settings for name, outcome in checked.items()}
    plan = chosen if request.numbers == "chosen" else _published(operators, observed.ranges)
    plan = settled(operators, plan, request.sets)
    sampled = sample(operators, len(data.calls), plan, request.replays, request.seed)
    result = run(graph, operators, data, plan, metric, progress=progress, watch=sampled.watch)
    advised = None
    if request.advise:
        part = data.first(request.advise)
        advised = advise(graph, operators, part, plan, metric, observed.ranges, result, chosen, progress)
    wrong = {operator.name: tuple(operator.unit.wrong(plan[operator.name])) for operator in operators}
    return Validated(
        graph,
        request,
        offloaded,
        metric,
        data,
        observed.ranges,
        plan,
        checked,
        result,
        sampled.found,
        sampled.without_rtl,
        advised,
        wrong,
        selected,
    )


def _published(operators: Sequence[Operator], ranges: Mapping[str, Ranges]) -> Plan:
    return {operator.name: operator.unit.published(operator, ranges[operator.name]) for operator in operators}


def settled(operators: Sequence[Operator], plan: Plan, sets: Sequence[tuple[str, str, int]]) -> Plan:
    """With what the user sets. Raises UsageError."""
    settings: dict[str, Settings] = dict(plan)
    by_name = {candidate.name: candidate for candidate in operators}
    for operator, knob, value in sets:
        if operator != ALL and operator not in by_name:
            known = ", ".join([*by_name][:12])
            raise UsageError(f"--set {operator}.{knob}: no such operator; there are *, {known}")
        chosen = [
            candidate
            for candidate in operators
            if operator in (ALL, candidate.name) and knob in candidate.unit.knobs
        ]
        if not chosen:
            units = {
                candidate.unit.name: candidate.unit
                for candidate in operators
                if operator in (ALL, candidate.name)
            }
            known = "; ".join(f"{name}: {', '.join(unit.knobs)}" for name, unit in units.items())
            raise UsageError(f"--set {operator}.{knob}: no such knob; there are {known}")
        for target in chosen:
            limits = target.unit.knobs[knob]
            if not limits.low <= value <= limits.high:
                raise UsageError(
                    f"--set {operator}.{knob}={value}: {limits.low} to {limits.high} ({limits.text})"
                )
            settings[target.name] = changed(settings[target.name], **{knob: value})
    return settings
