"""How a report looks on a terminal: colour where it is one, and only what counts with --quiet."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TextIO

LONG_S = 5.0
"""A step that takes longer is told where there is no terminal; again after each `AGAIN_S`."""
AGAIN_S = 60.0

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


class LongSteps:
    """Progress for a log (of CI, in a pipe): a line for each step that takes long, so that minutes are not
    silent and short runs are."""

    def __init__(self) -> None:
        self._line = ""
        self._since = 0.0
        self._lock = threading.Lock()
        self._begun = False

    def __call__(self, line: str) -> None:
        """What goes on now; empty: nothing. What stands behind a colon is how far a step is."""
        with self._lock:
            if line.partition(":")[0] != self._line.partition(":")[0]:
                self._since = time.monotonic()
            self._line = line
            if line and not self._begun:
                self._begun = True
                threading.Thread(target=self._tell, name="progress", daemon=True).start()

    def _tell(self) -> None:
        told, due = 0.0, 0.0
        while True:
            time.sleep(LONG_S / 10)
            with self._lock:
                line, since = self._line, self._since
            if since != told:
                told, due = since, since + LONG_S
            if line and time.monotonic() >= due:
                due = time.monotonic() + AGAIN_S
                print(
                    f"axiloom: {line} ({time.monotonic() - since:.0f} s so far)", file=sys.stderr, flush=True
                )


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
