"""From which size on an accelerator beats the CPU's own best kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.experiments import plots
from axiloom.experiments.ablation import scatter_gather
from axiloom.experiments.experiment import Case, Experiment, Measured, Options, Row, having, ms, times, unique
from axiloom.experiments.sides import by_hand, generated, on_cpu

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEON, NAIVE, HAND, COPYING, ALL = "CPU, NEON", "CPU, naive", "by hand", "copying", "all"
ACCELERATORS = ("v3_4", "v3_8", "v3_16", "v4_16")


def cases(options: Options) -> list[Case]:
    found = []
    for name in ACCELERATORS:
        spec, board = isa.builtin(name), options.board
        for n in options.cubes((16, 32, 64, 128, 256), quick=(16, 32)):
            size = (n, n, n)
            edge = min(n, 64)  # of v4: the largest square tile that fits its buffers
            tile = (edge, edge, edge) if name.startswith("v4") else None
            sides = {
                NAIVE: on_cpu(size, "cpu_naive", board=board),
                NEON: on_cpu(size, "cpu_neon", board=board),
                HAND: by_hand(size, spec, flow="Cs", tile=tile, board=board),
                COPYING: generated(size, spec, flow="Cs", tile=tile, pipeline=COPYING, board=board),
                ALL: generated(size, scatter_gather(spec), flow="Cs", tile=tile, pipeline=ALL, board=board),
            }
            found.append(Case({"accelerator": name, "size": n}, sides))
    return found


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": one.labels["accelerator"],
            "size": str(one.labels["size"]),
            **{f"{side}, ms": ms(one.get(side)) for side in (NAIVE, NEON, HAND, COPYING, ALL)},
            "NEON / copying": times(one.ratio(NEON, COPYING)),
            "NEON / all": times(one.ratio(NEON, ALL)),
        }
        for one in measured
    ]


def _from(measured: Sequence[Measured], side: str) -> str:
    """The size from which on `side` beats the NEON kernel at every size measured."""
    found = None
    for one in reversed(measured):
        speed = one.ratio(NEON, side)
        if speed is None or speed <= 1:
            break
        found = one.labels["size"]
    return f"from {found}^3 up" if found else "at no size"


def conclude(measured: Sequence[Measured]) -> str:
    parts = []
    for name in unique(measured, "accelerator"):
        chosen = having(measured, accelerator=name)
        wins = ", ".join(f"{side} {_from(chosen, side)}" for side in (HAND, COPYING, ALL))
        parts.append(f"{name}: {wins}")
    return f"Faster than the NEON kernel, flow Cs: {'; '.join(parts)}."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    names = unique(measured, "accelerator")
    panels = figure.subplots(1, len(names), sharey=True)
    for axes, name in zip(panels, names, strict=True):
        chosen = having(measured, accelerator=name)
        series = {side: [one.ratio(NEON, side) for one in chosen] for side in (HAND, COPYING, ALL, NAIVE)}
        plots.lines(axes, [one.labels["size"] for one in chosen], series)
        plots.even(axes)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("M = N = K")
    panels[0].set_ylabel("speed, CPU with NEON = 1")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment(
    "crossover",
    "Where an accelerator beats the CPU: flow Cs against a blocked NEON kernel at -O3, int32",
    cases,
    table,
    conclude,
    plot,
)
