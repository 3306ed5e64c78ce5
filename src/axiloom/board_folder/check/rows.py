"""A row of a check: a tool, what it read, what it found; and how a program is run for one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from axiloom.base import processes


@dataclass(frozen=True)
class Row:
    """A tool, the files it read, and what it found: `faults` is empty where all is well."""

    tool: str
    files: tuple[str, ...]
    faults: tuple[str, ...] = ()
    skipped: str = ""
    """Why the tool did not run; empty where it did."""
    warnings: tuple[str, ...] = ()
    """What it says of files of the user's own: shown, and no fault."""

    @property
    def outcome(self) -> str:
        if self.skipped:
            return "skipped"
        if self.faults:
            return f"{len(self.faults)} faults"
        return f"{len(self.warnings)} warnings" if self.warnings else "ok"


def names(folder: Path, *patterns: str) -> tuple[str, ...]:
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return tuple(sorted(path.relative_to(folder).as_posix() for path in paths))


def run(command: list[str], folder: Path, **environment: str) -> list[str]:
    """What a program complains of: nothing if it succeeds."""
    done = processes.run(command, cwd=folder, env={**os.environ, **environment})
    if done.returncode == 0:
        return []
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    told = [line for line in lines if "error" in line.lower()] or lines
    return told[:3] or [f"{Path(command[0]).name} ended with {done.returncode}"]
