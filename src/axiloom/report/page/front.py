"""The page of a search: what each way or design costs against how long it takes, with the front of the best.

Its data are the JSON of ``axiloom explore``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from axiloom.base.files import write_whole
from axiloom.report.numbers import count, duration
from axiloom.report.page import FILE, parts
from axiloom.report.page.document import document
from axiloom.report.page.svg import WIDE, Drawing, fitted, scale

Json = Mapping[str, Any]
DRIVERS = (
    "A point is a way to use the accelerator: words over its streams, against time. The line joins those "
    "that no other beats in both. Filled: taken. Large rings: simulated."
)
HARDWARE = (
    "A point is a design: what it takes of the part, against time. The line joins those that fit and that no "
    "other beats in both. Filled: taken; crosses do not fit."
)
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 76, 34, 22, 46, 330


class Point(NamedTuple):
    """`x` and `y`: both better if less. `beside`: `y` as simulated, where it is foretold."""

    x: float
    y: float
    name: str
    taken: bool = False
    fits: bool = True
    beside: float | None = None


def front(points: Iterable[Point]) -> list[Point]:
    """Those that fit and that no other beats in both, by `x`."""
    best: list[Point] = []
    for point in sorted((point for point in points if point.fits), key=lambda point: (point.x, point.y)):
        if not best or point.y < best[-1].y:
            best.append(point)
    return best


def draw(points: Sequence[Point], x_title: str, y_title: str, limit: float | None = None) -> str:
    """`limit`: the most of `x` that there is."""
    return fitted(lambda width: _drawn(points, (x_title, y_title), limit, width))


def _drawn(points: Sequence[Point], titles: tuple[str, str], limit: float | None, width: int) -> Drawing:
    drawing = Drawing(width, _HEIGHT, f"{len(points)} points: {titles[1]} against {titles[0]}")
    x_ticks = _ticks(
        [point.x for point in points] + ([limit] if limit else []), 10 if width >= WIDE else 4, 1
    )
    y_ticks = _ticks([y for point in points for y in (point.y, point.beside) if y is not None], 6, 0)

    def at(x: float) -> float:
        return _LEFT + (width - _LEFT - _RIGHT) * (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0])

    def up(y: float) -> float:
        room = _HEIGHT - _BOTTOM - _TOP
        return _HEIGHT - _BOTTOM - room * (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])

    for value in x_ticks:
        drawing.line(at(value), _TOP, at(value), _HEIGHT - _BOTTOM)
        drawing.text(at(value), _HEIGHT - _BOTTOM + 18, f"{value:,.0f}", anchor="middle")
    for value in y_ticks:
        drawing.line(_LEFT, up(value), width - _RIGHT, up(value))
        drawing.text(_LEFT - 7, up(value) + 4.5, f"{value:,g}", anchor="end")
    if limit:
        drawing.line(at(limit), _TOP, at(limit), _HEIGHT - _BOTTOM, "gap")
        drawing.text(at(limit) - 6, _TOP - 8, f"there are {limit:,g}", "name", "end")
    best = front(points)
    bends = [(at(point.x), up(point.y)) for point in best]
    stairs = [corner for a, b in pairwise(bends) for corner in (a, (b[0], a[1]))]
    drawing.path([*stairs, *bends[-1:]], "front")
    for point in sorted(points, key=lambda point: point.taken):
        title = f"{point.name}: {point.x:,g} {titles[0]}, {point.y:,.4g} {titles[1]}"
        if not point.fits:
            for sign in (1, -1):
                x, y = at(point.x), up(point.y)
                drawing.line(x - 5, y - 5 * sign, x + 5, y + 5 * sign, "gap")
            continue
        if point.beside is not None:
            drawing.dot(
                at(point.x), up(point.beside), "there", f"{point.name}: simulated {point.beside:,.4g}"
            )
        drawing.dot(
            at(point.x), up(point.y), "here" if point.taken else "there", title, 6 if point.taken else 4
        )
    for point in (point for point in points if point.taken):
        inside = at(point.x) > width - 200
        x, anchor = at(point.x) + (-11 if inside else 11), "end" if inside else "start"
        room = at(point.x) - _LEFT if inside else width - at(point.x) - 14
        drawing.text(x, up(point.y) - 9, point.name, "point", anchor, room)
    drawing.text((width + _LEFT - _RIGHT) / 2, _HEIGHT - 8, titles[0], anchor="middle")
    drawing.turned(13, (_HEIGHT - _BOTTOM + _TOP) / 2, -90, titles[1], "")
    return drawing


def _ticks(values: Sequence[float], most: int, least: float) -> list[float]:
    """Round numbers around all `values`: from 0 on, but where they lie close together."""
    low, high = min(values), max(values)
    start = low if low > 0.5 * high else 0
    step = [*scale(max(high - start, high / 50, 1e-9), most, least), 0][1] or high
    first, last = math.floor(start / step), math.ceil(high * 1.02 / step)
    return [round(step * n, 9) for n in range(first, max(last, first + 1) + 1)]


# --- drivers ---------------------------------------------------------------------------------------------


def _name(row: Json) -> str:
    return f"{row['flow']} {row['loops']} {row['tile']} {row['pipeline']}"


def drivers(search: Json) -> str:
    """The ways of one exploration as points, and as a table."""
    rows, taken = search["rows"], search["chosen"]
    points = [
        Point(
            row["words"],
            ms,
            _name(row),
            row == taken,
            beside=row["simulated_ms"] if row["predicted_ms"] else None,
        )
        for row in rows
        if row["words"] is not None and (ms := row["predicted_ms"] or row["simulated_ms"])
    ]
    picture = draw(points, "words over the streams", "ms") if points else ""
    cells = [
        (
            f"{'★ ' if row == taken else ''}{escape(_name(row))}"
            + (f"<small> {escape(', '.join(row['names']))}</small>" if row["names"] else ""),
            _ms(row["predicted_ms"]),
            _ms(row["simulated_ms"]),
            "–" if row["words"] is None else count(row["words"]),
            "–" if row["limit_ratio"] is None else f"{row['limit_ratio']:.2f}",
            escape(row["error"] or ""),
        )
        for row in rows
    ]
    head = ("flow, loops, tile, pipeline", "foretold", "simulated", "words", "times the limit", "")
    return picture + parts.table(head, cells, "cards")


def _ms(value: float | None) -> str:
    return "–" if value is None else duration(value / 1e3)


# --- hardware --------------------------------------------------------------------------------------------


def hardware(search: Json) -> str:
    """The designs of a search under a part, one picture for the resource of which most is taken."""
    designs = [*search["refused"], *search["found"], search["base"]]
    limits, chosen = search["limits"], search["chosen"]
    scarce = max(limits, key=lambda name: chosen["resources"][name] / limits[name])
    points = [
        Point(design["resources"][scarce], _time(design), design["name"], design == chosen, design["fits"])
        for design in designs
    ]
    names = [*limits]
    rows = [
        (
            f"{'★ ' if design == chosen else ''}{escape(design['name'])}"
            f"<small> {'' if design['fits'] else 'does not fit'}</small>",
            count(design["macs"]),
            f"{design['stream_width']}",
            "sg" if design["scatter_gather"] else "simple",
            _ms(design["predicted_ms"]),
            _ms(design["simulated_ms"]),
            *(f"{design['resources'][name]:,g}" for name in names),
        )
        for design in designs
    ]
    head = (
        "design",
        "multiply-adds",
        "stream",
        "DMA",
        "foretold",
        "simulated",
        *(name.upper() for name in names),
    )
    return draw(points, scarce.upper(), "ms", limits[scarce]) + parts.table(head, rows, "cards")


def _time(design: Json) -> float:
    time: float = design["simulated_ms"] or design["predicted_ms"]
    return time


# --- the page --------------------------------------------------------------------------------------------


def render(explorations: Sequence[Json], designs: Json | None, command: str) -> str:
    """The page: `designs` of ``--device``, and the ways of each exploration."""
    sections = [_header(explorations, designs)]
    if designs:
        sections.append(
            parts.section("designs", f"Designs under {designs['device']}", hardware(designs), HARDWARE)
        )
    for number, search in enumerate(explorations):
        title = f"{search['problem']} on {search['accelerator']}"
        sections.append(parts.section(f"drivers{number}", title, drivers(search), DRIVERS))
    if command:
        sections.append(parts.section("run", "This search", parts.repeat(command), ""))
    return document("What was explored", sections)


def _header(explorations: Sequence[Json], designs: Json | None) -> str:
    tiles, said = [], []
    if designs:
        best, base = designs["chosen"], designs["base"]
        tiles.append(("design", best["name"], f"{_ms(_time(best))}, {designs['factor_is']}"))
        what = f"{best['name']} is {designs['factor']:.2f} times as fast as {base['name']}"
        said.append(f"{what} under {designs['device']}")
        looked = f"of {count(designs['variants'])}, {count(designs['excluded'])} too large at first sight"
        tiles.append(("looked at", count(len(designs["found"]) + len(designs["refused"])), looked))
    for search in explorations:
        best = search["chosen"]
        time = best["simulated_ms"] or best["predicted_ms"]
        how = "simulated" if best["simulated_ms"] else "foretold"
        tiles.append((f"{search['problem']} on {search['accelerator']}", _ms(time), f"{how}: {_name(best)}"))
        said += _beside(search, time, "simulated_ms" if best["simulated_ms"] else "predicted_ms")
    names = dict.fromkeys(search["problem"] for search in explorations)
    title = ", ".join(names) or (designs and designs["work"]) or ""
    text = f"{'; '.join(said)}." if said else "Nothing to compare with."
    return parts.head(escape(title), "", ("open", text), tiles, "")


def _beside(search: Json, time: float | None, key: str) -> list[str]:
    """The chosen way beside the named one that is slowest."""
    named = [row for row in search["rows"] if row["names"] and row[key] and row != search["chosen"]]
    if not named or not time:
        return []
    other = max(named, key=_by(key))
    times, beside = other[key] / time, f"{other['names'][0]} ({_name(other)})"
    return [f"{_name(search['chosen'])} is {times:.2f} times as fast as {beside}"]


def _by(key: str) -> Callable[[Json], float]:
    return lambda row: row[key]


def write(explorations: Sequence[Json], designs: Json | None, command: str, folder: Path) -> Path:
    path = folder / FILE
    write_whole(path, render(explorations, designs, command))
    return path
