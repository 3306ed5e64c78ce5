"""Drawings as SVG, in pixels, so that a text is as large on a telephone as on a screen.

A function draws at a width that it is given; `fitted` puts a wide and a narrow picture on the page, of which
page.css shows one. Colours come from page.css.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from html import escape

WIDE, HALF, NARROW = 1056, 500, 352
"""What a section, one of two beside each other, and a section on a telephone have room for."""
LETTER = 7.0
"""About the width of a letter, at 13 pixels."""
_REGULAR = 0.85
"""... of its width in bold type."""

Points = Iterable[tuple[float, float]]


class Drawing:
    """Shapes on a ground of `width` and `height`; `text` is for those who cannot see it. `kind` is a class of
    page.css, `colour` one of its variables."""

    def __init__(self, width: float, height: float, text: str) -> None:
        self.width, self.height, self.alt = width, height, text
        self._parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> None:
        self._parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def path(self, points: Points, kind: str) -> None:
        shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polyline class="{kind}" points="{shape}"/>')

    def area(self, points: Points, colour: str, title: str) -> None:
        shape = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polygon points="{shape}" style="fill:var(--{colour})"><title>{escape(title)}</title></polygon>'
        )

    def bar(self, x: float, y: float, width: float, height: float, colour: str, title: str) -> None:
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.6):.1f}" height="{height:.1f}" '
            f'style="fill:var(--{colour})"><title>{escape(title)}</title></rect>'
        )

    def box(self, x: float, y: float, width: float, height: float, kind: str, title: str = "") -> None:
        self._parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4">'
            f"<title>{escape(title)}</title></rect>"
        )

    def dot(self, x: float, y: float, kind: str, title: str = "", radius: float = 6) -> None:
        self._parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"><title>{escape(title)}</title>'
            "</circle>"
        )

    def text(
        self, x: float, y: float, text: str, kind: str = "", anchor: str = "start", room: float = math.inf
    ) -> None:
        """With its base line at `y`; cut to `room` pixels, with the whole as a title."""
        short = cut(text, room * _REGULAR if kind == "point" else room)
        title = f"<title>{escape(text)}</title>" if short != text else ""
        if short:
            self._parts.append(
                f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(short)}{title}'
                "</text>"
            )

    def turned(self, x: float, y: float, angle: float, text: str, kind: str) -> None:
        """Around its middle, in degrees."""
        self._parts.append(
            f'<text class="{kind}" transform="translate({x:.1f} {y:.1f}) rotate({angle:.1f})" '
            f'text-anchor="middle">{escape(text)}</text>'
        )

    def __str__(self) -> str:
        return (
            f'<svg class="drawing" viewBox="0 0 {self.width:g} {self.height:.0f}" role="img" '
            f'aria-label="{escape(self.alt)}">{"".join(self._parts)}</svg>'
        )


def fitted(draw: Callable[[int], Drawing], wide: int = WIDE) -> str:
    """The picture at two widths, of which a screen shows the one that fits."""
    return f'<div class="wide">{draw(wide)}</div><div class="narrow">{draw(NARROW)}</div>'


def cut(text: str, room: float) -> str:
    """What of `text` fits in `room` pixels; empty where next to nothing does."""
    letters = room / (1.1 * LETTER)  # names have more figures and capitals than sentences
    if len(text) <= letters:
        return text
    return f"{text[: int(letters) - 1]}…" if letters >= 4 else ""


def wrapped(text: str, room: float) -> list[str]:
    """In lines that fit in `room` pixels."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) * LETTER <= room or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def scale(end: float, most: int, least: float = 1) -> Iterator[float]:
    """Round numbers from 0 to `end`, about `most` of them: 1, 2 or 5 times a power of ten apart."""
    power = 10.0 ** math.floor(math.log10(max(end, 1e-9) / most))
    step = max(next(factor * power for factor in (1, 2, 5, 10) if factor * power * most >= end), least)
    yield from (round(n * step, 9) for n in range(int(end / step + 1e-9) + 1))
