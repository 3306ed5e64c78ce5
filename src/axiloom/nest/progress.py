"""`Steps`: what a long run is at, and how long that may still take.

Seconds per unit of work (a node of a circuit, a byte of Verilog, a cycle) are kept from earlier runs in the
cache folder. They only serve progress lines: no result depends on them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from axiloom.base.cache import NotCachedError, content_hash, keep, value

Say = Callable[[str], None]
KIND = "nest-seconds"
_EVERY = 1.0
"""Seconds between two lines."""
_SHORTEST = 0.5
"""Seconds of a step from which its rate is remembered: a shorter one came from the cache."""


class Steps:
    """Says lines by `say`, which overwrites the one before."""

    def __init__(self, say: Say) -> None:
        self._say = say

    @contextmanager
    def step(self, what: str, kind: str, size: float) -> Iterator[None]:
        """While it lasts: `what`, the seconds so far, and those left if `kind` has been seen. `size` is how
        much work it is, in units of its kind."""
        known = _known(kind)
        whole = None if known is None else known * size
        begin, over = time.perf_counter(), threading.Event()

        def tick() -> None:
            while not over.wait(_EVERY):
                self._say(line(what, time.perf_counter() - begin, whole))

        self._say(line(what, 0, whole))
        teller = threading.Thread(target=tick, daemon=True)
        teller.start()
        try:
            yield
        finally:
            over.set()
            teller.join()
        if (took := time.perf_counter() - begin) >= _SHORTEST and size:
            _remember(kind, took / size)

    def end(self) -> None:
        self._say("")


def line(what: str, seconds: float, whole: float | None) -> str:
    """``compiling the simulation: 12 s, about 30 s left``."""
    if whole is None or whole < 1:
        return f"{what}: {seconds:.0f} s" if seconds >= 1 else what
    left = whole - seconds
    rest = f"about {left:.0f} s left" if left >= 1 else f"longer than the {whole:.0f} s it took before"
    return f"{what}: {seconds:.0f} s, {rest}"


def _known(kind: str) -> float | None:
    try:
        return float(value(KIND, content_hash(kind)))
    except NotCachedError:
        return None


def _remember(kind: str, rate: float) -> None:
    """The mean of this rate and the one known. Two runs at once may lose one of theirs, and no more."""
    known = _known(kind)
    keep(KIND, content_hash(kind), rate if known is None else (known + rate) / 2)


SILENT = Steps(lambda _: None)
