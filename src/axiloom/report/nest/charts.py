"""The drawings of a nest's page: pipes and FIFOs over time, and one iteration slot by slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axiloom.report.page.svg import LETTER, WIDE, Drawing, fitted, scale

Data = dict[str, Any]
RIGHT = 14
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
    names = ", ".join(pipe["name"] for pipe in pipes)
    text = f"{len(pipes)} pipes ({names}) and {len(chart['fifos'])} FIFOs over {chart['cycles']:,} cycles"

    def draw(width: int) -> Drawing:
        rows = _Rows(width, len(pipes) + len(fifos), max(chart["cycles"], 1), text)
        rows.ticks("cycles", first=1)
        for row, pipe in enumerate(pipes):
            rows.pipe(pipe, row)
        for row, fifo in enumerate(fifos, len(pipes)):
            rows.fifo(fifo, row)
        return rows.drawing

    left_out = len(once) - len(fifos)
    note = f'<p class="note">{left_out} smaller FIFOs are in the table alone.</p>' if left_out else ""
    return fitted(draw) + note


def _largest(fifos: Sequence[Data]) -> list[Data]:
    """In their order."""
    if len(fifos) <= MOST_FIFOS:
        return list(fifos)
    chosen = sorted(fifos, key=lambda fifo: (-fifo["bits"] * fifo["depth"], fifo["name"]))[:MOST_FIFOS]
    return [fifo for fifo in fifos if fifo in chosen]


def iteration(pipe: Data) -> str:
    """One iteration of a pipe: a row for what starts in one slot, as long as it takes. `pipe` is that of
    :func:`axiloom.report.nest.body.body`."""
    groups = pipe["groups"][:MOST_ROWS]

    def draw(width: int) -> Drawing:
        text = f"one iteration of {pipe['name']}: {pipe['slots']} slots"
        rows = _Rows(width, len(groups), max(pipe["slots"], 1), text)
        rows.ticks("slots", first=0)
        for row, group in enumerate(groups):
            what = f"{group['what']} × {group['count']:,}" if group["count"] > 1 else group["what"]
            title = f"{what}: slot {group['slot']}" + (
                f", {group['cycles']} cycles" if group["cycles"] else ""
            )
            begin = group["slot"] + 1
            rows.label(what, row)
            rows.bar(begin, begin + max(group["cycles"], 1), row, COLOURS[group["kind"]], title)
        return rows.drawing

    left_out = len(pipe["groups"]) - len(groups)
    note = f'<p class="note">{left_out} rows more are left out.</p>' if left_out else ""
    return fitted(draw) + note


class _Rows:
    """Rows with a name each over a scale that begins at 1 and ends at `end`."""

    def __init__(self, width: int, rows: int, end: int, text: str) -> None:
        self.end, self.width, self.rows = end, width, rows
        self.left = 170 if width >= WIDE else 112
        self.drawing = Drawing(width, rows * ROW + FOOT, text)

    def x(self, cycle: float) -> float:
        return self.left + (self.width - self.left - RIGHT) * (cycle - 1) / self.end

    def ticks(self, unit: str, first: int) -> None:
        height = self.rows * ROW
        for value in scale(self.end, 10 if self.width >= WIDE else 4):
            x = self.x(max(value, 1) if first else value + 1)
            self.drawing.line(x, 0, x, height)
            name = f"{value:,.0f}" if value else f"0 {unit}"
            is_last = x + LETTER / 2 * len(name) > self.width
            anchor = "end" if is_last else "middle" if value else "start"
            self.drawing.text(self.width if is_last else x, height + 18, name, anchor=anchor)

    def label(self, text: str, row: int) -> None:
        y = row * ROW + ROW / 2 + 4.5
        self.drawing.text(self.left - 10, y, text, "name", "end", room=self.left - 10)

    def bar(self, first: int, until: int, row: int, colour: str, title: str) -> None:
        x = self.x(first)
        self.drawing.bar(x, row * ROW + (ROW - BAR) / 2, self.x(until) - x, BAR, colour, title)

    def pipe(self, pipe: Data, row: int) -> None:
        self.label(pipe["name"], row)
        for first, last, iterations in pipe["runs"]:
            title = f"{iterations:,} iterations, issued in cycles {first:,} to {last:,}"
            self.bar(first, last + 1, row, "compute", title)
            done = min(last + pipe["last_slot"] + 1, self.end + 1)
            if done > last + 1:
                self.bar(last + 1, done, row, "sleep", "the last ones are executed")

    def fifo(self, fifo: Data, row: int) -> None:
        """Occupancy as an area, its depth as the row's height."""
        depth, ground = max(fifo["depth"], 1), row * ROW + (ROW + BAR) / 2
        points = [(float(self.left), ground)]
        for at, (cycle, places) in enumerate(fifo["steps"]):
            until = fifo["steps"][at + 1][0] if at + 1 < len(fifo["steps"]) else self.end + 1
            level = ground - BAR * places / depth
            points += [(self.x(max(cycle, 1)), level), (self.x(max(until, 1)), level)]
        points.append((self.x(self.end + 1), ground))
        kind = "tokens" if not fifo["bits"] else f"elements of {fifo['bits']} bits"
        title = f"FIFO {fifo['name']}: at most {fifo['largest']} of {fifo['depth']} places, {kind}"
        self.label(fifo["name"], row)
        self.drawing.area(points, "load", title)
