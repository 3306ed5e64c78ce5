"""A roofline as SVG, log-log: two roofs, and where a run is. Colours come from page.css."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

_W, _H = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 18, 52


@dataclass(frozen=True)
class Roofs:
    """`x`: multiply-adds a word, `y`: `unit` a cycle of the run. `top` is the roof of what computes, `slope`
    that of what brings words, in `unit` a cycle for each multiply-add a word; `side` and `ceiling` name them.
    `resident`: the words are there already, so that only the roof of what computes holds."""

    x: float
    y: float
    top: float
    slope: float
    side: str
    ceiling: str
    unit: str = "operations"
    resident: bool = False


def draw(roofs: Roofs) -> str:
    x, y, top, slope, unit = roofs.x, roofs.y, roofs.top, roofs.slope, roofs.unit
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
    through = min(top, slope * x)
    reach = top if roofs.resident else through
    inside = at(x) > _W - 190
    label = f'x="{at(x) + (-10 if inside else 10):.1f}" text-anchor="{"end" if inside else "start"}"'
    angle = math.degrees(math.atan2(up(slope * start) - up(top), at(corner) - at(start)))
    middle = math.sqrt(start * corner)
    where = f"{at(middle):.1f} {up(slope * middle) - 8:.1f}"
    text = (
        f"{x:.1f} multiply-adds a word, {y:.1f} {unit} a cycle; "
        f"the roof {'of what computes' if roofs.resident else 'there'} is {reach:.0f} {unit} a cycle"
    )
    dashed = (
        f'<line class="gap" x1="{at(left):.1f}" x2="{at(corner):.1f}" y1="{up(top):.1f}" y2="{up(top):.1f}"/>'
    )
    behind = f" Through the {roofs.side}, at most {through:.1f} {unit} a cycle." if roofs.resident else ""
    parts = [
        f'<svg class="roofline" viewBox="0 0 {_W} {_H}" role="img" aria-label="{escape(text)}">',
        *lines,
        f'<polyline class="roof" points="{roof}"/>',
        *([dashed] if roofs.resident else []),
        f'<text class="name" transform="translate({where}) rotate({-angle:.1f})" text-anchor="middle">',
        f"{escape(roofs.side)}</text>",
        f'<text class="name" x="{_W - _RIGHT - 4}" y="{up(top) - 8:.1f}" text-anchor="end">',
        f"{escape(roofs.ceiling)}</text>",
        f'<line class="gap" x1="{at(x):.1f}" x2="{at(x):.1f}" y1="{up(reach):.1f}" y2="{up(y):.1f}"/>',
        f'<circle class="here" cx="{at(x):.1f}" cy="{up(y):.1f}" r="6"/>',
        f'<text class="point" {label} y="{up(y) + 5:.1f}">this run: {y:.1f}</text>',
        f'<text class="axis" x="{(_W + _LEFT - _RIGHT) / 2}" y="{_H - 10}" text-anchor="middle">',
        "multiply-adds a word</text>",
        f'<text class="axis" transform="translate(15 {(_H - _BOTTOM + _TOP) / 2}) rotate(-90)" ',
        f'text-anchor="middle">{unit} a cycle</text></svg>',
        f'<p class="note">{escape(text)}: {reach / y:.2f} times this run.{escape(behind)}</p>',
    ]
    return "".join(parts)


def _decades(low: float, high: float) -> tuple[float, float]:
    """Powers of two around both."""
    return 2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high))


def _ticks(low: float, high: float) -> list[float]:
    first, last = round(math.log2(low)), round(math.log2(high))
    step = max(1, (last - first) // 6)
    return [2.0**power for power in range(first, last + 1, step)]
