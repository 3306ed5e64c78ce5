"""What must not happen in a circuit, watched by its RTL: ``debug_error`` tells which."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value

CHECK_BITS = 32


class Checks:
    """`texts` are the checks, in order. `enabled`: False leaves all out."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._bits: list[tuple[str, Value]] = []

    def never(self, what: str, bad: Value) -> None:
        """`bad` must not be high in any cycle."""
        if self.enabled:
            self._bits.append((what, bad))

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self._bits]

    @property
    def bits(self) -> list[Value]:
        return [bad for _, bad in self._bits]

    def build(self, m: Module) -> Signal:
        """Number of the first check that failed, from 1 on; 0 as long as none has."""
        error = Signal(CHECK_BITS, name="first_error")
        for index, (_, bad) in reversed([*enumerate(self._bits)]):
            with m.If(bad & (error == 0)):
                m.d.sync += error.eq(index + 1)
        return error
