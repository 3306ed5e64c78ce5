"""Tables as text."""

from __future__ import annotations

from collections.abc import Iterable


def columns(rows: Iterable[tuple[str, ...]], align: str) -> list[str]:
    """Lines with the cells of a table under each other; `align`: `<` or `>` for each column."""
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(align))]
    return [
        "  ".join(
            cell.rjust(width) if side == ">" else cell.ljust(width)
            for cell, width, side in zip(row, widths, align, strict=True)
        ).rstrip()
        for row in rows
    ]
