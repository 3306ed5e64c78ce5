"""What each pass pays: alone on top of the published structure, and left out of all the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.experiments import plots
from axiloom.experiments.experiment import (
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
from axiloom.experiments.sides import Size, generated
from axiloom.isa import AcceleratorSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COPYING = ("residency", "coalesce", "keep-packed", "double-buffer", "specialise-copies", "cache-tiling")
ZERO_COPY = "zero-copy"
EVERY = (*COPYING, ZERO_COPY)
PUBLISHED = "published"
CONFIGURATIONS = (("v3_16", "Cs", 128), ("v1_8", "Ns", 128), ("v2_16", "As", 128), ("v4_16", "Cs", 256))


def scatter_gather(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The same accelerator behind a DMA in scatter-gather mode, which zero copy needs."""
    return spec.replace(dma=replace(spec.dma, scatter_gather=True))


def alone(name: str) -> str:
    return f"{PUBLISHED} + {name}"


def without(preset: str, name: str) -> str:
    return f"{preset} - {name}"


def cases(options: Options) -> list[Case]:
    found = []
    for name, flow, n in CONFIGURATIONS:
        size: Size = (32, 32, 32) if options.quick else (n, n, n)
        pipelines = {PUBLISHED: PUBLISHED, **{alone(one): one for one in EVERY}}
        pipelines["copying"] = ",".join(COPYING)
        for one in COPYING:
            pipelines[without("copying", one)] = ",".join(other for other in COPYING if other != one)
        pipelines["all"] = ",".join(EVERY)
        for one in COPYING:  # without zero copy it is `copying`
            pipelines[without("all", one)] = ",".join(other for other in EVERY if other != one)

        labels = {"accelerator": name, "flow": flow, "size": size[0]}
        spec = isa.builtin(name)
        sides = {
            label: generated(
                size,
                scatter_gather(spec) if ZERO_COPY in pipeline else spec,
                flow=flow,
                pipeline=pipeline,
                board=options.board,
            )
            for label, pipeline in pipelines.items()
        }
        found.append(Case(labels, sides))
    return found


def _title(one: Measured) -> str:
    return f"{one.labels['accelerator']} {one.labels['flow']} {one.labels['size']}^3"


def _sides() -> list[str]:
    return [
        PUBLISHED,
        *(alone(one) for one in EVERY),
        "copying",
        *(without("copying", one) for one in COPYING),
        "all",
        *(without("all", one) for one in COPYING),
    ]


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "passes": side,
            **{
                f"{_title(one)}, ms (speed)": f"{ms(one.get(side))} ({times(one.ratio(PUBLISHED, side))})"
                for one in measured
            },
        }
        for side in _sides()
    ]


def _last(one: Measured, name: str) -> float | None:
    """Speed-up by a pass that comes to all the other copying ones; zero copy comes to `copying`."""
    if name == ZERO_COPY:
        return one.ratio("copying", "all")
    return one.ratio(without("copying", name), "copying")


def conclude(measured: Sequence[Measured]) -> str:
    parts = []
    for name in EVERY:
        first = geometric_mean(known(one.ratio(PUBLISHED, alone(name)) for one in measured))
        last = geometric_mean(known(_last(one, name) for one in measured))
        parts.append(f"{name} {times(first)} alone and {times(last)} on top of the others")
    return f"Speed-up of each pass (geometric mean of the configurations): {'; '.join(parts)}."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    first = {_title(m): [m.ratio(PUBLISHED, alone(one)) for one in EVERY] for m in measured}
    last = {_title(m): [_last(m, one) for one in EVERY] for m in measured}
    titles = ("added to the published structure", "added to all the others")
    for axes, series, title in zip(panels, (first, last), titles, strict=True):
        plots.bars(axes, EVERY, series)
        plots.even(axes)
        axes.tick_params(axis="x", rotation=30)
        axes.set_title(title, fontsize=9)
    panels[0].set_ylabel("speed with the pass / without")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment("ablation", "Ablation: what each pass pays", cases, table, conclude, plot)
