"""How many words the last run of a driver by hand moved, by which the progress of the next one is measured.

Nobody knows beforehand what such a driver will send. The count is kept by the places of its files, so that it
serves the driver after a change, too: progress need only be about right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from axiloom.base import cache

KIND = "last-runs"


def _key(drivers: Sequence[Path], about: str) -> str:
    return cache.content_hash(about, *(str(path.resolve()) for path in drivers))


def words(drivers: Sequence[Path], about: str) -> int:
    """Of the last run of these files; 0 if there was none. `about`: the accelerators and macros."""
    try:
        return int(cache.value(KIND, _key(drivers, about)))
    except cache.NotCachedError:
        return 0


def keep(drivers: Sequence[Path], about: str, moved: int) -> None:
    """For the next run."""
    cache.keep(KIND, _key(drivers, about), moved)
