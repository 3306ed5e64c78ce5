"""What ``axiloom explore`` prints and writes of the drivers it found."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from typing import Any

from axiloom.explore.explore import Exploration, Row


def _cells(row: Row) -> dict[str, Any]:
    choice, candidate = row.choice, row.choice.candidate
    return {
        "flow": candidate.flow,
        "loops": ",".join(candidate.order),
        "tile": "x".join(map(str, candidate.tile)),
        "pipeline": choice.pipeline,
        "predicted_ms": round(choice.seconds * 1e3, 4),
        "words": choice.words,
        "limit_ratio": round(choice.limit_ratio, 3),
        "simulated_ms": None if row.simulated is None else round(row.simulated * 1e3, 4),
        "error_percent": (
            None if row.simulated is None else round(100 * (choice.seconds / row.simulated - 1), 2)
        ),
        "simulated_limit_ratio": row.simulated_ratio,
        "names": list(row.names),
        "error": row.error,
    }


def as_json(one: Exploration) -> dict[str, Any]:
    return {
        "problem": one.problem,
        "accelerator": one.spec.name,
        "board": one.board,
        "candidates": one.candidates,
        "model_seconds": round(one.seconds, 3),
        "chosen": _cells(one.chosen),
        "rows": [_cells(row) for row in one.rows],
    }


def as_csv(found: Sequence[Exploration]) -> str:
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for one in found:
        for row in one.rows:
            cells = {"problem": one.problem, "chosen": int(row is one.chosen), **_cells(row)}
            cells["names"] = "; ".join(row.names)
            if writer is None:
                writer = csv.DictWriter(text, list(cells), lineterminator="\n")
                writer.writeheader()
            writer.writerow(cells)
    return text.getvalue()


def table(one: Exploration) -> str:
    """The rows as people read them; the chosen one has a star."""
    head = ["", "flow", "loops", "tile", "pipeline", "predicted", "words", "limit"]
    simulated = any(row.simulated is not None or row.error for row in one.rows)
    if simulated:
        head += ["simulated", "model", "limit"]
    lines = [[*head, ""]]
    for row in one.rows:
        cells = _cells(row)
        line = [
            "*" if row is one.chosen else "",
            cells["flow"],
            cells["loops"],
            cells["tile"],
            cells["pipeline"],
            f"{cells['predicted_ms']:.3f} ms",
            f"{cells['words']:,}",
            f"{cells['limit_ratio']:.2f}x",
        ]
        if simulated and row.simulated is not None:
            line += [
                f"{cells['simulated_ms']:.3f} ms",
                f"{cells['error_percent']:+.1f} %",
                f"{row.simulated_ratio or 0:.2f}x",
            ]
        elif simulated:
            line += ["failed" if row.error else "", "", ""]
        lines.append([*line, row.error or ", ".join(row.names)])
    text = _aligned(lines, left={0, 1, 2, 3, 4, len(lines[0]) - 1})
    title = (
        f"{one.problem} on {one.spec.name}, {one.board}: {one.candidates:,} candidates in {one.seconds:.2f} s"
    )
    return "\n".join([title, *text])


def _aligned(lines: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
