"""From which size on an accelerator beats the CPU's own best kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.drivergen import parse_problem
from axiloom.isa import AcceleratorSpec
from axiloom.run.choice import choose
from benchmarks.paper import plots
from benchmarks.paper.ablation import scatter_gather
from benchmarks.paper.experiment import Case, Experiment, Measured, Options, Row, having, ms, times, unique
from benchmarks.paper.sides import Point, Size, by_hand, generated, on_cpu, problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEON, NAIVE, HAND, COPYING, ALL = "CPU, NEON", "CPU, naive", "by hand", "copying", "all"
ACCELERATORS = ("v3_4", "v3_8", "v3_16", "v4_16")


def cases(options: Options) -> list[Case]:
    cases = []
    for name in ACCELERATORS:
        spec, board = isa.builtin(name), options.board
        for n in options.cubes((16, 32, 64, 128, 256), quick=(16, 32)):
            size = (n, n, n)
            edge = min(n, 64)  # of v4 by hand: the largest square tile that fits its buffers
            tile = (edge, edge, edge) if name.startswith("v4") else None
            sides = {
                NAIVE: on_cpu(size, "cpu_naive", board=board),
                NEON: on_cpu(size, "cpu_neon", board=board),
                HAND: by_hand(size, spec, flow="Cs", tile=tile, board=board),
                COPYING: _ours(size, spec, COPYING, board),
                ALL: _ours(size, scatter_gather(spec), ALL, board),
            }
            cases.append(Case({"accelerator": name, "size": n}, sides))
    return cases


def _ours(size: Size, spec: AcceleratorSpec, pipeline: str, board: str) -> Point:
    """Flow Cs; where the tile can be chosen, flow and tile of ``--flow best``."""
    if spec.tile.granule is None:
        return generated(size, spec, flow="Cs", pipeline=pipeline, board=board)
    best = choose(parse_problem(problem(size, "int32")), spec, board=board, pipeline=pipeline).candidate
    return generated(
        size, spec, flow=best.flow, order=best.order, tile=best.tile, pipeline=pipeline, board=board
    )


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": case.labels["accelerator"],
            "size": str(case.labels["size"]),
            **{f"{side}, ms": ms(case.get(side)) for side in (NAIVE, NEON, HAND, COPYING, ALL)},
            "NEON / copying": times(case.ratio(NEON, COPYING)),
            "NEON / all": times(case.ratio(NEON, ALL)),
        }
        for case in measured
    ]


def _from(measured: Sequence[Measured], side: str) -> str:
    """The size from which on `side` beats the NEON kernel at every size measured."""
    size = None
    for case in reversed(measured):
        speed = case.ratio(NEON, side)
        if speed is None or speed <= 1:
            break
        size = case.labels["size"]
    return f"from {size}^3 up" if size else "at no size"


def conclude(measured: Sequence[Measured]) -> str:
    parts = []
    for name in unique(measured, "accelerator"):
        chosen = having(measured, accelerator=name)
        wins = ", ".join(f"{side} {_from(chosen, side)}" for side in (HAND, COPYING, ALL))
        parts.append(f"{name}: {wins}")
    return f"Faster than the NEON kernel: {'; '.join(parts)}."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    names = unique(measured, "accelerator")
    panels = figure.subplots(1, len(names), sharey=True)
    for axes, name in zip(panels, names, strict=True):
        chosen = having(measured, accelerator=name)
        series = {side: [case.ratio(NEON, side) for case in chosen] for side in (HAND, COPYING, ALL, NAIVE)}
        plots.lines(axes, [case.labels["size"] for case in chosen], series)
        plots.even(axes)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("M = N = K")
    panels[0].set_ylabel("speed, CPU with NEON = 1")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment(
    "crossover",
    "Where an accelerator beats the CPU: v3 in flow Cs, v4 as --flow best, against NEON at -O3, int32",
    cases,
    table,
    conclude,
    plot,
    takes=("sizes",),
)
