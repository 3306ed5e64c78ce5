"""The drawings of a nest's page, as SVG: pipes and FIFOs over time, and one iteration slot by slot.

Widths are in units of the view box; colours come from page.css.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

Data = dict[str, Any]
WIDTH, LABEL, RIGHT = 1080, 170, 14
ROW, BAR, FOOT = 26, 16, 30
MOST_FIFOS = 24
"""FIFOs that get a row: those that hold most bits."""
MOST_ROWS = 60
"""Rows of an iteration's picture."""
COLOURS = {
    "read": "load",
    "pop": "load_again",
    "operate": "compute",
    "write": "store",
    "push": "dma_latency",
}


def gantt(chart: Data, titles: Mapping[str, str]) -> str:
    """When each pipe issues iterations, and how full each FIFO is; `chart` is that of ``nests.timing``,
    `titles` are the names of FIFOs: those that have the same one are lanes, and equal."""
    once = {titles[fifo["name"]]: {**fifo, "name": titles[fifo["name"]]} for fifo in chart["fifos"]}
    pipes, fifos = chart["pipes"], _largest([*once.values()])
    end = max(chart["cycles"], 1)
    rows = [_pipe_row(pipe, k, end) for k, pipe in enumerate(pipes)]
    rows += [_fifo_row(fifo, len(pipes) + k, end) for k, fifo in enumerate(fifos)]
    names = ", ".join(pipe["name"] for pipe in pipes)
    text = f"{len(pipes)} pipes ({names}) and {len(chart['fifos'])} FIFOs over {chart['cycles']:,} cycles"
    left_out = len(once) - len(fifos)
    note = f'<p class="note">{left_out} smaller FIFOs are in the table alone.</p>' if left_out else ""
    return _svg(text, len(rows), end, rows, "cycles") + note


def _largest(fifos: Sequence[Data]) -> list[Data]:
    """In their order."""
    if len(fifos) <= MOST_FIFOS:
        return list(fifos)
    chosen = sorted(fifos, key=lambda fifo: (-fifo["bits"] * fifo["depth"], fifo["name"]))[:MOST_FIFOS]
    return [fifo for fifo in fifos if fifo in chosen]


def _pipe_row(pipe: Data, row: int, end: int) -> str:
    parts = [_label(pipe["name"], row)]
    for first, last, iterations in pipe["runs"]:
        title = f"{iterations:,} iterations, issued in cycles {first:,} to {last:,}"
        parts.append(_bar(first, last + 1, row, end, "compute", title))
        done = min(last + pipe["last_slot"] + 1, end + 1)
        if done > last + 1:
            parts.append(_bar(last + 1, done, row, end, "sleep", "the last ones are executed"))
    return "".join(parts)


def _fifo_row(fifo: Data, row: int, end: int) -> str:
    """Occupancy as an area, its depth as the row's height."""
    depth, floor = max(fifo["depth"], 1), row * ROW + (ROW + BAR) / 2
    points: list[tuple[float, float]] = [(LABEL, floor)]
    for at, (cycle, places) in enumerate(fifo["steps"]):
        until = fifo["steps"][at + 1][0] if at + 1 < len(fifo["steps"]) else end + 1
        level = floor - BAR * places / depth
        points += [(_x(max(cycle, 1), end), level), (_x(max(until, 1), end), level)]
    points.append((_x(end + 1, end), floor))
    shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    kind = "tokens" if not fifo["bits"] else f"elements of {fifo['bits']} bits"
    title = f"FIFO {fifo['name']}: at most {fifo['largest']} of {fifo['depth']} places, {kind}"
    return (
        _label(fifo["name"], row)
        + f'<polygon points="{shape}" style="fill:var(--load)"><title>{escape(title)}</title></polygon>'
    )


def iteration(pipe: Data) -> str:
    """One iteration of a pipe: a row for what starts in one slot, as long as it takes. `pipe` is that of
    :func:`axiloom.report.nest.body.body`."""
    rows, groups = [], pipe["groups"][:MOST_ROWS]
    end = max(pipe["slots"], 1)
    for row, group in enumerate(groups):
        first, length = group["slot"], max(group["cycles"], 1)
        what = f"{group['what']} × {group['count']:,}" if group["count"] > 1 else group["what"]
        title = f"{what}: slot {first}" + (f", {group['cycles']} cycles" if group["cycles"] else "")
        rows.append(
            _label(what, row) + _bar(first + 1, first + 1 + length, row, end, COLOURS[group["kind"]], title)
        )
    left_out = len(pipe["groups"]) - len(groups)
    note = f'<p class="note">{left_out} rows more are left out.</p>' if left_out else ""
    text = f"one iteration of {pipe['name']}: {pipe['slots']} slots"
    return _svg(text, len(rows), end, rows, "slots", first=0) + note


def _svg(text: str, rows: int, end: int, parts: Sequence[str], unit: str, first: int = 1) -> str:
    height = rows * ROW + FOOT
    return (
        f'<svg class="roofline" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(text)}">'
        + "".join(_ticks(end, rows * ROW, unit, first))
        + "".join(parts)
        + "</svg>"
    )


def _ticks(end: int, height: int, unit: str, first: int) -> Iterator[str]:
    """About eight, at round numbers."""
    step = 1
    while end / step > 10:
        step *= 5 if str(step)[0] == "2" and end / step > 20 else 2
    for value in range(0, end + 1, step):
        x = _x(max(value, 1) if first else value + 1, end)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height}"/>'
        name = f"{value:,}" if value else f"0 {unit}"
        anchor = "start" if not value else "middle"
        yield f'<text x="{x:.1f}" y="{height + 18}" text-anchor="{anchor}">{name}</text>'


def _x(cycle: float, end: int) -> float:
    return LABEL + (WIDTH - LABEL - RIGHT) * (cycle - 1) / end


def _bar(first: int, until: int, row: int, end: int, colour: str, title: str) -> str:
    x = _x(first, end)
    width = max(_x(until, end) - x, 0.6)
    return (
        f'<rect x="{x:.1f}" y="{row * ROW + (ROW - BAR) / 2:.1f}" width="{width:.1f}" height="{BAR}" '
        f'style="fill:var(--{colour})"><title>{escape(title)}</title></rect>'
    )


def _label(text: str, row: int) -> str:
    short = text if len(text) <= 21 else f"{text[:20]}…"
    return (
        f'<text class="name" x="{LABEL - 10}" y="{row * ROW + ROW / 2 + 4.5:.1f}" text-anchor="end">'
        f"{escape(short)}<title>{escape(text)}</title></text>"
    )
