"""Figure 12: branches, cache references and task-clock over those of the CPU; specialised copies or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from benchmarks.paper import plots
from benchmarks.paper.experiment import (
    BRANCHES,
    CLOCK,
    REFERENCES,
    Case,
    Experiment,
    Measured,
    Options,
    Row,
    geometric_mean,
    known,
    times,
)
from benchmarks.paper.sides import by_hand, generated, on_cpu

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CPU, HAND, BEFORE, AFTER = "CPU", "by hand", "before", "after"
SIDES = (HAND, BEFORE, AFTER)
COUNTERS = (BRANCHES, REFERENCES, CLOCK)


def cases(options: Options) -> list[Case]:
    n = 32 if options.quick else 128
    size, spec, board = (n, n, n), isa.builtin("v3", 16), options.board
    return [
        Case(
            {"accelerator": spec.name, "size": n, "flow": flow},
            {
                CPU: on_cpu(size, "cpu_naive", board=board),
                HAND: by_hand(size, spec, flow=flow, board=board),
                BEFORE: generated(size, spec, flow=flow, pipeline="published", board=board),
                AFTER: generated(size, spec, flow=flow, pipeline="specialise-copies", board=board),
            },
        )
        for flow in ("Ns", "As", "Bs", "Cs")
    ]


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "flow": case.labels["flow"],
            "driver": side,
            **{f"{counter} / CPU": _share(case.ratio(side, CPU, counter)) for counter in COUNTERS},
        }
        for case in measured
        for side in SIDES
    ]


def _share(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.4f}"


def conclude(measured: Sequence[Measured]) -> str:
    changes = [
        f"{counter} {times(geometric_mean(known(case.ratio(AFTER, BEFORE, counter) for case in measured)))}"
        for counter in COUNTERS
    ]
    return (
        f"Specialised copies, times what it was before (geometric mean of the flows): {', '.join(changes)}."
    )


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    panels = figure.subplots(1, 3)
    flows = [case.labels["flow"] for case in measured]
    for axes, counter in zip(panels, COUNTERS, strict=True):
        plots.bars(
            axes, flows, {side: [case.ratio(side, CPU, counter) for case in measured] for side in SIDES}
        )
        axes.set_title(counter, fontsize=9)
    panels[0].set_ylabel("CPU, naive loops = 1")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment(
    "fig12",
    "Figure 12: counters relative to the CPU (naive, -O3), before and after specialised copies, v3_16",
    cases,
    table,
    conclude,
    plot,
)
