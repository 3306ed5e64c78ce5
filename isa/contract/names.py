"""Names in messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?`` where a known name is close, else nothing."""
    folded = {n.lower(): n for n in known}
    close = get_close_matches(name.lower(), folded, n=1)
    return f"; did you mean `{folded[close[0]]}`?" if close else ""


def listed(names: Iterable[str]) -> str:
    """``a, b, c``; ``none`` where there are none."""
    return ", ".join(names) or "none"
