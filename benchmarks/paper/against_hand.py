"""Generated drivers against drivers by hand and the published structure: same accelerator, same flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from axiloom import isa
from benchmarks.paper import plots
from benchmarks.paper.ablation import scatter_gather
from benchmarks.paper.experiment import (
    CLOCK,
    REFERENCES,
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

HAND, PUBLISHED, COPYING, ALL = "by hand", "published", "copying", "all"
FREE, BEST_HAND = "all, any flow", "by hand, any flow"
"""The fastest of the flows that the accelerator offers at that size; each of them is measured."""
FLOWS = {"v1": ("Ns",), "v2": ("Ns", "As", "Bs"), "v3": ("Ns", "As", "Bs", "Cs")}


def cases(options: Options) -> list[Case]:
    cases = []
    for version, flows in FLOWS.items():
        for S in (8, 16):
            spec = isa.builtin(version, S)
            for flow in flows:
                for n in options.cubes((64, 128, 256), quick=(32,)):
                    size, board = (n, n, n), options.board
                    sides = {
                        HAND: by_hand(size, spec, flow=flow, board=board),
                        PUBLISHED: generated(size, spec, flow=flow, pipeline=PUBLISHED, board=board),
                        COPYING: generated(size, spec, flow=flow, pipeline=COPYING, board=board),
                        ALL: generated(size, scatter_gather(spec), flow=flow, pipeline=ALL, board=board),
                    }
                    cases.append(Case({"accelerator": spec.name, "flow": flow, "size": n}, sides))
    return cases


def _with_fastest(measured: Sequence[Measured]) -> list[Measured]:
    """Each case with the sides FREE and BEST_HAND beside its own."""
    cases = []
    for case in measured:
        flows = having(measured, accelerator=case.labels["accelerator"], size=case.labels["size"])
        sides = dict(case.sides)
        for name, side in ((FREE, ALL), (BEST_HAND, HAND)):
            figures = [other.sides[side] for other in flows if side in other.sides]
            if figures:
                sides[name] = min(figures, key=lambda report: float(report["counters"][CLOCK]))
        cases.append(replace(case, sides=sides))
    return cases


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": case.labels["accelerator"],
            "flow": case.labels["flow"],
            "size": str(case.labels["size"]),
            "by hand, ms": ms(case.get(HAND)),
            **{f"{side}, ms": ms(case.get(side)) for side in (PUBLISHED, COPYING, ALL)},
            "copying: speed": times(case.ratio(HAND, COPYING)),
            "references": times(case.ratio(COPYING, HAND, REFERENCES)),
            "all: speed": times(case.ratio(HAND, ALL)),
            "of published": times(case.ratio(PUBLISHED, ALL)),
            "| any flow: speed": times(case.ratio(HAND, FREE)),
            "of best by hand": times(case.ratio(BEST_HAND, FREE)),
        }
        for case in _with_fastest(measured)
    ]


def _line(measured: Sequence[Measured], side: str, base: str) -> str:
    speeds = known(case.ratio(base, side) for case in measured)
    if not speeds:
        return f"{side} against {base}: missing"
    slower = sum(speed < 1 for speed in speeds)
    references = known(case.ratio(side, base, REFERENCES) for case in measured)
    sizes = unique(measured, "size")
    texts = [
        f"{n}^3 {geometric_mean(known(case.ratio(base, side) for case in having(measured, size=n))):.2f}"
        for n in sizes
    ]
    by_size = f"{', '.join(texts)}; " if len(sizes) > 1 else ""
    return (
        f"{side} against {base}: {CLOCK} {geometric_mean(speeds):.2f} times as fast (geometric mean of "
        f"{len(speeds)}; {by_size}{min(speeds):.2f} to {max(speeds):.2f}; slower in {slower}), "
        f"{REFERENCES} {geometric_mean(references):.2f} times theirs"
    )


def conclude(measured: Sequence[Measured]) -> str:
    same = ((PUBLISHED, HAND), (COPYING, HAND), (ALL, HAND), (COPYING, PUBLISHED), (ALL, PUBLISHED))
    free = _with_fastest(measured)
    once = list({(case.labels["accelerator"], case.labels["size"]): case for case in free}.values())
    return (
        "Same flow:\n"
        + ";\n".join(_line(measured, *pair) for pair in same)
        + ".\nThe generated driver in the fastest flow of its accelerator:\n"
        + ";\n".join((_line(free, FREE, HAND), _line(free, FREE, PUBLISHED), _line(once, FREE, BEST_HAND)))
        + "."
    )


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    axes = figure.subplots()
    for i, side in enumerate((PUBLISHED, COPYING, ALL)):
        points = [(x, case.ratio(HAND, side)) for x, case in enumerate(measured)]
        shown = [(x, speed) for x, speed in points if speed is not None]
        if shown:
            axes.plot(
                *zip(*shown, strict=True),
                linestyle="",
                marker=plots.MARKERS[i],
                markersize=5,
                color=plots.COLOURS[i],
                label=side,
            )
    plots.even(axes)
    plots.doublings(axes)
    axes.set_ylabel("speed, by hand = 1")
    names = [f"{case.labels['accelerator']} {case.labels['flow']}" for case in measured]
    firsts = [x for x, name in enumerate(names) if x == 0 or names[x - 1] != name]
    axes.set_xticks(
        firsts, [names[x] for x in firsts], rotation=60, ha="left", rotation_mode="anchor", va="top"
    )
    axes.tick_params(axis="x", rotation=-60)
    sizes = ", ".join(map(str, unique(measured, "size")))
    axes.set_xlabel(f"each by size: {sizes}" if len(firsts) < len(measured) else "")
    plots.legend(figure, axes)


EXPERIMENT = Experiment(
    "against-hand",
    "Generated drivers against drivers by hand: same accelerator, flow and size, int32",
    cases,
    table,
    conclude,
    plot,
    takes=("sizes",),
)
