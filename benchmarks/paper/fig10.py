"""Figure 10: the CPU alone against v1 driven by hand, flow Ns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from benchmarks.paper import plots
from benchmarks.paper.experiment import Case, Experiment, Measured, Options, Row, having, ms, times, unique
from benchmarks.paper.sides import by_hand, on_cpu

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAND, NAIVE, NEON = "v1 by hand", "CPU, naive", "CPU, NEON"


def cases(options: Options) -> list[Case]:
    sizes = options.cubes((16, 32, 64, 128, 256), quick=(16, 32))
    return [
        Case(
            {"S": S, "size": n},
            {
                HAND: by_hand((n, n, n), isa.builtin("v1", S), flow="Ns", board=options.board),
                NAIVE: on_cpu((n, n, n), "cpu_naive", board=options.board),
                NEON: on_cpu((n, n, n), "cpu_neon", board=options.board),
            },
        )
        for S in (4, 8, 16)
        for n in sizes
    ]


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": f"v1_{case.labels['S']}",
            "size": str(case.labels["size"]),
            **{f"{side}, ms": ms(case.get(side)) for side in (HAND, NAIVE, NEON)},
            "times naive": times(case.ratio(NAIVE, HAND)),
            "times NEON": times(case.ratio(NEON, HAND)),
        }
        for case in measured
    ]


def conclude(measured: Sequence[Measured]) -> str:
    def wins(S: int, cpu: str) -> str:
        won = [
            case.labels["size"]
            for case in having(measured, S=S)
            if (case.ratio(HAND, cpu) or float("inf")) < 1
        ]
        return f"at {', '.join(map(str, won))}" if won else "nowhere"

    parts = [
        f"v1_{S} by hand beats the naive CPU {wins(S, NAIVE)} and the NEON kernel {wins(S, NEON)}"
        for S in unique(measured, "S")
    ]
    return "; ".join(parts) + "."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    panels = figure.subplots(1, 3, sharey=True)
    for axes, S in zip(panels, unique(measured, "S"), strict=True):
        chosen = having(measured, S=S)
        series = {
            side: [None if (ns := case.get(side)) is None else ns / 1e6 for case in chosen]
            for side in (HAND, NAIVE, NEON)
        }
        plots.lines(axes, [case.labels["size"] for case in chosen], series)
        axes.set_title(f"v1_{S}", fontsize=9)
        axes.set_xlabel("M = N = K")
    panels[0].set_ylabel("task-clock, ms")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment(
    "fig10",
    "Figure 10: the CPU alone and v1 by hand, flow Ns, int32",
    cases,
    table,
    conclude,
    plot,
    takes=("sizes",),
)
