"""How a report looks on a terminal: colour where it is one, and only what counts with --quiet."""

from __future__ import annotations

import os
import sys
from typing import TextIO

BOLD, RED, GREEN, YELLOW, PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
STARTS = (
    ("Result: WRONG", BOLD + RED),
    ("Diagnosis:", RED),
    ("Result: exit code", BOLD),
    ("Result:", BOLD + GREEN),
    ("Time:", BOLD),
    ("Stale data:", YELLOW),
    ("Outside:", YELLOW),
)
"""How a line begins, and its colour; the first that fits."""


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether `stream` (default: standard output) is a terminal, and nobody asked for none (NO_COLOR)."""
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: bool) -> str:
    """`text` with its result and its headings in colour; as it is without `colour`."""
    if not colour:
        return text
    lines = text.split("\n")
    below = [*lines[1:], ""]
    return "\n".join(_line(line, after) for line, after in zip(lines, below, strict=True))


def _line(line: str, after: str) -> str:
    style = next((code for start, code in STARTS if line.startswith(start)), None)
    if style is None and line and not line.startswith(" ") and after.startswith("  "):
        style = BOLD  # a heading: its table is indented
    return f"{style}{line}{PLAIN}" if style else line
