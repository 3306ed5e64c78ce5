"""Rows as a table of HTML, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The keys of the first row are the heading."""

    def cells(tag: str, values: Any) -> str:
        return "".join(f"<{tag}>{html.escape(_text(value))}</{tag}>" for value in values)

    body = "".join(f"<tr>{cells('td', row.values())}</tr>" for row in rows)
    return f"<table><tr>{cells('th', rows[0])}</tr>{body}</table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,.3f}" if isinstance(value, float) else str(value)
