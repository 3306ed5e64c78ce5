"""The functional model of a MatMul: C[m,n] += A[m,k] B[k,n]."""

from __future__ import annotations

import numpy as np

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.kernels.forms import MATMUL, Array, matmul
from axiloom.isa.model.device import Device, DeviceError, StopError


class MatMulDevice(Device):
    """Every operand in its own order of dims; sizes are checked when they are set, all together."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._sum: Array | None = None  # in C's own dims; None while C is cleared

    def accept(self, names: list[str]) -> None:
        tile = tuple(self.sizes[d] for d in self.spec.dims)
        text = "x".join(map(str, tile))
        granule = tuple(self._granule.values())
        if any(size == 0 or size % unit for size, unit in zip(tile, granule, strict=True)):
            unit = "x".join(map(str, granule))
            raise StopError(DeviceError.BAD_DIMS, f"{text} is not a multiple of {unit}")
        for operand, capacity in self.spec.buffers.items():
            if self.spec.words_of(operand, self.shape(operand)) > capacity:
                why = f"{text}: {operand} does not fit its buffer of {capacity} words"
                raise StopError(DeviceError.BAD_DIMS, why)

    def compute(self, opcode: Opcode) -> None:
        self.inputs(opcode)
        if self._sum is None:
            self._sum = np.zeros(self.shape("C"), dtype=np.uint32)
        self.same_shape(opcode, "C", self._sum)
        product = matmul(self._ordered("A", self.loaded["A"]), self._ordered("B", self.loaded["B"]))
        self._sum = self._sum + self._ordered("C", product)

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._sum = None

    def result(self, opcode: Opcode) -> tuple[Array, int]:
        axis = self.spec.data["C"].index("n")
        if self._sum is None:
            return np.zeros(self.shape("C"), dtype=np.uint32), axis
        self.same_shape(opcode, "C", self._sum)
        return self._sum, axis

    def _ordered(self, operand: str, matrix: Array) -> Array:
        """The kernel's order of dims from the operand's own, or the reverse."""
        return matrix if self.spec.data[operand] == MATMUL.operands[operand] else matrix.T
