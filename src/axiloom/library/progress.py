"""What a long step is at, for a person: on a terminal a line that is overwritten, elsewhere a line for each
step that takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

Progress = Callable[[str], None]
LONG_S = 5.0
"""A step that takes longer is told where there is no terminal; again after each `AGAIN_S`."""
AGAIN_S = 60.0


def silent(_line: str) -> None:
    """Says nothing."""


def told(shown: bool = True) -> Progress:
    """What takes the lines of a long step; nothing is said where they are not to be `shown`."""
    if not shown:
        return silent
    return _overwritten if sys.stderr.isatty() else _IN_LOG


def _overwritten(line: str) -> None:
    print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


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


_IN_LOG = LongSteps()
"""One for the process, as a terminal has one line: a step ends the one before, whoever tells of it."""
