"""Names in messages."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from difflib import get_close_matches
from itertools import chain, count

_LONGEST_MESSAGE = 1000
_LONGEST = 80
"""Characters of a user's text that a message repeats."""


def shortened(text: str) -> str:
    """A user's text as a message repeats it: its begin, where it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def printable(text: str) -> str:
    """A message on one line, whatever a user wrote: other characters as their escapes, its end left out."""
    text = text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def number(text: str) -> int:
    """The integer that digits say; some number of 19 digits where they are more.

    Python converts no more than 4,300 digits, and nobody here takes a number of 19.
    """
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) < 19 else 10**18


def hint(name: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?`` where a known name is close, else nothing."""
    if len(name) > _LONGEST:
        return ""
    folded = {n.lower(): n for n in known}
    close = get_close_matches(name.lower(), folded, n=1)
    return f"; did you mean `{folded[close[0]]}`?" if close else ""


def listed(names: Iterable[str]) -> str:
    """``a, b, c``; ``none`` where there are none."""
    return ", ".join(names) or "none"


def free_name(name: str, taken: Container[str], ending: Callable[[int], str] = "_".__mul__) -> str:
    """`name` if it is free, else with the first of the endings 1, 2 ... that makes it so (of lines)."""
    candidates = chain((name,), (name + ending(number) for number in count(1)))
    return next(candidate for candidate in candidates if candidate not in taken)
