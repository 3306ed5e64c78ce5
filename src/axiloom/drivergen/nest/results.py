"""What becomes of a product's results in memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Results:
    """What becomes of a product's results in C."""

    fresh: bool = False
    """They take the place of what was there, if they come back once each; else they are added to it."""
    bits: int | None = None
    """Of an element that the device rounds before it sends it; None: of an accumulator."""


ACCUMULATED = Results()
"""As sums, added to C."""
