"""The layers of a network on the page: a row each, and the memory between them as a picture."""

from __future__ import annotations

from html import escape

from axiloom.report.network import alone_title, how
from axiloom.report.page import parts
from axiloom.report.page.numbers import count, duration, percent, size
from axiloom.report.types import LayerRow, Report

LAYERS = (
    "From the begin of a layer to that of the next one. What an accelerator might have been expected to take "
    "and did not has the reason below its name; so has a layer that does not use the accelerator as it was "
    "asked to. Limit: times the fewest cycles that its words or its multiply-adds can take."
)
MEMORY = (
    "Tensors between layers: across, the layers while which one is needed; up, where it lies. What does not "
    "overlap in time shares memory."
)
_WIDTH, _HEIGHT = 960, 240
_LINE, _LETTER = 11, 6
"""Height of a line of text, and about the width of a letter."""


def layers(report: Report) -> str:
    """A row for each layer; empty for a run that is no network."""
    network = report.get("network")
    if network is None:
        return ""
    longest = max((row["share"] for row in network["layers"]), default=0) or 1
    alone = network["cpu_layers"] is not None
    rows = []
    for row in network["layers"]:
        remark = row["reason"] or (row["use"]["note"] if row["use"] else None)
        reason = f"<small>{escape(remark)}</small>" if remark else ""
        colour = "compute" if row["place"] == "accelerator" else "code"
        width = 100 * row["share"] / longest
        bar = f'<span class="mini" style="--w:{width:.1f}%;--c:var(--{colour})"></span>'
        rows.append(
            (
                f"{row['layer']} <code>{escape(row['function'])}</code>{reason}",
                escape(row["accelerator"] or "CPU"),
                escape(how(row)),
                escape(row["location"]),
                count(row["multiply_adds"]) if row["multiply_adds"] else "–",
                duration(row["ms"] / 1e3),
                bar + percent(row["share"]),
                f"{row['limit']['ratio']:.2f}" if row["limit"] and row["limit"]["ratio"] else "–",
                *(_beside(row) if alone else ()),
            )
        )
    columns = ("layer", "runs on", "how", "place", "multiply-adds", "time", "share", "limit")
    return _sums(report) + parts.table(columns + (("CPU alone", "times") if alone else ()), rows, "layers")


def _beside(row: LayerRow) -> tuple[str, str]:
    """The same ops on the CPU alone, and how many times as long that takes."""
    ms = row["alone_ms"]
    if ms is None:
        return "–", "–"
    return duration(ms / 1e3), f"{ms / row['ms']:.2f}" if row["ms"] else "–"


def _sums(report: Report) -> str:
    network = report["network"]
    part = network["offload"]
    rows = [
        ("layers on the accelerator", f"{duration(part['ms'] / 1e3)} ({percent(part['share'])})"),
        ("layers on the CPU", duration(part["host_ms"] / 1e3)),
    ]
    if network["cpu_layers"]:
        alone = sum(row["ms"] for row in network["cpu_layers"])
        rows.append((f"the whole network: {alone_title(report)} alone", duration(alone / 1e3)))
    if part["speed_up"] is not None:
        rows.append(("speed-up of the offloaded part", f"{part['speed_up']:.2f}"))
    if part["end_to_end"] is not None:
        rows.append(("speed-up end to end", f"{part['end_to_end']:.2f}"))
    return parts.table(("", ""), rows)


def _label(name: str, x: float, y: float, width: float, height: float) -> str:
    """The tensor's name in its rectangle, cut to what has room; none where nothing has."""
    letters = int((width - 4) / _LETTER)
    if height < _LINE or letters < 3:
        return ""
    text = name if len(name) <= letters else f"{name[: letters - 1]}…"
    return (
        f'<text x="{x + 3:.1f}" y="{y + min(height / 2 + 4, _LINE):.1f}" font-size="{_LINE - 1}" '
        f'fill="currentColor" pointer-events="none">{escape(text)}</text>'
    )


def memory(report: Report) -> str:
    """The arena: a rectangle for each tensor, from when to when and from where to where."""
    network = report.get("network")
    if network is None or not network["arena"]["buffers"]:
        return ""
    arena = network["arena"]
    steps = max(buffer["last"] for buffer in arena["buffers"]) + 1
    shapes = []
    for buffer in arena["buffers"]:
        x, width = buffer["first"] / steps * _WIDTH, (buffer["last"] - buffer["first"] + 1) / steps * _WIDTH
        height = max(buffer["size"] / arena["peak"] * _HEIGHT, 1)
        y = _HEIGHT - buffer["offset"] / arena["peak"] * _HEIGHT - height
        title = f"{buffer['name']}: {count(buffer['size'])} bytes at {count(buffer['offset'])}"
        span = f"layers {buffer['first']} to {buffer['last']}"
        shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="currentColor" '
            f'fill-opacity="0.25" stroke="currentColor" stroke-width="0.5">'
            f"<title>{escape(title)}, {span}</title></rect>" + _label(buffer["name"], x, y, width, height)
        )
    rows = [
        ("arena", size(arena["peak"])),
        ("without sharing", size(arena["unshared"])),
        ("weights", f"{size(network['weights']['bytes'])} in {count(network['weights']['arrays'])} arrays"),
    ]
    alt = f"{len(shapes)} tensors in {count(arena['peak'])} bytes over {steps} layers"
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="100%" role="img" aria-label="{alt}">'
        + "".join(shapes)
        + "</svg>"
        + parts.table(("memory", ""), rows)
    )
