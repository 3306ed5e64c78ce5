"""Figure 11: a simple driver by hand (flow Ns) against generated ones before specialised copies."""

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
from benchmarks.paper.sides import by_hand, generated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAND = "Ns by hand"
FLOWS = {"v2": ("Ns", "As", "Bs"), "v3": ("Ns", "As", "Bs", "Cs")}


def cases(options: Options) -> list[Case]:
    cases = []
    for version, flows in FLOWS.items():
        for S in (8, 16):
            spec = isa.builtin(version, S)
            for n in options.cubes((64, 128, 256), quick=(32,)):
                size = (n, n, n)
                ours = {
                    flow: generated(size, spec, flow=flow, pipeline="published", board=options.board)
                    for flow in flows
                }
                hand = by_hand(size, spec, flow="Ns", board=options.board)
                cases.append(Case({"accelerator": spec.name, "size": n}, {HAND: hand, **ours}))
    return cases


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": case.labels["accelerator"],
            "size": str(case.labels["size"]),
            f"{HAND}, ms": ms(case.get(HAND)),
            **{f"{flow}, times": times(case.ratio(HAND, flow)) for flow in FLOWS["v3"]},
        }
        for case in measured
    ]


def conclude(measured: Sequence[Measured]) -> str:
    same = known(case.ratio(HAND, "Ns") for case in measured)
    best = [
        max(speeds) for case in measured if (speeds := known(case.ratio(HAND, flow) for flow in FLOWS["v3"]))
    ]
    won = sum(speed > 1 for speed in best)
    return (
        f"Before copies are specialised, generated Ns runs at {geometric_mean(same):.2f} times the speed of "
        f"Ns by hand (geometric mean), the best generated flow at {geometric_mean(best):.2f} times: it wins "
        f"in {won} of {len(best)} cases."
    )


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    panels = figure.subplots(1, 4, sharey=True)
    for axes, name in zip(panels, unique(measured, "accelerator"), strict=True):
        chosen = having(measured, accelerator=name)
        series = {
            f"generated {flow}": [case.ratio(HAND, flow) for case in chosen]
            for flow in FLOWS[name.split("_")[0]]
        }
        plots.bars(axes, unique(chosen, "size"), series)
        plots.even(axes)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("M = N = K")
    panels[0].set_ylabel("speed, Ns by hand = 1")
    plots.legend(figure, panels[-1])


EXPERIMENT = Experiment(
    "fig11",
    "Figure 11: generated drivers before specialised copies, against Ns by hand",
    cases,
    table,
    conclude,
    plot,
    takes=("sizes",),
)
