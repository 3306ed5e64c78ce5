"""The page of several runs beside each other: what differs, where the time of each went, their timelines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from axiloom.base.errors import UsageError
from axiloom.base.files import read_text, write_whole
from axiloom.report import compare
from axiloom.report.numbers import count, duration
from axiloom.report.page import FILE, REPORT, blocks, charts, parts, traces
from axiloom.report.page.document import document
from axiloom.report.page.svg import HALF, fitted
from axiloom.report.page.traces import TIMELINE, Trace
from axiloom.report.types import Report

SCALE = "Of the longest run, so bars of one length are the same time. Below, cycles of each class."
CHANGES = "Of the configurations, the tools and the seed."
TIMELINES = (
    "All begin at the run's start and have one scale. Drag to move, wheel or pinch to zoom; while the box is "
    "ticked, all move together."
)
_PAGES = (".html", ".htm")


class Side(NamedTuple):
    """A run as a page has it; `trace` is None where its timeline is not known: from a file of JSON."""

    report: Report
    trace: Trace | None


def read(path: Path) -> Side:
    """A run from its page, the folder with it, or a file of JSON. UsageError where it is none."""
    if path.is_dir():
        path = path / FILE
    if path.suffix not in _PAGES:
        return Side(compare.read(path), None)  # type: ignore[arg-type]
    scripts = _Scripts()
    scripts.feed(read_text(path))
    if REPORT not in scripts.data:
        raise UsageError(f"{path}: no page of a run; `axiloom run ... --report DIR` writes one")
    try:
        report, trace = (json.loads(scripts.data.get(name, "null")) for name in (REPORT, TIMELINE))
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}: its data is no JSON: {error}") from None
    hint = "a page is what --report of `axiloom run` writes"
    compare.check(trace, traces.FORM, f"{path}: its timeline", hint)
    return Side(compare.checked(report, path, "simulation"), trace)  # type: ignore[arg-type]


class _Scripts(HTMLParser):
    """The data that a page carries, by the classes of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.data: dict[str, str] = {}
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        is_data = tag == "script" and known.get("type") == "application/json"
        self._name = (known.get("class") or "") if is_data else ""

    def handle_endtag(self, tag: str) -> None:
        self._name = ""

    def handle_data(self, data: str) -> None:
        if self._name:
            self.data[self._name] = self.data.get(self._name, "") + data


def render(sides: Sequence[Side]) -> str:
    """The page, the first run as what the others are measured by."""
    reports = [side.report for side in sides]
    letters = [compare.letter(number) for number in range(len(sides))]
    sections = [
        _header(reports, letters),
        parts.section("where", "Where the time went", _where(sides, letters), SCALE),
        parts.section("settings", "What differs", _settings(reports, letters), CHANGES),
        parts.section("timelines", "Timelines", _timelines(sides, letters), TIMELINES),
        parts.section("blocks", "What was simulated", _blocks(reports, letters), blocks.BLOCKS),
        parts.section("layers", "Layers, ms", _table("layer", [*compare.layers(reports)], len(sides)), ""),
        parts.section("figures", "Figures", _table("", compare.figures(reports), len(sides)), ""),
    ]
    return document(" beside ".join(report["config"]["problem"] for report in reports), sections, script=True)


def write(sides: Sequence[Side], folder: Path) -> Path:
    path = folder / FILE
    write_whole(path, render(sides))
    return path


def _header(reports: Sequence[Report], letters: Sequence[str]) -> str:
    names = [f"{report['config']['problem']} on {report['config']['accelerator']}" for report in reports]
    same = len({*names}) == 1
    title = (
        f"{escape(names[0])} <small>{' and '.join(letters)}</small>"
        if same
        else " <small>and</small> ".join(
            f"{letter}: {escape(name)}" for letter, name in zip(letters, names, strict=True)
        )
    )
    done = [parts.work(report) for report in reports]
    times = [
        work.cycles / report["config"]["clocks"]["fabric_hz"]
        for work, report in zip(done, reports, strict=True)
    ]
    tiles = [
        (
            letter,
            duration(time),
            f"{count(work.cycles)} fabric cycles {work.what}"
            + (f"; {times[0] / time:.2f} times as fast as A" if number and time else ""),
        )
        for number, (letter, time, work) in enumerate(zip(letters, times, done, strict=True))
    ]
    right = all(report["result"]["matches"] for report in reports)
    wrong = any(report["result"]["matches"] is False for report in reports)
    state = "wrong" if wrong else "right" if right else "open"
    results = "all are right" if right else compare.results(reports)
    return parts.head(title, "", (state, f"{_verdict(times, letters)}; {results}."), tiles, "")


