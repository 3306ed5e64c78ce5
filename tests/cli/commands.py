"""Command lines of ``axiloom``, and as ``bench`` those of ``python -m benchmarks.paper``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.paper import __main__ as paper

from axiloom import cli


def main(words: Sequence[str]) -> int:
    """The exit code of a command line."""
    return paper.main(words[1:]) if words[0] == "bench" else cli.main(words)


def keywords(*words: str) -> dict[str, Any]:
    """What a command line calls its applet with."""
    values = vars(cli.parser(words[0]).parse_args(words))
    taken: dict[str, Any] = values["applet"].taken(values)
    return taken
