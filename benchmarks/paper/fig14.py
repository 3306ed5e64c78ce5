"""Figure 14: square tiles of 32 in each flow against the choice with the fewest words moved, on v4_16."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.drivergen import parse_problem
from axiloom.drivergen.cost import selection
from benchmarks.paper import plots
from benchmarks.paper.experiment import (
    Case,
    Experiment,
    Measured,
    Options,
    Row,
    geometric_mean,
    known,
    ms,
    times,
)
from benchmarks.paper.sides import Size, generated, problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SQUARE = {"As": "As, 32", "Bs": "Bs, 32", "Cs": "Cs, 32"}
BEST = "Best"


def cases(options: Options) -> list[Case]:
    spec, board = isa.builtin("v4", 16), options.board
    cases: list[Case] = []
    sizes: list[Size] = [
        (M, N, K) for M, N, K in permutations((32, 32, 64) if options.quick else (32, 256, 512))
    ]
    for size in dict.fromkeys(sizes):
        named = parse_problem(problem(size, "int32"))
        best = selection.published_best(spec, named)
        assert best is not None  # v4 has the flows, and tiles of 16 divide these problems
        chosen = {SQUARE[square.flow]: square for square in selection.squares(spec, named)} | {BEST: best}
        sides = {
            name: generated(
                size,
                spec,
                flow=choice.flow,
                order=choice.order,
                tile=choice.tile,
                pipeline="published",
                board=board,
            )
            for name, choice in chosen.items()
        }
        labels = {"size": "x".join(map(str, size)), "best": f"{best.flow} {'x'.join(map(str, best.tile))}"}
        cases.append(Case(labels, sides))
    return cases


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "M x N x K": case.labels["size"],
            **{f"{name}, ms": ms(case.get(name)) for name in (*SQUARE.values(), BEST)},
            "Best is": case.labels["best"],
            "times best square": times(_gain(case)),
        }
        for case in measured
    ]


def _gain(measured: Measured) -> float | None:
    squares = known(measured.get(name) for name in SQUARE.values())
    best = measured.get(BEST)
    return min(squares) / best if squares and best else None


def conclude(measured: Sequence[Measured]) -> str:
    gains = known(map(_gain, measured))
    lost = sum(gain < 1 for gain in gains)
    return (
        f"Flow and tile with the fewest words run at {geometric_mean(gains):.2f} times the speed of the best "
        f"flow with square tiles of 32 (geometric mean of {len(gains)}; slower in {lost})."
    )


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    axes = figure.subplots()
    series = {
        name: [None if (ns := case.get(name)) is None else ns / 1e6 for case in measured]
        for name in (*SQUARE.values(), BEST)
    }
    plots.bars(axes, [case.labels["size"].replace("x", " x ") for case in measured], series)
    axes.set_ylabel("task-clock, ms")
    axes.set_xlabel("M x N x K")
    plots.legend(figure, axes)


EXPERIMENT = Experiment(
    "fig14",
    "Figure 14: square tiles of 32 and the choice with the fewest words, v4_16, one transfer an opcode",
    cases,
    table,
    conclude,
    plot,
)
