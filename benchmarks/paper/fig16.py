"""Figure 16: the convolutions of ResNet18 on conv_v3, by hand and generated; on conv_v4; and on the CPU.

Both drivers of conv_v3 have the same simple DMA and the same windows. conv_v4 has all passes, so its DMA has
scatter-gather; its stream has 32 bits as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axiloom import isa
from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.isa import AcceleratorSpec
from benchmarks.paper import plots
from benchmarks.paper.ablation import scatter_gather
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
from benchmarks.paper.sides import conv_by_hand, conv_on_cpu, generated_conv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAYERS = (
    "230_3_7_64_2",
    "58_64_3_64_1",
    "56_64_1_128_2",
    "58_64_3_128_2",
    "30_128_3_128_1",
    "28_128_1_256_2",
    "30_128_3_256_2",
    "16_256_3_256_1",
    "14_256_1_512_2",
    "16_256_3_512_2",
    "9_512_3_512_1",
)
"""iHW_iC_fHW_oC_stride, iHW with its padding, batch 1."""

HAND, OURS, V4, NEON = "conv_v3 by hand", "conv_v3", "conv_v4", "CPU, NEON"
V4_INT8, NEON_INT8 = "conv_v4, int8", "CPU, NEON, int8"
ALL = "all"
"""The pipeline of conv_v4."""
SIDES = (HAND, OURS, V4, NEON, V4_INT8, NEON_INT8)


def cases(options: Options) -> list[Case]:
    cases = []
    for layer in _layers(options):
        scaled, board = _scaled(layer, _scale(options)), options.board
        narrow = f"{scaled}:int8"
        sides = {
            HAND: conv_by_hand(scaled, board=board),
            OURS: generated_conv(scaled, isa.builtin("conv_v3"), pipeline=options.pipeline, board=board),
            V4: generated_conv(scaled, _conv_v4("int32"), pipeline=ALL, board=board),
            NEON: conv_on_cpu(scaled, "cpu_conv_neon", board=board),
            V4_INT8: generated_conv(narrow, _conv_v4("int8"), pipeline=ALL, board=board),
            NEON_INT8: conv_on_cpu(narrow, "cpu_conv_neon", board=board),
        }
        labels = {"layer": layer, "problem": scaled, "pipeline": options.pipeline}
        cases.append(Case(labels, sides))
    return cases


def _conv_v4(data_type: str) -> AcceleratorSpec:
    return scatter_gather(isa.builtin("conv_v4", None, data_type))


def _layers(options: Options) -> Sequence[str]:
    for layer in options.layers:
        if layer not in LAYERS:
            raise UsageError(f"unknown layer `{layer}`{hint(layer, LAYERS)}; there are {', '.join(LAYERS)}")
    return options.layers or (LAYERS[1:3] if options.quick else LAYERS)


def _scale(options: Options) -> int:
    return options.scale or (8 if options.quick else 1)


def _scaled(layer: str, scale: int) -> str:
    """The layer with so many times fewer channels; those of a picture stay three."""
    side, inputs, taps, outputs, stride = map(int, layer.split("_"))
    inputs = inputs if inputs == 3 else max(1, inputs // scale)
    return f"conv:{side}_{inputs}_{taps}_{max(1, outputs // scale)}_{stride}"


def table(measured: Sequence[Measured]) -> list[Row]:
    return [
        {
            "problem": case.labels["problem"].removeprefix("conv:"),
            **{f"{side}, ms": ms(case.get(side)) for side in SIDES},
            "by hand / conv_v3": times(case.ratio(HAND, OURS)),
            "NEON / conv_v4": times(case.ratio(NEON, V4)),
            "int8: NEON / conv_v4": times(case.ratio(NEON_INT8, V4_INT8)),
            "conv_v4 / limit": times(_over_limit(case, V4)),
            "int8: conv_v4 / limit": times(_over_limit(case, V4_INT8)),
        }
        for case in measured
    ]


def _over_limit(measured: Measured, side: str) -> float | None:
    """``limit.ratio`` of a side: its cycles over those that its stream or its array needs at least."""
    figures = measured.sides.get(side)
    return None if figures is None else figures["limit"]["ratio"]


def conclude(measured: Sequence[Measured]) -> str:
    whole = sum(case.labels["problem"] == f"conv:{case.labels['layer']}" for case in measured)
    what = f"{whole} of {len(LAYERS)} layers at full size"
    if len(measured) > whole:
        what += f", {len(measured) - whole} with fewer channels (the column says how many)"
    parts = []
    for text, base, side in (
        ("generated drivers of conv_v3 against the one by hand", HAND, OURS),
        ("conv_v4 against NEON, int32", NEON, V4),
        ("conv_v4 against NEON, int8", NEON_INT8, V4_INT8),
        ("conv_v4 against conv_v3 by hand", HAND, V4),
    ):
        speeds = known(case.ratio(base, side) for case in measured)
        if speeds:
            parts.append(
                f"{text} {geometric_mean(speeds):.2f} times ({min(speeds):.2f} to {max(speeds):.2f})"
            )
    over = []
    for text, side in (("int32", V4), ("int8", V4_INT8)):
        if ratios := known(_over_limit(case, side) for case in measured):
            over.append(f"{text} {geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    limit = f" conv_v4, times its limit: {', '.join(over)}." if over else ""
    return f"Run: {what}. Speed: {'; '.join(parts) or 'nothing could be compared'}.{limit}"


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    axes = figure.subplots()
    layers = [case.labels["problem"].removeprefix("conv:") for case in measured]
    series = {
        "conv_v3 by hand": [case.ratio(NEON, HAND) for case in measured],
        "conv_v3": [case.ratio(NEON, OURS) for case in measured],
        "conv_v4": [case.ratio(NEON, V4) for case in measured],
        "conv_v4, int8": [case.ratio(NEON_INT8, V4_INT8) for case in measured],
    }
    plots.bars(axes, layers, series)
    plots.even(axes)
    plots.doublings(axes)
    axes.tick_params(axis="x", labelrotation=30)
    axes.set_ylabel("speed, CPU with NEON = 1")
    plots.legend(figure, axes)


EXPERIMENT = Experiment(
    "fig16",
    "Figure 16: convolutions of ResNet18, int32 where nothing else is said",
    cases,
    table,
    conclude,
    plot,
    takes=("pipeline", "layers", "scale"),
)
