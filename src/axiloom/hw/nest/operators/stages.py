"""Registers between the steps of an operator. They have no reset: what waits in them becomes shift registers.

A step's work stands between two cuts. An operator that is offered with several latencies leaves cuts out.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value


class Stages:
    """Signals of one operator, each named after it."""

    def __init__(self, m: Module, name: str) -> None:
        self.m = m
        self.name = name

    def wire(self, value: Value, label: str) -> Signal:
        """`value` under a name."""
        wire = Signal(value.shape(), name=f"{self.name}_{label}")
        self.m.d.comb += wire.eq(value)
        return wire

    def later(self, value: Value, label: str, cycles: int = 1) -> Value:
        """`value` of `cycles` cycles before."""
        for cycle in range(cycles):
            suffix = f"_{cycle + 1}" if cycles > 1 else ""
            register = Signal(value.shape(), name=f"{self.name}_{label}{suffix}", reset_less=True)
            self.m.d.sync += register.eq(value)
            value = register
        return value
