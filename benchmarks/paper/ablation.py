"""What each pass pays: alone on top of the published structure, and left out of all the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.isa import AcceleratorSpec
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
from benchmarks.paper.sides import Size, generated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COPYING = ("residency", "coalesce", "keep-packed", "double-buffer", "specialise-copies", "cache-tiling")
ZERO_COPY = "zero-copy"
EVERY = (*COPYING, ZERO_COPY)
PUBLISHED = "published"
CONFIGURATIONS: tuple[tuple[str, str, Size], ...] = (
    ("v3_16", "Cs", (128, 128, 128)),
    ("v3_16", "Ns", (128, 128, 128)),
    ("v1_8", "Ns", (64, 64, 64)),
    ("v3_16", "As", (128, 1024, 256)),  # what is read again does not fit into L2
    ("v4_16", "Cs", (256, 256, 256)),
)
"""Accelerator, flow, problem. Each pass finds something to do in one of them."""


def scatter_gather(spec: AcceleratorSpec) -> AcceleratorSpec:
    """The same accelerator behind a DMA in scatter-gather mode, which zero copy needs."""
    return spec.replace(dma=replace(spec.link.dma, scatter_gather=True))


def alone(name: str) -> str:
    return f"{PUBLISHED} + {name}"


def without(preset: str, name: str) -> str:
    return f"{preset} - {name}"


def _pipelines() -> dict[str, str]:
    """Each side of the table, and its pipeline."""

    def but(passes: Sequence[str], name: str) -> str:
        return ",".join(other for other in passes if other != name)

    return {
        PUBLISHED: PUBLISHED,
        **{alone(name): name for name in EVERY},
        "copying": ",".join(COPYING),
        **{without("copying", name): but(COPYING, name) for name in COPYING},
        "all": ",".join(EVERY),
        **{without("all", name): but(EVERY, name) for name in COPYING},  # without zero-copy it is `copying`
    }


def cases(options: Options) -> list[Case]:
    cases = []
    for name, flow, (M, N, K) in CONFIGURATIONS:
        size = (M // 4, N // 4, K // 4) if options.quick else (M, N, K)
        spec = isa.builtin(name)
        sides = {
            label: generated(
                size,
                scatter_gather(spec) if ZERO_COPY in pipeline else spec,
                flow=flow,
                pipeline=pipeline,
                board=options.board,
            )
            for label, pipeline in _pipelines().items()
        }
        labels = {"accelerator": name, "flow": flow, "size": "x".join(map(str, size))}
        cases.append(Case(labels, sides))
    return cases


def _title(measured: Measured) -> str:
    edges = measured.labels["size"].split("x")
    size = f"{edges[0]}^3" if len(set(edges)) == 1 else measured.labels["size"]
    return f"{measured.labels['accelerator']} {measured.labels['flow']} {size}"


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "passes": side,
            **{
                f"{_title(case)}, ms (speed)": f"{ms(case.get(side))} ({times(case.ratio(PUBLISHED, side))})"
                for case in measured
            },
        }
        for side in _pipelines()
    ]


def _last(measured: Measured, name: str) -> float | None:
    """Speed-up by a pass that comes to all the other copying ones; zero copy comes to `copying`."""
    if name == ZERO_COPY:
        return measured.ratio("copying", "all")
    return measured.ratio(without("copying", name), "copying")


def conclude(measured: Sequence[Measured]) -> str:
    parts = []
    for name in EVERY:
        first = known(case.ratio(PUBLISHED, alone(name)) for case in measured)
        last = known(_last(case, name) for case in measured)
        parts.append(f"{name} {_range(first)} alone, {_range(last)} on top of the others")
    return f"Speed-up of each pass, geometric mean and best of the configurations: {'; '.join(parts)}."


def _range(speeds: Sequence[float]) -> str:
    return f"{times(geometric_mean(speeds))} ({times(max(speeds))})" if speeds else "missing"


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    first = {_title(m): [m.ratio(PUBLISHED, alone(name)) for name in EVERY] for m in measured}
    last = {_title(m): [_last(m, name) for name in EVERY] for m in measured}
    titles = ("added to the published structure", "added to all the others")
    for axes, series, title in zip(panels, (first, last), titles, strict=True):
        plots.bars(axes, EVERY, series)
        plots.even(axes)
        plots.doublings(axes)
        axes.tick_params(axis="x", rotation=30)
        axes.set_title(title, fontsize=9)
    panels[0].set_ylabel("speed with the pass / without")
    plots.legend(figure, panels[0])


EXPERIMENT = Experiment("ablation", "Ablation: what each pass pays", cases, table, conclude, plot)
