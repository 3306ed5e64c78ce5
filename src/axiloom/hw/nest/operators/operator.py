"""`Operator`: what every operator says of itself. It starts an operation a cycle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from amaranth.hdl import Module, Value

from axiloom.hw.nest.operators import costs
from axiloom.hw.nest.operators.costs import Cost
from axiloom.hw.nest.operators.formats import Raw, bits_of

__all__ = ["Cost", "Operator", "Raw"]

_UNARY = ("neg", "abs", "not", "convert", "sqrt", "exp")


@dataclass(frozen=True)
class Operator(ABC):
    """`number` is the operands' format, `result` the result's; ``bool`` is one bit."""

    forms: ClassVar[str] = ""
    """What there is, for messages: ``add, sub: int8 to int64``."""

    registers_result: ClassVar[bool] = False
    """Whether a latency of 1 is that of 0 with a register behind it."""

    name: str
    number: str
    result: str
    latency: int
    """Cycles from operands to result; 0 is combinational."""

    @classmethod
    def latencies(cls, name: str, number: str, result: str) -> tuple[int, ...]:
        """Those that can be asked for, the default first; none if it is no operator of this class."""
        return ()

    @property
    def is_wired(self) -> bool:
        """Whether it is wires alone."""
        return False

    @property
    def operand_bits(self) -> list[int]:
        """Bits of each operand."""
        bits = bits_of(self.number)
        if self.name == "select":
            return [1, bits, bits]
        return [bits] * (1 if self.name in _UNARY else 2)

    @property
    def is_registered(self) -> bool:
        """Whether it is the one of latency 0 and a register behind it."""
        return self.latency == 1 and self.registers_result

    @property
    def cost(self) -> Cost:
        """Raises :exc:`UsageError` if it is not known."""
        if self.is_registered:
            alone = replace(self, latency=0).cost
            return replace(alone, ff=alone.ff + bits_of(self.result))
        if self.is_wired:
            return Cost()
        return costs.of(self.name, self.number, self.result, self.latency)

    @abstractmethod
    def reference(self, *operands: Raw) -> Raw:
        """Raw elements to raw elements, with the same bits as the RTL."""

    @abstractmethod
    def build(self, m: Module, name: str, *operands: Value) -> Value:
        """The result of raw `operands`, `latency` cycles later, in domain ``sync``. Signals begin with
        `name`."""
