"""A chain of registers."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal


def delayed(m: Module, name: str, value: Any, cycles: int) -> Any:
    """`value` (of any shape) as it was `cycles` cycles ago."""
    for cycle in range(cycles):
        register = Signal(value.shape(), name=f"{name}_{cycle + 1}")
        m.d.sync += register.eq(value)
        value = register
    return value
