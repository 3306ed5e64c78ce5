"""The timeline's data for page.js, small enough for a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any, TypedDict

from axiloom.cosim.profile import TRACKS, Interval, Timeline
from axiloom.report import places
from axiloom.report.numbers import duration
from axiloom.report.perfetto import DOES, TITLES, label
from axiloom.report.places import Stretch

MOST = 60_000
"""Intervals in a page; of more, those closest together are merged."""
FEW = 6_000
"""... in a notebook, which holds many pages."""

TIMELINE = "timeline-data"
"""The class of the script that has a timeline's data."""

_KINDS = {
    **DOES,
    "mm2s": "transfer to the device",
    "s2mm": "transfer from the device",
    "active": "words come in",
    "stalled": "device does not take the next word",
    "starved": "no word comes",
    "new": "tile comes in",
    "again": "tile comes in again",
    "compute": "array multiplies",
    "store": "words go out",
}
_EXCERPT = 8  # transfers that the first view shows


class Trace(TypedDict):
    """A timeline as a page has it: times in nanoseconds."""

    end: int
    view: list[int]
    """What is shown first."""
    kinds: list[list[str]]
    """Of intervals: variable of page.css, title."""
    tracks: list[dict[str, Any]]
    resolution: float
    """Intervals shorter than this are merged; 0: none is."""
    places: dict[str, dict[str, Stretch]]
    """Of the report's tables: ``losses``, ``functions``, ``transfers``."""


_NUMBERS = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
_NAMES = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
FORM: Mapping[str, Any] = {
    "type": ["object", "null"],
    "required": [*Trace.__annotations__],
    "properties": {
        "end": {"type": "integer"},
        "view": _NUMBERS,
        "kinds": {"type": "array", "items": _NAMES},
        "tracks": {"type": "array", "items": {"type": "object"}},
        "resolution": {"type": "number"},
        "places": {"additionalProperties": {"type": "object", "additionalProperties": _NUMBERS}},
    },
}
"""The JSON schema of a `Trace`, or of none: pages are files, which anybody may have changed."""


def trace(timeline: Timeline | None, most: int = MOST) -> Trace | None:
    """With `most` intervals; None if nothing was recorded."""
    if timeline is None or not len(timeline):
        return None
    tracks = {track: list(timeline.intervals(track)) for track in TRACKS}
    view = _view(tracks, timeline.nanoseconds)
    tracks, resolution = merged(tracks, timeline.resolution * 1e9 / timeline.fabric_hz, most)
    kinds = [
        kind
        for kind in _KINDS
        if any(interval.kind == kind for track in tracks.values() for interval in track)
    ]
    return {
        "end": round(timeline.nanoseconds),
        "view": view,
        "kinds": [[kind, _KINDS[kind]] for kind in kinds],
        "tracks": [_encoded(TITLES[track], intervals, kinds) for track, intervals in tracks.items()],
        "resolution": resolution,
        "places": places.of(timeline),
    }


def section(data: Trace | None) -> str:
    """Canvas, legend and data; empty without a timeline."""
    if data is None:
        return ""
    legend = "".join(
        f'<li><i class="chip" style="--c:var(--{kind})"></i>{escape(title)}</li>'
        for kind, title in data["kinds"]
    )
    resolution = data["resolution"]
    coarse = (
        f'<p class="note">Intervals under {resolution / 1000:,.2f} µs are merged with their neighbours.</p>'
        if resolution
        else ""
    )
    return (
        '<div class="timeline"><canvas class="detail" tabindex="0" role="img" '
        'aria-label="Timeline of CPU, DMA channels, stream, load, compute and store"></canvas>'
        '<canvas class="overview"></canvas><div class="tip" hidden></div>\n'
        '<div class="controls"><button type="button" data-zoom="0.5">zoom in</button>'
        '<button type="button" data-zoom="2">zoom out</button>'
        '<button type="button" data-zoom="0">whole run</button></div>\n'
        f'<ul class="legend">{legend}</ul>\n{coarse}{embedded(TIMELINE, data)}</div>'
    )


def embedded(name: str, data: object) -> str:
    """Data in a page, for its script and for `axiloom report`, which reads pages."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" class="{name}">{text}</script>'


def link(data: Trace | None, table: str, row: str, run: str = "") -> str:
    """From a row to its place on the timeline of `run`; empty where it has none."""
    stretch = data["places"].get(table, {}).get(row) if data else None
    if stretch is None:
        return ""
    return at(stretch, run)


def at(stretch: Stretch, run: str = "", *, whole: bool = False) -> str:
    """The link; `whole`: the stretch is the row itself, not the longest of several."""
    begin, end = stretch
    title = f"{'on the timeline' if whole else 'its longest stretch'}, {duration((end - begin) / 1e9)}"
    return f'<a class="at" href="#timeline{run}" data-from="{begin}" data-to="{end}" title="{title}">show</a>'


def merged(
    tracks: dict[str, list[Interval]], resolution: float, most: int
) -> tuple[dict[str, list[Interval]], float]:
    """At most about `most` intervals, and how long one that stands for several may be, in ns."""
    while sum(map(len, tracks.values())) > most:
        resolution = max(2 * resolution, 200.0)
        tracks = {track: _merged(intervals, resolution) for track, intervals in tracks.items()}
    return tracks, resolution


def _merged(intervals: list[Interval], resolution: float) -> list[Interval]:
    kept: list[Interval] = []
    for interval in intervals:
        last = kept[-1] if kept else None
        if last is None or interval.end - last.begin > resolution:
            kept.append(interval)
            continue
        main = last if last.end - last.begin >= interval.end - interval.begin else interval
        kept[-1] = Interval(
            interval.track,
            last.begin,
            interval.end,
            main.kind,
            main.name,
            last.bytes + interval.bytes,
            main.address,
            last.count + interval.count,
        )
    return kept


def _view(tracks: dict[str, list[Interval]], end: float) -> list[int]:
    """What the page shows first: some transfers in the middle of the run, with one that comes back."""
    sent, received = tracks["mm2s"], tracks["s2mm"]
    if len(sent) <= _EXCERPT:
        return [0, round(end)]
    middle = received[len(received) // 2].end if received else end / 2
    behind = sum(interval.end <= middle for interval in sent)
    first = min(max(behind - _EXCERPT * 2 // 3, 0), len(sent) - _EXCERPT)
    begin, last = sent[first].begin, max(sent[first + _EXCERPT - 1].end, middle)
    margin = (last - begin) / 20
    return [round(max(begin - margin, 0)), round(min(last + margin, end))]


def _encoded(title: str, intervals: list[Interval], kinds: list[str]) -> dict[str, Any]:
    """Gap to the last end, length, kind, label, bytes, merged: base 36, what is zero at the end left out."""
    labels: dict[str, int] = {}
    rows, at = [], 0
    for interval in intervals:
        begin, end = round(interval.begin), round(interval.end)
        text = label(interval) if interval.track != "cpu" else interval.name
        values = [begin - at, end - begin, kinds.index(interval.kind), labels.setdefault(text, len(labels))]
        values += [interval.bytes, interval.count - 1]
        at = end
        while not values[-1]:
            values.pop()
            if not values:
                break
        rows.append(",".join(_base36(value) for value in values))
    return {"title": title, "labels": list(labels), "rows": ";".join(rows)}


def _base36(value: int) -> str:
    digits = ""
    sign, value = ("-", -value) if value < 0 else ("", value)
    while True:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not value:
            return sign + digits
