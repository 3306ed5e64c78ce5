"""The ``rtl`` part of a specification: JSON to `RtlPorts` and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axiloom.isa.contract.rtl import RtlPorts

_TEXTS = ("clock", "reset")
_MAPS = ("parameters", "inputs", "constants", "registers")


def read_rtl(body: Mapping[str, Any]) -> RtlPorts:
    """The object of a file that keeps the schema."""
    numbers = {
        name: {key: _integer(value) for key, value in body.get(name, {}).items()}
        for name in _MAPS
        if name != "inputs"
    }
    return RtlPorts(
        clock=body.get("clock", ""),
        reset=body.get("reset", ""),
        reset_active_low=body.get("reset_active_low", True),
        starts_on_tlast=body.get("starts_on_tlast"),
        inputs=dict(body.get("inputs", {})),
        **numbers,
    )


def write_rtl(rtl: RtlPorts) -> dict[str, Any] | None:
    """What :func:`read_rtl` reads back; None where nothing is said."""
    written: dict[str, Any] = {name: text for name in _TEXTS if (text := getattr(rtl, name))}
    if not rtl.reset_active_low:
        written["reset_active_low"] = False
    if rtl.starts_on_tlast is not None:
        written["starts_on_tlast"] = rtl.starts_on_tlast
    written |= {name: dict(values) for name in _MAPS if (values := getattr(rtl, name))}
    if rtl.registers:
        written["registers"] = {name: f"0x{at:02x}" for name, at in rtl.registers.items()}
    return written or None


def _integer(value: int | str) -> int:
    return int(value, 16) if isinstance(value, str) else int(value)
