"""The page of a search for schedules: cycles against what the circuits take of a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from axiloom.report.nest.build import DEVICES, NAMES
from axiloom.report.numbers import count
from axiloom.report.page import front, parts
from axiloom.report.page.document import document

Data = Mapping[str, Any]
FRONT = (
    "A point is a circuit: what it takes of the part, against its exact cycles with resident arrays. Filled: "
    "the fewest cycles. The resource is the one of which the fastest takes the largest share."
)


def render(rows: Sequence[Data], name: str, part: str, bound: int) -> str:
    """`rows`: cycles, resources by the names of :data:`NAMES`, intervals and schedule of each circuit."""
    title = f"{name} on {part}"
    sections = [_header(rows, escape(title), bound)]
    if rows:
        picture = _picture(rows, part) + _table(rows)
        sections.append(parts.section("front", "Circuits", picture, FRONT))
        fastest = min(rows, key=lambda row: row["cycles"])
        schedule = f'<pre class="code"><code>{escape(fastest["schedule"]) or "as written"}</code></pre>'
        sections.append(parts.section("schedule", "The fastest schedule", schedule, ""))
    return document(title, sections)


def _header(rows: Sequence[Data], title: str, bound: int) -> str:
    if not rows:
        return parts.head(title, "", ("wrong", "Nothing that was tried can be built."), [], "")
    fastest, slowest = (pick(row["cycles"] for row in rows) for pick in (min, max))
    tiles = [
        ("fewest cycles", count(fastest), f"nothing in the searched space takes fewer than {count(bound)}"),
        ("on the front", count(len(rows)), f"up to {count(slowest)} cycles"),
    ]
    text = f"{count(fastest)} cycles, {fastest / max(bound, 1):.2f} times the search's bound."
    return parts.head(title, "", ("open", text), tiles, "")


def _picture(rows: Sequence[Data], part: str) -> str:
    fastest = min(rows, key=lambda row: row["cycles"])
    limits = DEVICES[part]
    scarce = max(NAMES, key=lambda name: fastest[name] / getattr(limits, name))
    points = [
        front.Point(row[scarce], row["cycles"], f"intervals {row['intervals']}", row is fastest)
        for row in rows
    ]
    return front.draw(points, NAMES[scarce], "cycles")


def _table(rows: Sequence[Data]) -> str:
    cells = [
        (
            escape(f"intervals {row['intervals']}"),
            count(row["cycles"]),
            *(f"{row[name]:,g}" for name in NAMES),
        )
        for row in rows
    ]
    return parts.table(("circuit", "cycles", *NAMES.values()), cells, "cards")
