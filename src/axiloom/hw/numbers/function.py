"""`Function`: a function of bit patterns as a pipeline that takes operands in each cycle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from amaranth.hdl import Module, Value


class Function(ABC):
    """`external` is its name in texts; operands have `operand_bits`, the result `result_bits`."""

    external: ClassVar[str]
    operand_bits: ClassVar[tuple[int, ...]]
    result_bits: ClassVar[int]
    latency: ClassVar[int]
    """Cycles from operands to result; 0 is combinational."""

    @abstractmethod
    def build(self, m: Module, name: str, *operands: Value) -> Value:
        """The result of `operands`, `latency` cycles later, in domain ``sync``. Signals begin with `name`."""
