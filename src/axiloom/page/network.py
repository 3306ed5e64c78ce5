"""The layers of a network on the page: a row each, and the memory between them as a picture."""

from __future__ import annotations

from html import escape

from axiloom.page import parts
from axiloom.page.numbers import count, duration, percent, size
from axiloom.report import Report

LAYERS = (
    "From the begin of a layer to that of the next one. What an accelerator might have been expected to take "
    "and did not has the reason below its name."
)
MEMORY = (
    "Tensors between layers: across, the layers while which one is needed; up, where it lies. What does not "
    "overlap in time shares memory."
)
_WIDTH, _HEIGHT = 960, 240


def layers(report: Report) -> str:
    """A row for each layer; empty for a run that is no network."""
    network = report.get("network")
    if network is None:
        return ""
    longest = max((row["share"] for row in network["layers"]), default=0) or 1
    rows = []
    for row in network["layers"]:
        reason = f"<small>{escape(row['reason'])}</small>" if row["reason"] else ""
        colour = "compute" if row["place"] == "accelerator" else "code"
        width = 100 * row["share"] / longest
        bar = f'<span class="mini" style="--w:{width:.1f}%;--c:var(--{colour})"></span>'
        rows.append(
            (
                f"{row['layer']} <code>{escape(row['function'])}</code>{reason}",
                escape(row["accelerator"] or "CPU"),
                escape(row["location"]),
                count(row["multiply_adds"]) if row["multiply_adds"] else "–",
                duration(row["ms"] / 1e3),
                bar + percent(row["share"]),
            )
        )
    table = parts.table(("layer", "runs on", "place", "multiply-adds", "time", "share"), rows, "layers")
    return _sums(report) + table


def _sums(report: Report) -> str:
    network = report["network"]
    by_place = {"accelerator": 0.0, "cpu": 0.0}
    for row in network["layers"]:
        by_place[row["place"]] += row["ms"]
    rows = [
        ("layers on the accelerator", duration(by_place["accelerator"] / 1e3)),
        ("layers on the CPU", duration(by_place["cpu"] / 1e3)),
    ]
    if network["cpu_layers"]:
        alone = sum(row["ms"] for row in network["cpu_layers"])
        rows.append(("the whole network on the CPU alone", duration(alone / 1e3)))
    return parts.table(("", ""), rows)


def memory(report: Report) -> str:
    """The arena: a rectangle for each tensor, from when to when and from where to where."""
    network = report.get("network")
    if network is None or not network["arena"]["buffers"]:
        return ""
    arena = network["arena"]
    steps = max(one["last"] for one in arena["buffers"]) + 1
    shapes = []
    for one in arena["buffers"]:
        x, width = one["first"] / steps * _WIDTH, (one["last"] - one["first"] + 1) / steps * _WIDTH
        height = max(one["size"] / arena["peak"] * _HEIGHT, 1)
        y = _HEIGHT - one["offset"] / arena["peak"] * _HEIGHT - height
        title = f"{one['name']}: {count(one['size'])} bytes at {count(one['offset'])}"
        span = f"layers {one['first']} to {one['last']}"
        shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="currentColor" '
            f'fill-opacity="0.25" stroke="currentColor" stroke-width="0.5">'
            f"<title>{escape(title)}, {span}</title></rect>"
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
