"""The functional model of a MatMul: C[m,n] += A[m,k] B[k,n].

Each product is added to what C holds so far, k ascending, from compute to compute: where sums are rounded
(:attr:`axiloom.isa.numerics.Numerics.associative`), this is the order that counts.
"""

from __future__ import annotations

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode
from axiloom.isa.kernels.forms import MATMUL
from axiloom.isa.model.device import Device, DeviceError, StopError
from axiloom.isa.numerics import Values


class MatMulDevice(Device):
    """Every operand in its own order of dims; sizes are checked when they are set, all together."""

    def __init__(self, spec: AcceleratorSpec) -> None:
        super().__init__(spec)
        self._sum: Values | None = None  # in C's own dims; None while C is cleared

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
            self._sum = self.kind.accumulator.zeros(self.shape("C"))
        self.same_shape(opcode, "C", self._sum)
        a, b = (self._ordered(operand, self.loaded[operand]) for operand in "AB")
        self._sum = self._ordered("C", self.kind.dot(self._ordered("C", self._sum), a, b))

    def put(self, values: Values) -> None:
        self._sum = values

    def save(self) -> None:
        raise NotImplementedError  # refused by the check

    def clear(self) -> None:
        self._sum = None

    def result(self, opcode: Opcode) -> tuple[Values, int]:
        axis = self.spec.data["C"].index("n")
        if self._sum is None:
            return self.kind.accumulator.zeros(self.shape("C")), axis
        self.same_shape(opcode, "C", self._sum)
        return self._sum, axis

    def _ordered(self, operand: str, matrix: Values) -> Values:
        """The kernel's order of dims from the operand's own, or the reverse."""
        return matrix if self.spec.data[operand] == MATMUL.operands[operand] else matrix.T
