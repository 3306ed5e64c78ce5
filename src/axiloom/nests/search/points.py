"""Points in a file of JSON lines, by their content: a second run finds them there.

A line: ``{"key": ..., "schedule": ..., "cycles": ..., "dsp": ..., "lut": ..., ...}``. The key is of the
program, the schedule and the version of the sources.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from axiloom.nests.program import Program
from axiloom.nests.resources import Amount
from axiloom.nests.search.exact import Exact, exact

ROOMS = ("lower", "timing", "resources", "schedule", "dataflow")
"""Whose sources decide the figures of a point."""


@cache
def version() -> str:
    """Changes with the sources that make a circuit of a schedule."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def key(program: Program, text: str) -> str:
    return hashlib.sha256(f"{version()}\n{program!r}\n{text}".encode()).hexdigest()[:24]


@dataclass
class Points:
    """`file` may be None: then points are kept in memory alone. A line that was cut off is left out."""

    program: Program
    file: Path | None = None
    known: dict[str, Exact] = field(default_factory=dict)
    made: int = 0

    def __post_init__(self) -> None:
        if self.file is None or not self.file.exists():
            return
        for line in self.file.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                self.known[row["key"]] = _read(row)
            except (ValueError, KeyError, TypeError):
                continue

    def __getitem__(self, text: str) -> Exact:
        """The point of a schedule: from the file, or made and written there."""
        name = key(self.program, text)
        if name not in self.known:
            self.add(name, exact(self.program, text))
        return self.known[name]

    def has(self, text: str) -> bool:
        return key(self.program, text) in self.known

    def add(self, name: str, point: Exact) -> None:
        self.known[name] = point
        self.made += 1
        if self.file is None:
            return
        line = json.dumps({"key": name, **_written(point)})
        start = "" if not self.file.exists() or self.file.read_bytes()[-1:] in (b"", b"\n") else "\n"
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{start}{line}\n")


def _written(point: Exact) -> dict[str, Any]:
    amount, other = point.amount, point.resident
    return {
        "schedule": point.text,
        "cycles": point.cycles,
        "ii": list(point.intervals),
        "dsp": amount.dsp,
        "lut": amount.lut,
        "ff": amount.ff,
        "bram36": amount.bram36,
        "resident_bram36": other.bram36,
        "fault": point.fault,
    }


def _read(row: dict[str, Any]) -> Exact:
    amount = Amount(row["dsp"], row["lut"], row["ff"], row["bram36"])
    resident = Amount(bram36=row["resident_bram36"])
    return Exact(row["schedule"], row["cycles"], amount, resident, tuple(row["ii"]), row["fault"])
