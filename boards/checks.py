"""What the numbers of a profile must be, beyond their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axiloom.errors import UsageError

_CHOICES = {
    "cpu": ("cortex_a9", "cortex_a53"),
    "caches.replacement": ("random", "lru"),
    "simulation.dma_buffers": ("uncached", "cached", "coherent"),
    "events.l1d_events": ("separate", "accesses"),
}
FABRIC_HZ = (1_000_000, 2_000_000_000)
"""Clocks of a fabric that are accepted: slowest and fastest."""
_LIMITS = {
    "cpu_hz": (1_000_000, 10_000_000_000),
    "fabric_hz": FABRIC_HZ,
    "latency.predictor_bits": (1, 20),
    "latency.preloads": (1, 16),
}
_COST_LIMIT = 1_000
_LIMIT = 2**32 - 1


def check(profile: Mapping[str, Any], line_bytes: int, where: str) -> None:
    """UsageError with the first key of `profile` (in the file `where`) that no such machine can have.

    `profile`: a board as a dictionary; `line_bytes`: of a line of its caches, 0 if its CPU is unknown.
    """
    values = dict(_places(profile, ""))
    for place, accepted in _CHOICES.items():
        if values[place] not in accepted:
            choice = f"{', '.join(accepted[:-1])} or {accepted[-1]}"
            raise UsageError(f"{where}: {place} must be {choice}, not {values[place]!r}")
    for place, value in values.items():
        if isinstance(value, (bool, str)):
            continue
        low, high = _LIMITS.get(place, (0, _COST_LIMIT if place.startswith("cost.") else _LIMIT))
        if not low <= value <= high:  # false for NaN, too
            raise UsageError(f"{where}: {place} must be {low:,} to {high:,}, not {value:,}")
    for name in ("l1i", "l1d", "l2"):
        size, ways = values[f"caches.{name}_size"], values[f"caches.{name}_ways"]
        if not (_power_of_two(size) and _power_of_two(ways) and size >= line_bytes * ways):
            raise UsageError(
                f"{where}: caches.{name}_size and {name}_ways must be powers of two, with a line of "
                f"{line_bytes} bytes in each way at least, not {size:,} and {ways}"
            )


def _places(values: Mapping[str, Any], section: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += _places(value, f"{section}{name}.")
        elif value is not None:
            found.append((section + name, value))
    return found


def _power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
