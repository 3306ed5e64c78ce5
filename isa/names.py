"""What to say about a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?`` where a known name is close, else nothing."""
    names = list(known)
    folded = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), folded, n=1)
    return f"; did you mean `{folded[close[0]]}`?" if close else ""
