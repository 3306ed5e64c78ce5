"""Ports by rules: how far each kind of rule is proved on each port, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from axiloom.prove.verdict import Answer, Verdict

KINDS = {
    "handshake": ("held",),
    "stable": ("stable",),
    "reset": ("reset",),
    "4 KiB": ("4k",),
    "lengths": ("size", "length", "wrap"),
    "last": ("last",),
    "strobes": ("strobes",),
    "order": ("asked", "early"),
    "under way": ("outstanding",),
    "answers": ("resp",),
    "answered": ("answered", "follows"),
    "at last": ("taken_live", "answered_live", "follows_live"),
}
"""Column to how the names of its rules end (:mod:`axiloom.hw.axi.rules`)."""
AGREED, HELPERS, COVERS = "agreed", "helpers", "covers"
"""Columns: what a neighbour relies on, lemmas, and covers that were seen."""


def matrix(verdicts: Sequence[Verdict], behind: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A line a port. `behind` names, for a whole, its outer ports and the ports whose proofs are theirs."""
    ports: dict[str, dict[str, list[Verdict]]] = {}
    for verdict in verdicts:
        place = f"{verdict.module}.{verdict.port}" if verdict.port else verdict.module
        ports.setdefault(place, {}).setdefault(_column(verdict), []).append(verdict)
    columns = [*KINDS, AGREED, HELPERS, COVERS]
    cells = {
        place: [_cell(by_column.get(column, []), column) for column in columns]
        for place, by_column in ports.items()
    }
    for module, named in behind.items():
        for port, who in named.items():
            if cells.pop(f"{module}.{port}", None):  # that it is joined to what is behind it
                cells[f"{module}.{port} = {who}"] = cells.get(who, ["not asked for"])
    rows = [["port", *columns], *([place, *cell] for place, cell in cells.items())]
    widths = [max(len(row[i]) for row in rows if len(row) > max(i, 2)) for i in range(len(columns) + 1)]
    widths[0] = max(len(row[0]) for row in rows)
    return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip() for row in rows]


def _column(verdict: Verdict) -> str:
    if verdict.answer in (Answer.SEEN, Answer.NEVER):
        return COVERS
    if not verdict.port:
        return HELPERS
    end = verdict.name.partition("_")[2]
    return next((kind for kind, ends in KINDS.items() if verdict.source and end in ends), AGREED)


def _cell(verdicts: Sequence[Verdict], column: str) -> str:
    """The weakest of the verdicts."""
    if not verdicts:
        return "-"
    if column == COVERS:
        return f"{sum(verdict.answer is Answer.SEEN for verdict in verdicts)}/{len(verdicts)}"
    for answer in (Answer.VIOLATED, Answer.OPEN):
        if any(verdict.answer is answer for verdict in verdicts):
            return answer.value
    bounds = [verdict.bound for verdict in verdicts if verdict.bound is not None]
    return f"{min(bounds)} cycles" if bounds else "always"
