"""The drawings of the page: shares as bars of HTML, the roofline as SVG. Colours come from page.css."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from axiloom.report.page.numbers import count, duration, percent, size
from axiloom.report.page.parts import table
from axiloom.report.types import Report, Transfers

_LABEL_SHARE = 0.07  # a segment narrower than this has no room for its figure
_ROWS = 14  # sizes of transfers that get a row each; more are grouped by powers of two


def losses(report: Report) -> str:
    """One bar whose parts add up to the run, the limit below it to scale, and the parts as a table."""
    parts = [one for one in report["losses"] if one["cycles"]]
    hz = report["config"]["clocks"]["fabric_hz"]
    bar = "".join(
        f'<div class="part" style="width:{100 * one["share"]:.3f}%;--c:var(--{one["loss"]})" '
        f'title="{escape(one["title"])}: {count(one["cycles"])} cycles, {percent(one["share"])}">'
        + (f"<span>{100 * one['share']:.0f} %</span>" if one["share"] >= _LABEL_SHARE else "")
        + "</div>"
        for one in parts
    )
    alt = "; ".join(f"{one['title']} {percent(one['share'])}" for one in parts)
    rows = []
    for one in sorted(parts, key=lambda one: -one["cycles"]):
        width = 100 * one["cycles"] / max(part["cycles"] for part in parts)
        remedies = "".join(f"<code>{escape(text)}</code>" for text in one["remedies"])
        rows.append(
            (
                f'<i class="chip" style="--c:var(--{one["loss"]})"></i>{escape(one["title"])}'
                f"<small>{escape(one['definition'])}</small>",
                _mini(width, one["loss"]) + percent(one["share"]),
                count(one["cycles"]),
                duration(one["cycles"] / hz),
                remedies or "–",
            )
        )
    head = ("class", "share", "cycles", "time", "may win it back")
    return (
        f'<div class="stack" role="img" aria-label="{escape(alt)}">{bar}</div>\n'
        + _limit(report)
        + table(head, rows, "losses")
    )


def _mini(width: float, colour: str) -> str:
    return f'<span class="mini" style="--w:{width:.1f}%;--c:var(--{colour})"></span>'


def _limit(report: Report) -> str:
    bound, total = report["limit"], max(report["fabric"]["cycles"], 1)
    if bound["ratio"] is None:
        return ""
    rows = []
    for name, cycles in (("stream", bound["stream_cycles"]), ("array", bound["array_cycles"])):
        if cycles is None:
            continue
        rule = ": the limit" if name == bound["by"] else ""
        share = cycles / total
        text = f"the {name} needs {count(cycles)} cycles, {percent(share)}{rule}"
        rows.append(
            f'<div class="bound"><div class="line" style="width:{max(100 * share, 0.3):.3f}%"></div>'
            f"<span>{escape(text)}</span></div>"
        )
    return f'<div class="bounds">{"".join(rows)}</div>\n'


# --- transfers ---------------------------------------------------------------------------------------


def transfers(report: Report) -> str:
    """How many transfers of each size, and how fast they went."""
    hz = report["config"]["clocks"]["fabric_hz"]
    made = []
    for channel, title in (("mm2s", "MM2S, to the device"), ("s2mm", "S2MM, from the device")):
        groups = _grouped(one for one in report["transfers"] if one["channel"] == channel)
        if not groups:
            continue
        most = max(number for _, number, _, _ in groups)
        rows = [
            (
                escape(name),
                _mini(100 * number / most, channel) + count(number),
                size(moved),
                f"{moved / (cycles / hz) / 1e6:,.1f}",
            )
            for name, number, moved, cycles in groups
            if cycles
        ]
        made.append(table((escape(title), "transfers", "moved", "MB/s"), rows, "histogram"))
    if not made:
        return ""
    width = 4 * report["limit"]["words_per_cycle"] * hz / 1e6
    return "".join(made) + f'<p class="note">The stream carries {width:,.0f} MB/s at most.</p>'


def _grouped(found: Iterable[Transfers]) -> list[tuple[str, int, int, int]]:
    """(size, transfers, bytes, cycles) by size, or by powers of two where there are many sizes."""
    ordered = sorted(found, key=lambda one: one["bytes"])
    if len(ordered) <= _ROWS:
        return [
            (size(one["bytes"]), one["count"], one["count"] * one["bytes"], one["cycles"]) for one in ordered
        ]
    groups: dict[int, tuple[int, int, int]] = {}
    for one in ordered:
        key = one["bytes"].bit_length()
        number, moved, cycles = groups.get(key, (0, 0, 0))
        groups[key] = (number + one["count"], moved + one["count"] * one["bytes"], cycles + one["cycles"])
    return [
        (f"{size(1 << key - 1)} to {size(1 << key)}", *group) for key, group in sorted(groups.items()) if key
    ]


# --- roofline ----------------------------------------------------------------------------------------

_W, _H = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 18, 52


def roofline(report: Report) -> str:
    """Log-log: the roofs of stream and array, and where the run is; empty without known multiply-adds."""
    bound, fabric = report["limit"], report["fabric"]
    words = max(fabric["words_in"], fabric["words_out"])
    if not bound["multiply_adds"] or not words or bound["ratio"] is None:
        return ""
    x, y = bound["multiply_adds"] / words, 2 * bound["multiply_adds"] / fabric["cycles"]
    top = 2 * bound["macs_per_cycle"]
    slope = 2 * bound["words_per_cycle"]  # operations a cycle for each multiply-add a word
    corner = top / slope
    left, right = _decades(min(x, corner) / 3, max(x, corner) * 3)
    low, high = _decades(min(y / 2, slope * left), top * 1.5)

    def at(value: float) -> float:
        return _LEFT + (_W - _LEFT - _RIGHT) * (math.log10(value) - left_log) / (math.log10(right) - left_log)

    def up(value: float) -> float:
        part = (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return _H - _BOTTOM - (_H - _BOTTOM - _TOP) * part

    left_log = math.log10(left)
    start = max(left, low / slope)
    lines = []
    for value in _ticks(left, right):
        lines.append(
            f'<line class="grid" x1="{at(value):.1f}" x2="{at(value):.1f}" y1="{_TOP}" y2="{_H - _BOTTOM}"/>'
        )
        lines.append(
            f'<text x="{at(value):.1f}" y="{_H - _BOTTOM + 18}" text-anchor="middle">{value:g}</text>'
        )
    for value in _ticks(low, high):
        lines.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_W - _RIGHT}" y1="{up(value):.1f}" y2="{up(value):.1f}"/>'
        )
        lines.append(f'<text x="{_LEFT - 8}" y="{up(value) + 4.5:.1f}" text-anchor="end">{value:g}</text>')
    bends = ((start, slope * start), (corner, top), (right, top))
    roof = " ".join(f"{at(a):.1f},{up(b):.1f}" for a, b in bends)
    reach = min(top, slope * x)
    inside = at(x) > _W - 190
    label = f'x="{at(x) + (-10 if inside else 10):.1f}" text-anchor="{"end" if inside else "start"}"'
    angle = math.degrees(math.atan2(up(slope * start) - up(top), at(corner) - at(start)))
    middle = math.sqrt(start * corner)
    where = f"{at(middle):.1f} {up(slope * middle) - 8:.1f}"
    text = (
        f"{x:.1f} multiply-adds a word, {y:.1f} operations a cycle; "
        f"the roof there is {reach:.0f} operations a cycle"
    )
    stream = f"stream, {bound['words_per_cycle']} word{'s' if bound['words_per_cycle'] > 1 else ''} a cycle"
    parts = [
        f'<svg class="roofline" viewBox="0 0 {_W} {_H}" role="img" aria-label="{escape(text)}">',
        *lines,
        f'<polyline class="roof" points="{roof}"/>',
        f'<text class="name" transform="translate({where}) rotate({-angle:.1f})" text-anchor="middle">',
        f"{stream}</text>",
        f'<text class="name" x="{_W - _RIGHT - 4}" y="{up(top) - 8:.1f}" text-anchor="end">',
        f"array, {top} operations</text>",
        f'<line class="gap" x1="{at(x):.1f}" x2="{at(x):.1f}" y1="{up(reach):.1f}" y2="{up(y):.1f}"/>',
        f'<circle class="here" cx="{at(x):.1f}" cy="{up(y):.1f}" r="6"/>',
        f'<text class="point" {label} y="{up(y) + 5:.1f}">this run: {y:.1f}</text>',
        f'<text class="axis" x="{(_W + _LEFT - _RIGHT) / 2}" y="{_H - 10}" text-anchor="middle">',
        "multiply-adds a word</text>",
        f'<text class="axis" transform="translate(15 {(_H - _BOTTOM + _TOP) / 2}) rotate(-90)" ',
        'text-anchor="middle">operations a cycle</text></svg>',
        f'<p class="note">{escape(text)}: {reach / y:.2f} times this run.</p>',
    ]
    return "".join(parts)


def _decades(low: float, high: float) -> tuple[float, float]:
    """Powers of two around both."""
    return 2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high))


def _ticks(low: float, high: float) -> list[float]:
    first, last = round(math.log2(low)), round(math.log2(high))
    step = max(1, (last - first) // 6)
    return [2.0**power for power in range(first, last + 1, step)]
