"""The functional model of a copy: C[n] += A[n]."""

from __future__ import annotations

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.model.device import Device
from axiloom.isa.numerics import Values


class CopyDevice(Device):
    """The loaded words go out. A second compute without a clear adds them again."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._sum = self._zeros()

    def compute(self, opcode: Opcode) -> None:
        (loaded,) = self.inputs(opcode)
        self._sum = self.kind.accumulator.add(self._sum, self.kind.widen(loaded))

    def put(self, values: Values) -> None:
        self._sum = values

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._sum = self._zeros()

    def _zeros(self) -> Values:
        return self.kind.accumulator.zeros(self.shape("C"))

    def result(self, opcode: Opcode) -> tuple[Values, int]:
        return self._sum, 0
