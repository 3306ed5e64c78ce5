"""A roofline, log-log: two roofs, and where a run is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from axiloom.report.page.svg import HALF, LETTER, Drawing, fitted

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 18, 46


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

    @property
    def through(self) -> float:
        """What the words that come in allow."""
        return min(self.top, self.slope * self.x)

    @property
    def reach(self) -> float:
        return self.top if self.resident else self.through


def draw(roofs: Roofs) -> str:
    """The picture, and what it says in a sentence."""
    behind = (
        f" Through the {roofs.side}, at most {roofs.through:.1f} {roofs.unit} a cycle."
        if roofs.resident
        else ""
    )
    said = f"{_text(roofs)}: {roofs.reach / roofs.y:.2f} times this run.{behind}"
    return fitted(lambda width: _drawn(roofs, width), HALF) + f'<p class="note">{escape(said)}</p>'


def _text(roofs: Roofs) -> str:
    where = "of what computes" if roofs.resident else "there"
    return (
        f"{roofs.x:.1f} multiply-adds a word, {roofs.y:.1f} {roofs.unit} a cycle; "
        f"the roof {where} is {roofs.reach:.0f} {roofs.unit} a cycle"
    )


def _drawn(roofs: Roofs, width: int) -> Drawing:
    height = 310
    drawing = Drawing(width, height, _text(roofs))
    corner = roofs.top / roofs.slope
    left, right = _decades(min(roofs.x, corner) / 3, max(roofs.x, corner) * 3)
    low, high = _decades(min(roofs.y / 2, roofs.slope * left), roofs.top * 1.5)

    def at(value: float) -> float:
        return _LEFT + (width - _LEFT - _RIGHT) * math.log(value / left) / math.log(right / left)

    def up(value: float) -> float:
        return height - _BOTTOM - (height - _BOTTOM - _TOP) * math.log(value / low) / math.log(high / low)

    for value in _ticks(left, right):
        drawing.line(at(value), _TOP, at(value), height - _BOTTOM)
        drawing.text(at(value), height - _BOTTOM + 18, _spelled(value), anchor="middle")
    for value in _ticks(low, high):
        drawing.line(_LEFT, up(value), width - _RIGHT, up(value))
        drawing.text(_LEFT - 7, up(value) + 4.5, _spelled(value), anchor="end")
    start = max(left, low / roofs.slope)
    bends = ((start, roofs.slope * start), (corner, roofs.top), (right, roofs.top))
    drawing.path([(at(x), up(y)) for x, y in bends], "roof")
    if roofs.resident:
        drawing.line(at(left), up(roofs.top), at(corner), up(roofs.top), "gap")
    angle = math.degrees(math.atan2(up(roofs.slope * start) - up(roofs.top), at(corner) - at(start)))
    middle = math.sqrt(start * corner)
    x, y = at(middle), up(roofs.slope * middle)
    if x - _LEFT > LETTER * len(roofs.side) / 2 * math.cos(math.radians(angle)):
        drawing.turned(x - 6, y - 9, -angle, roofs.side, "name")
    else:  # along a short slope it would go over the axis
        drawing.text(x + 14, y + 14, roofs.side, "name")
    drawing.text(width - _RIGHT - 4, up(roofs.top) - 8, roofs.ceiling, "name", "end")
    drawing.line(at(roofs.x), up(roofs.reach), at(roofs.x), up(roofs.y), "gap")
    drawing.dot(at(roofs.x), up(roofs.y), "here")
    inside = at(roofs.x) > width - 130
    beside = at(roofs.x) + (-11 if inside else 11)
    drawing.text(beside, up(roofs.y) + 5, f"this run: {roofs.y:.1f}", "point", "end" if inside else "start")
    drawing.text((width + _LEFT - _RIGHT) / 2, height - 8, "multiply-adds a word", anchor="middle")
    drawing.turned(13, (height - _BOTTOM + _TOP) / 2, -90, f"{roofs.unit} a cycle", "")
    return drawing


def _decades(low: float, high: float) -> tuple[float, float]:
    """Powers of two around both."""
    return 2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high))


def _spelled(power: float) -> str:
    return f"{power:g}" if power >= 1 else f"1/{1 / power:g}"


def _ticks(low: float, high: float) -> list[float]:
    first, last = round(math.log2(low)), round(math.log2(high))
    step = -(-(last - first) // 8)
    return [2.0**power for power in range(first, last + 1, step)]
