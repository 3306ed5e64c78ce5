"""Command lines of ``axiloom``, and as ``bench`` those of ``python -m benchmarks.paper``."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.paper import __main__ as paper

from axiloom import cli


def main(words: Sequence[str]) -> int:
    """The exit code of a command line."""
    return paper.main(words[1:]) if words[0] == "bench" else cli.main(words)
