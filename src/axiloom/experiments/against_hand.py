"""Generated drivers against drivers by hand and the published structure: same accelerator, same flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.experiments import plots
from axiloom.experiments.ablation import scatter_gather
from axiloom.experiments.experiment import (
    CLOCK,
    REFERENCES,
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
from axiloom.experiments.sides import by_hand, generated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAND, PUBLISHED, COPYING, ALL = "by hand", "published", "copying", "all"
FLOWS = {"v1": ("Ns",), "v2": ("Ns", "As", "Bs"), "v3": ("Ns", "As", "Bs", "Cs")}


def cases(options: Options) -> list[Case]:
    found = []
    for version, flows in FLOWS.items():
        for S in (8, 16):
            spec = isa.builtin(version, S)
            for flow in flows:
                for n in (32,) if options.quick else (64, 128, 256):
                    size, board = (n, n, n), options.board
                    sides = {
                        HAND: by_hand(size, spec, flow=flow, board=board),
                        PUBLISHED: generated(size, spec, flow=flow, pipeline=PUBLISHED, board=board),
                        COPYING: generated(size, spec, flow=flow, pipeline=COPYING, board=board),
                        ALL: generated(size, scatter_gather(spec), flow=flow, pipeline=ALL, board=board),
                    }
                    found.append(Case({"accelerator": spec.name, "flow": flow, "size": n}, sides))
    return found


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "accelerator": one.labels["accelerator"],
            "flow": one.labels["flow"],
            "size": str(one.labels["size"]),
            "by hand, ms": ms(one.get(HAND)),
            **{f"{side}, ms": ms(one.get(side)) for side in (PUBLISHED, COPYING, ALL)},
            "copying: speed": times(one.ratio(HAND, COPYING)),
            "references": times(one.ratio(COPYING, HAND, REFERENCES)),
            "all: speed": times(one.ratio(HAND, ALL)),
            "of published": times(one.ratio(PUBLISHED, ALL)),
        }
        for one in measured
    ]


def _line(measured: Sequence[Measured], side: str, base: str) -> str:
    speeds = known(one.ratio(base, side) for one in measured)
    if not speeds:
        return f"{side} against {base}: missing"
    slower = sum(speed < 1 for speed in speeds)
    references = known(one.ratio(side, base, REFERENCES) for one in measured)
    return (
        f"{side} against {base}: {CLOCK} {geometric_mean(speeds):.2f} times as fast (geometric mean of "
        f"{len(speeds)}; {min(speeds):.2f} to {max(speeds):.2f}; slower in {slower}), "
        f"{REFERENCES} {geometric_mean(references):.2f} times theirs"
    )


def conclude(measured: Sequence[Measured]) -> str:
    pairs = ((PUBLISHED, HAND), (COPYING, HAND), (ALL, HAND), (COPYING, PUBLISHED), (ALL, PUBLISHED))
    return ";\n".join(_line(measured, *pair) for pair in pairs) + "."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    axes = figure.subplots()
    for i, side in enumerate((PUBLISHED, COPYING, ALL)):
        found = [(x, one.ratio(HAND, side)) for x, one in enumerate(measured)]
        shown = [(x, speed) for x, speed in found if speed is not None]
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
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("speed, by hand = 1")
    names = [f"{one.labels['accelerator']} {one.labels['flow']}" for one in measured]
    firsts = [x for x, name in enumerate(names) if x == 0 or names[x - 1] != name]
    axes.set_xticks(
        firsts, [names[x] for x in firsts], rotation=60, ha="left", rotation_mode="anchor", va="top"
    )
    axes.tick_params(axis="x", rotation=-60)
    axes.set_xlabel("each by size: 64, 128, 256" if len(firsts) < len(measured) else "")
    plots.legend(figure, axes)


EXPERIMENT = Experiment(
    "against-hand",
    "Generated drivers against drivers by hand: same accelerator, flow and size, int32",
    cases,
    table,
    conclude,
    plot,
)
