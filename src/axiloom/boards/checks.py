"""What the numbers of a profile must be, beyond their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axiloom.base.errors import UsageError
from axiloom.boards import hosts
from axiloom.boards.hosts.host import Host

_CHOICES = {
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
    "fabric.port_bits": (32, 128),
    "coherent.bits": (32, 128),
}
_COST_LIMIT = 1_000
MOST_REGIONS = 8
REGION_BYTES = 1 << 20
_LIMIT = 2**32 - 1


def check(profile: Mapping[str, Any], where: str) -> None:
    """UsageError with the first key of `profile` (in the file `where`) that no such machine can have.

    `profile`: a board as a dictionary.
    """
    values = dict(_places(profile, ""))
    for place, accepted in {"cpu": tuple(hosts.every()), **_CHOICES}.items():
        if values[place] not in accepted:
            choice = f"{', '.join(accepted[:-1])} or {accepted[-1]}"
            raise UsageError(f"{where}: {place} must be {choice}, not {values[place]!r}")
    for place, value in values.items():
        if isinstance(value, (bool, str)):
            continue
        low, high = _LIMITS.get(place, (0, _COST_LIMIT if place.startswith("cost.") else _LIMIT))
        if not low <= value <= high:  # false for NaN, too
            raise UsageError(f"{where}: {place} must be {low:,} to {high:,}, not {value:,}")
    host = hosts.get(profile["cpu"])
    _check_caches(host, values, where)
    _check_uncached(host, profile, where)


def _check_caches(host: Host, values: dict[str, Any], where: str) -> None:
    caches = ("l1i", "l1d", "l2")[: host.cache_levels + 1]
    if "l2" not in caches and (values["caches.l2_size"] or values["caches.l2_ways"]):
        raise UsageError(f"{where}: caches.l2_size and l2_ways must be 0: {host} has no second level")
    for name in caches:
        size, ways = values[f"caches.{name}_size"], values[f"caches.{name}_ways"]
        if not (_power_of_two(size) and _power_of_two(ways) and size >= host.line_bytes * ways):
            raise UsageError(
                f"{where}: caches.{name}_size and {name}_ways must be powers of two, with a line of "
                f"{host.line_bytes} bytes in each way at least, not {size:,} and {ways}"
            )


def _check_uncached(host: Host, profile: Mapping[str, Any], where: str) -> None:
    regions = profile["uncached_memory"]
    if regions and not host.fixed_attributes:
        raise UsageError(
            f"{where}: uncached_memory: programs on {host} say so "
            "themselves, in the MMU's tables: leave it out"
        )
    number = len(regions)
    if number > MOST_REGIONS:
        raise UsageError(f"{where}: uncached_memory: at most {MOST_REGIONS} regions, not {number}")
    for region in regions:
        begin, size = region["address"], region["bytes"]
        if begin % REGION_BYTES or size % REGION_BYTES or not size or begin + size > profile["ram_bytes"]:
            what = f"not {size:,} bytes at 0x{begin:08x}"
            raise UsageError(f"{where}: uncached_memory: a region must be whole MiB of RAM, {what}")


def _places(values: Mapping[str, Any], section: str) -> list[tuple[str, Any]]:
    places: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            places += _places(value, f"{section}{name}.")
        elif value is not None and not isinstance(value, tuple):
            places.append((section + name, value))
    return places


def _power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
