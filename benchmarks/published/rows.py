"""A line of the table, and a command of `axiloom` with what it said."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from axiloom.cli import main as axiloom


@dataclass(frozen=True)
class Row:
    """What became of one input."""

    kind: str
    name: str
    verdict: str
    said: str

    @property
    def unchanged(self) -> bool:
        return self.verdict == "unchanged"


def run(words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = axiloom(words)
    return code, out.getvalue(), err.getvalue()


def last_line(err: str) -> str:
    """What a command said at its end, without the notes."""
    lines = [line for line in err.splitlines() if line and not line.startswith("note:")]
    return lines[-1].removeprefix("axiloom: ") if lines else ""
