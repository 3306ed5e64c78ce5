"""What the remedies of a report would win, by the cost model: the run's schedule with the option added."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from axiloom import isa
from axiloom.base.errors import AxiloomError
from axiloom.drivergen.pipeline.pipelines import PIPELINES, optimisations
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.report.types import Gain, Report
from axiloom.run.choice import ranks
from axiloom.run.problem import ProblemRun
from axiloom.run.resolve import foreseen


def add(report: Report, run: ProblemRun) -> None:
    """Put the gain of each remedy into ``losses``, as far as the model knows the run and the remedy; one that
    wins nothing is taken out."""
    call = run.driver.calls[0]
    used = Schedule(call.flow, call.order, call.tile, report["config"].get("pipeline"))
    modelled = _seconds(run, run.spec, used)
    cycles = report["fabric"]["cycles"]
    if not report["limit"].get("call_cycles") or modelled is None or len(run.driver.calls) > 1:
        return
    in_calls = sum(report["limit"].get("calls", [report["limit"]["call_cycles"]]))
    beside = 0 if ranks(run.spec) else cycles - in_calls  # the model of convolutions knows the calls alone
    now = _Now(modelled, cycles / run.system.profile.fabric_hz, beside / run.system.profile.fabric_hz)
    known: dict[str, Gain | None] = {}
    for loss in report["losses"]:
        for remedy in loss["remedies"]:
            if remedy not in known:
                known[remedy] = _gain(run, used, now, remedy)
        loss["remedies"] = worth(loss["remedies"], known)
        gains = {remedy: gain for remedy in loss["remedies"] if (gain := known[remedy])}
        if gains:
            loss["gains"] = gains


def worth(remedies: Sequence[str], known: Mapping[str, Gain | None]) -> list[str]:
    """Those that make the run faster as far as is `known`, the best first; behind them those of which the
    model says nothing."""

    def times(remedy: str) -> float:
        gain = known[remedy]
        return gain["times"] if gain else 0

    left = (remedy for remedy in remedies if known[remedy] is None or times(remedy) > 1)
    return sorted(left, key=times, reverse=True)


class _Now(NamedTuple):
    """Seconds that the run took, by the model and all of it; `beside`: of that, what no model says."""

    modelled: float
    measured: float
    beside: float


def _gain(run: ProblemRun, used: Schedule, now: _Now, remedy: str) -> Gain | None:
    words = shlex.split(remedy)
    options = dict(zip(words[::2], words[1::2], strict=True))
    spec, schedule, at_most = run.spec, used, False
    try:
        changes: dict[str, Any] = {}
        if width := options.pop("--stream-width", None):
            changes["stream_width"] = int(width)
        if dma := options.pop("--dma", None):
            changes["dma"] = replace(spec.link.dma, scatter_gather=dma == "sg")
        if changes:
            spec = isa.revise(spec, **changes)
        if pipeline := options.pop("--pipeline", None):
            # The model knows whole pipelines; some of its passes win no more than all of them.
            at_most = pipeline not in PIPELINES
            if at_most and not {*optimisations(pipeline)} <= {*PIPELINES["copying"]}:
                return None
            schedule = Schedule(used.flow, pipeline="copying" if at_most else pipeline)
        if options.pop("--flow", None):
            schedule = Schedule("best", pipeline=used.pipeline)
    except AxiloomError:
        return None
    then = _seconds(run, spec, schedule)
    if options or not then:
        return None
    # Of two runs of one pipeline the model's errors cancel; of two pipelines they do not.
    same = schedule.pipeline == used.pipeline
    times = (now.modelled + now.beside if same else now.measured) / (then + now.beside)
    return {"times": round(times, 2), "at_most": at_most}


def _seconds(run: ProblemRun, spec: AcceleratorSpec, schedule: Schedule) -> float | None:
    """By the model; None where there is none for it."""
    try:
        forecast = foreseen(
            run.workload.mlir,
            spec,
            schedule,
            board=run.system.profile,
            name=run.workload.name,
            calls=run.calls,
        )
    except AxiloomError:
        return None
    return forecast.seconds
