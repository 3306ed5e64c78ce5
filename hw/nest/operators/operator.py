"""`Operator`: what every operator says of itself. It starts an operation a cycle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Module, Value

Raw = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Cost:
    """On a 7-series part, by Yosys."""

    dsp: int = 0
    lut: int = 0
    ff: int = 0


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
    def cost(self) -> Cost:
        """Raises :exc:`UsageError` if it is not known."""
        from axiloom.hw.nest.operators import costs  # it has formats, which know this class

        return costs.of(self)

    @abstractmethod
    def reference(self, *operands: Raw) -> Raw:
        """Raw elements to raw elements, with the same bits as the RTL."""

    @abstractmethod
    def build(self, m: Module, name: str, *operands: Value) -> Value:
        """The result of raw `operands`, `latency` cycles later, in domain ``sync``. Signals begin with
        `name`."""