def _verdict(times: Sequence[float], letters: Sequence[str]) -> str:
    """The fastest beside the slowest, without start-up."""
    fast, slow = times.index(min(times)), times.index(max(times))
    if times[fast] == times[slow]:
        return "All take the same time"
    ratio = times[slow] / max(times[fast], 1e-12)
    return (
        f"{letters[fast]} is {ratio:.2f} times as fast as {letters[slow]}: {duration(times[fast])}, not "
        f"{duration(times[slow])}"
    )


def _where(sides: Sequence[Side], letters: Sequence[str]) -> str:
    reports = [side.report for side in sides]
    seconds = [report["fabric"]["cycles"] / report["config"]["clocks"]["fabric_hz"] for report in reports]
    bars = "".join(
        f'<div class="run"><h3>{letter}: {duration(time)} with start and end</h3>'
        f"{charts.stack(report['losses'], time / max(seconds))}</div>"
        for letter, report, time in zip(letters, reports, seconds, strict=True)
    )
    rows = []
    for title, key, cycles in compare.classes(reports):
        chip = f'<i class="chip" style="--c:var(--{key})"></i>{escape(title)}'
        cells = [
            count(value) + traces.link(side.trace, "losses", key, letter)
            for value, side, letter in zip(cycles, sides, letters, strict=True)
        ]
        changes = [compare.change(cycles[0], value) for value in cycles[1:]]
        rows.append(
            (chip, cells[0], *(cell for pair in zip(cells[1:], changes, strict=True) for cell in pair))
        )
    return bars + parts.table(("fabric cycles", *compare.heads(len(sides))), rows, "cards")


def _settings(reports: Sequence[Report], letters: Sequence[str]) -> str:
    rows = [tuple(map(escape, row)) for row in compare.settings(reports)]
    if not rows:
        return '<p class="note">Nothing: configuration, tools and seed are the same.</p>'
    return parts.table(("", *letters), rows, "settings cards")


def _timelines(sides: Sequence[Side], letters: Sequence[str]) -> str:
    known = [side.trace for side in sides if side.trace]
    if not known:
        return (
            '<p class="note">Not known: these are files of JSON. Give pages, which <code>axiloom run ... '
            "--report DIR</code> writes.</p>"
        )
    end = max(trace["end"] for trace in known)
    box = (
        '<label><input type="checkbox" id="together" checked> move together</label>' if len(known) > 1 else ""
    )
    shown = "".join(
        f'<div class="run" id="timeline{letter}"><h3>{letter}</h3>'
        + (traces.section({**side.trace, "end": end, "view": [0, end]}) if side.trace else "not known")
        + "</div>"
        for side, letter in zip(sides, letters, strict=True)
    )
    return box + shown


def _blocks(reports: Sequence[Report], letters: Sequence[str]) -> str:
    pictures = [
        f'<div class="run"><h3>{letter}</h3>{fitted(_draw(report), HALF)}</div>'
        for letter, report in zip(letters, reports, strict=True)
        if "system" in report
    ]
    return f'<div class="beside">{"".join(pictures)}</div>' if pictures else ""


def _draw(report: Report) -> Any:
    return lambda width: blocks.draw(report["system"], width)


def _table(name: str, rows: Sequence[tuple[str, ...]], runs: int) -> str:
    if not rows:
        return ""
    return parts.table((name, *compare.heads(runs)), [tuple(map(escape, row)) for row in rows])
