"""Numbers as people read them."""

from __future__ import annotations


def count(value: int) -> str:
    return f"{value:,}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def megahertz(hz: float) -> str:
    return f"{hz / 1e6:g} MHz"


def duration(seconds: float) -> str:
    """Three or four digits and the unit that fits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:,.3f} {unit}" if unit != "µs" else f"{seconds * factor:,.1f} µs"
    return f"{seconds * 1e9:,.0f} ns"


def size(value: float) -> str:
    """Bytes: ``1,028 B``, ``64 KiB``."""
    for factor, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= 4 * factor or (value >= factor and value % factor == 0):
            return f"{value / factor:,.4g} {unit}"
    return f"{value:,.0f} B"
