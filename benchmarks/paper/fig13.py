"""Figure 13: drivers by hand against generated ones of the same flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from benchmarks.paper import plots
from benchmarks.paper.experiment import (
    Case,
    Experiment,
    Measured,
    Options,
    Row,
    geometric_mean,
    having,
    known,
    ms,
    times,
    unique,
)
from benchmarks.paper.fig11 import FLOWS
from benchmarks.paper.sides import by_hand, generated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAND, SPECIALISED, OURS = "by hand", "specialised copies", "pipeline"


def cases(options: Options) -> list[Case]:
    cases = []
    for version, flows in FLOWS.items():
        for S in (8, 16):
            spec = isa.builtin(version, S)
            for n in options.cubes((64, 128, 256), quick=(32,)):
                for flow in flows:
                    size, board = (n, n, n), options.board
                    sides = {
                        HAND: by_hand(size, spec, flow=flow, board=board),
                        SPECIALISED: generated(
                            size, spec, flow=flow, pipeline="specialise-copies", board=board
                        ),
                        OURS: generated(size, spec, flow=flow, pipeline=options.pipeline, board=board),
                    }
                    labels = {"accelerator": spec.name, "flow": flow, "size": n, "pipeline": options.pipeline}
                    cases.append(Case(labels, sides))
    return cases


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": case.labels["accelerator"],
            "flow": case.labels["flow"],
            "size": str(case.labels["size"]),
            "by hand, ms": ms(case.get(HAND)),
            "specialised copies, times": times(case.ratio(HAND, SPECIALISED)),
            f"{case.labels['pipeline']}, times": times(case.ratio(HAND, OURS)),
        }
        for case in measured
    ]


def conclude(measured: Sequence[Measured]) -> str:
    parts = []
    for side, name in ((SPECIALISED, "only copies specialised"), (OURS, measured[0].labels["pipeline"])):
        speeds = known(case.ratio(HAND, side) for case in measured)
        slower = sum(speed < 1 for speed in speeds)
        parts.append(
            f"with {name} {geometric_mean(speeds):.2f} times (slower in {slower} of {len(speeds)}, "
            f"{max(speeds, default=float('nan')):.2f} at best)"
        )
    return f"Speed of generated drivers, that of the driver by hand of the same flow = 1: {', '.join(parts)}."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    panels = figure.subplots(1, 4, sharey=True, width_ratios=[3, 3, 4, 4])
    for axes, name in zip(panels, unique(measured, "accelerator"), strict=True):
        flows = unique(having(measured, accelerator=name), "flow")
        sizes = unique(measured, "size")
        chosen = [
            having(measured, accelerator=name, flow=flow, size=sizes[-1])[0] for flow in flows
        ]  # the largest size: the table has the others
        series = {
            "copies specialised": [case.ratio(HAND, SPECIALISED) for case in chosen],
            measured[0].labels["pipeline"]: [case.ratio(HAND, OURS) for case in chosen],
        }
        plots.bars(axes, flows, series)
        plots.even(axes)
        axes.set_title(f"{name}, {sizes[-1]}^3", fontsize=9)
    panels[0].set_ylabel("speed, same flow by hand = 1")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment(
    "fig13",
    "Figure 13: generated drivers against drivers by hand, same flow",
    cases,
    table,
    conclude,
    plot,
    takes=("sizes", "pipeline"),
)
