"""Libraries that a wheel brings already built: half a minute of a compiler less before the first result.

:mod:`tools.prebuilt` makes them. One is taken only where it was made of the same sources and flags, and for
the same Unicorn, as this installation has; else, and in a checkout, it is compiled at first use.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "prebuilt"
KEYS = "keys.json"
"""Name of a library to the key of what it was made of."""


def find(library: str, key: str) -> Path | None:
    """The library called `library` of the wheel, if it was made of what `key` is the hash of."""
    try:
        keys = json.loads((FOLDER / KEYS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    path = FOLDER / library
    return path if keys.get(library) == key and path.is_file() else None
