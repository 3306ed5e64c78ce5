"""The layers of a network on the page: a row each, and the memory between them as a picture."""

from __future__ import annotations

from html import escape

from axiloom.report.network import alone_title, how
from axiloom.report.numbers import count, duration, percent, size
from axiloom.report.page import parts
from axiloom.report.page.svg import WIDE, Drawing, fitted, scale
from axiloom.report.page.traces import Trace, at
from axiloom.report.types import Arena, LayerRow, Report

LAYERS = (
    "Time from the start of one layer to the start of the next. A layer that an accelerator might have been "
    "expected to take and did not has the reason below its name; so has a layer that does not use the "
    "accelerator as it was asked to. Limit: times the fewest cycles that its words or its multiply-adds can "
    "take."
)
MEMORY = (
    "Tensors between layers: across, the layers while which one is needed; up, where it lies. What does not "
    "overlap in time shares memory."
)
_HEIGHT, _LINE = 240, 14


def layers(report: Report, trace: Trace | None = None) -> str:
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
                f"{row['layer']} <code>{escape(row['function'])}</code>{_place(row, trace)}{reason}",
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
    return _sums(report) + parts.table(columns + (("CPU alone", "times") if alone else ()), rows, "cards")


def _place(row: LayerRow, trace: Trace | None) -> str:
    """A link to the layer on the timeline."""
    if trace is None or "begin_ms" not in row:
        return ""
    begin = row["begin_ms"] * 1e6
    return at([round(begin), round(begin + row["ms"] * 1e6)], whole=True)


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


def memory(report: Report) -> str:
    """The arena: a rectangle for each tensor, from when to when and from where to where."""
    network = report.get("network")
    if network is None or not network["arena"]["buffers"]:
        return ""
    arena = network["arena"]
    rows = [
        ("arena", size(arena["peak"])),
        ("without sharing", size(arena["unshared"])),
        ("weights", f"{size(network['weights']['bytes'])} in {count(network['weights']['arrays'])} arrays"),
    ]
    return fitted(lambda width: _arena(arena, width)) + parts.table(("memory", ""), rows)


def _arena(arena: Arena, width: int) -> Drawing:
    steps = max(buffer["last"] for buffer in arena["buffers"]) + 1
    text = f"{len(arena['buffers'])} tensors in {count(arena['peak'])} bytes over {steps} layers"
    drawing = Drawing(width, _HEIGHT + 22, text)
    step, up = (width - 2) / steps, (_HEIGHT - 2) / arena["peak"]
    for buffer in arena["buffers"]:
        x, wide = 1 + buffer["first"] * step, (buffer["last"] - buffer["first"] + 1) * step
        high = max(buffer["size"] * up, 1)
        y = _HEIGHT - 1 - buffer["offset"] * up - high
        title = (
            f"{buffer['name']}: {count(buffer['size'])} bytes at {count(buffer['offset'])}, "
            f"layers {buffer['first']} to {buffer['last']}"
        )
        drawing.box(x, y, wide, high, "tensor", title)
    for buffer in arena["buffers"]:  # over all of them, as they may be next to each other
        high = buffer["size"] * up
        if high >= _LINE:
            y = _HEIGHT - 1 - buffer["offset"] * up - high + min(high / 2 + 5, 15)
            room = (buffer["last"] - buffer["first"] + 1) * step - 8
            drawing.text(1 + buffer["first"] * step + 4, y, buffer["name"], "name", room=room)
    for layer in scale(steps - 1, 8 if width < WIDE else 16):
        drawing.text(1 + (layer + 0.5) * step, _HEIGHT + 16, f"{layer:.0f}", anchor="middle")
    return drawing
