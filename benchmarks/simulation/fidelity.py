"""How far runs with the profile `pynq-z2-linux` are from the board, by configuration (docs/boards.md).

Half an hour of CPU time at first; traces are kept. Skipped where the measurements are not ($AXILOOM_DATA).
"""

from __future__ import annotations

from axiloom import cli


def main() -> None:
    """Print errors of the profile as it is, and of each configuration predicted by a fit without it."""
    cli.main(["calibrate", "--check"])
