"""How far above its lower bound a run is: words over the stream, or multiply-adds over the array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from benchmarks.paper import plots
from benchmarks.paper.ablation import scatter_gather
from benchmarks.paper.experiment import Case, Experiment, Measured, Options, Row, known, ms
from benchmarks.paper.sides import Size, generated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED, COPYING, ALL = "published", "copying", "all"
SIDES = (PUBLISHED, COPYING, ALL)


def _configurations(quick: bool) -> list[tuple[str, str, int, Size, Size | None]]:
    """Accelerator, element type, stream width, problem, tile."""
    if quick:
        return [("v3_16", "int32", 32, (32, 32, 32), None), ("v4_16", "int8", 64, (64, 64, 64), (64, 64, 64))]
    large: list[Size] = [(512, 512, 512), (256, 1024, 512)]
    # Tiles that fill the buffers of 4096 words: 64 x 64 of C, and as deep as A and B allow.
    v4 = [
        ("v4_16", kind, 64, size, (64, 64, depth))
        for kind, depth in (("int32", 64), ("int8", 256))
        for size in large
    ]
    return [*v4, ("v3_16", "int32", 32, (256, 256, 256), None)]


def cases(options: Options) -> list[Case]:
    cases = []
    for name, kind, width, size, tile in _configurations(options.quick):
        spec = isa.builtin(name, None, kind).replace(stream_width=width)
        sides = {
            side: generated(
                size,
                scatter_gather(spec) if side == ALL else spec,
                flow="Cs",
                tile=tile,
                pipeline=side,
                board=options.board,
            )
            for side in SIDES
        }
        labels = {
            "accelerator": name,
            "elements": kind,
            "stream": width,
            "size": "x".join(map(str, size)),
            "tile": "x".join(map(str, tile)) if tile else "",
        }
        cases.append(Case(labels, sides))
    return cases


def _ratio(measured: Measured, side: str) -> float | None:
    return measured.sides[side]["limit"]["ratio"] if side in measured.sides else None


def table(measured: Sequence[Measured]) -> list[Row]:
    rows = []
    for case in measured:
        limits = {case.sides[side]["limit"]["cycles"] for side in SIDES if side in case.sides}
        rows.append(
            {
                "accelerator": case.labels["accelerator"],
                "elements": case.labels["elements"],
                "stream": str(case.labels["stream"]),
                "M x N x K": case.labels["size"],
                "limit, cycles": " to ".join(f"{limit:,}" for limit in sorted({min(limits), max(limits)}))
                if limits
                else "-",
                **{f"{side}, ms": ms(case.get(side)) for side in SIDES},
                **{
                    f"{side}, ratio": "-" if (ratio := _ratio(case, side)) is None else f"{ratio:.3f}"
                    for side in SIDES
                },
            }
        )
    return rows


def conclude(measured: Sequence[Measured]) -> str:
    parts = []
    for side in SIDES:
        ratios = known(_ratio(case, side) for case in measured)
        parts.append(f"{side} {min(ratios):.2f} to {max(ratios):.2f}" if ratios else f"{side} missing")
    return f"Times the limit, flow Cs: {', '.join(parts)}."


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    axes = figure.subplots()
    groups = [
        f"{case.labels['accelerator']} {case.labels['elements']}\n{case.labels['size']}" for case in measured
    ]
    plots.bars(axes, groups, {side: [_ratio(case, side) for case in measured] for side in SIDES})
    plots.even(axes)
    axes.set_ylabel("fabric cycles / limit")
    plots.legend(figure, axes)


EXPERIMENT = Experiment(
    "limit", "How far above the limit whole runs are, flow Cs", cases, table, conclude, plot
)
