"""Delay lines: registers without reset, so that they become shift registers in LUTs; one for each value."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal, Value


class Delays:
    """Values that are used later than they come."""

    def __init__(self, m: Module) -> None:
        self._m = m
        self._lines: dict[object, list[Value]] = {}

    def after(self, key: object, name: str, value: Value, cycles: int) -> Value:
        """`value` as it was `cycles` cycles ago. The same `key` is the same value."""
        if isinstance(value, Const) or cycles == 0:
            return value
        line = self._lines.setdefault(key, [value])
        while len(line) <= cycles:
            register = Signal(value.shape(), name=f"{name}_{len(line)}", reset_less=True)
            self._m.d.sync += register.eq(line[-1])
            line.append(register)
        return line[cycles]
