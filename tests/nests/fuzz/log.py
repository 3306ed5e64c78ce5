"""A run in pieces: a file with a line of JSON for each block of programs that is done.

A block counts as done only for the code it went through: `code` is a hash of its sources.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import axiloom
from axiloom.base.cache import content_hash

BLOCK = 50
"""Programs, the first of which has a number that this divides."""
_ROOMS = (
    *("program", "poly", "schedule", "affine", "dataflow", "lower", "timing"),
    *("../hw/nest", "../isa/numerics", "../hw/verilog"),
)


def code() -> str:
    """A hash of all sources that programs go through, and of the tests'."""
    nests = Path(axiloom.__path__[0]) / "nests"
    folders = [nests / each for each in _ROOMS] + [Path(__file__).parent]
    files = sorted(file for folder in folders for file in folder.resolve().rglob("*.py"))
    return content_hash(*files)


@dataclass(frozen=True)
class Log:
    """`in_rtl`: so many of the circuits of a run of `seed` are to go through RTL, too."""

    file: Path
    seed: int
    in_rtl: int
    code: str

    def _lines(self) -> list[tuple[int, Counter[str]]]:
        """First program and counts of each block of this seed, code and part in RTL."""
        text = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        found: dict[int, Counter[str]] = {}
        for line in map(json.loads, text.splitlines()):
            if (line["seed"], line["rtl"], line["code"]) == (self.seed, self.in_rtl, self.code):
                found[line["first"]] = Counter(line["counts"])
        return sorted(found.items())

    def counts(self) -> Counter[str]:
        return sum((counts for _, counts in self._lines()), Counter())

    def done(self) -> set[int]:
        """The first program of each block that is done."""
        return {first for first, _ in self._lines()}

    def add(self, first: int, counts: Counter[str], programs: int) -> None:
        line = {"seed": self.seed, "first": first, "rtl": self.in_rtl, "code": self.code}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "counts": {**counts, "programs": programs}}) + "\n")
