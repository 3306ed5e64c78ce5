"""How plots look: one style, colours that the colour-blind tell apart, SVG that is the same on every run."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from axiloom.base import extras
from axiloom.base.errors import BuildError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, "Color Universal Design": distinct in all common kinds of colour blindness.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")
MARKERS = "os^Dv*PX"
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "axiloom",  # ids of clip paths: random without it
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
}


def can_draw() -> bool:
    """Whether matplotlib is there: tables need none."""
    return importlib.util.find_spec("matplotlib") is not None


def svg(draw: Callable[[Figure], None], title: str) -> str:
    """The SVG that `draw` draws into an empty figure. BuildError without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise BuildError(f"plots need matplotlib: {extras.install('bench')}") from None
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(8, 3.6), layout="constrained")
        draw(figure)
        figure.suptitle(title, fontsize=10)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def bars(
    axes: Axes, groups: Sequence[object], series: Mapping[str, Sequence[float | None]], colour: int = 0
) -> None:
    """Bars side by side: for each group one of each series; a missing one leaves its place empty."""
    width = 0.8 / len(series)
    for i, (name, values) in enumerate(series.items()):
        places = [g - 0.4 + width * (i + 0.5) for g in range(len(groups))]
        heights = [0.0 if value is None else value for value in values]
        axes.bar(places, heights, width * 0.92, label=name, color=COLOURS[(colour + i) % len(COLOURS)])
    axes.set_xticks(range(len(groups)), [str(group) for group in groups])
    axes.tick_params(axis="x", length=0)


def lines(axes: Axes, x: Sequence[float], series: Mapping[str, Sequence[float | None]]) -> None:
    """A line with markers for each series, both axes logarithmic; missing points are left out."""
    for i, (name, values) in enumerate(series.items()):
        known = [(a, value) for a, value in zip(x, values, strict=True) if value is not None]
        if known:
            axes.plot(
                *zip(*known, strict=True),
                marker=MARKERS[i],
                markersize=4,
                linewidth=1.2,
                label=name,
                color=COLOURS[i],
            )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(list(x), [f"{value:g}" for value in x])
    axes.minorticks_off()


def legend(figure: Figure, axes: Axes) -> None:
    """One legend below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    widest = max((len(label) for label in labels), default=0)
    columns = min(len(labels), 6 if widest < 16 else 3)
    figure.legend(handles, labels, loc="outside lower center", ncols=max(columns, 1))


def even(axes: Axes) -> None:
    """The line at 1 of a ratio."""
    axes.axhline(1, color="#444444", linewidth=0.9, linestyle="--")


def doublings(axes: Axes) -> None:
    """A scale on which twice as fast is as far as half as fast."""
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
