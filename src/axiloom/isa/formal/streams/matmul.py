"""The model of a MatMul: C[m,n] += A[m,k] B[k,n], one product a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import z3

from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.formal.streams.programs import StreamModel
from axiloom.isa.formal.streams.state import Bits, Refusals, at_most, product
from axiloom.isa.formal.streams.words import Values
from axiloom.isa.kernels.forms import CHANNELS


class MatMulModel(StreamModel):
    """Every operand in its own order of dims; sizes are checked when they are set, all together."""

    loops: Mapping[str, str] = {"m": "row", "n": "column", "k": "product"}
    dims_bits = WORD

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.begun = self.ila.register("C_begun", 1)

    def accepted(self, sizes: Mapping[str, Bits], names: Sequence[str]) -> z3.BoolRef:
        granules = self.spec.tile.granule or self.spec.tile.size
        # What fits a buffer is no larger than it along any dim: it follows, and is said for the provers.
        most = max(self.spec.buffers[o] * self.kind(o).per_word for o in self.spec.operands)
        parts = [
            z3.And(sizes[dim] != 0, z3.URem(sizes[dim], granule) == 0, z3.ULE(sizes[dim], most))
            for dim, granule in zip(self.spec.dims, granules, strict=True)
        ]
        return z3.And(*parts, *(self.fits(operand, sizes) for operand in self.spec.operands))

    def fits(self, operand: str, sizes: Mapping[str, Bits]) -> z3.BoolRef:
        capacity = self.spec.buffers[operand]
        if operand == CHANNELS:
            return at_most(self.beats(operand, sizes), capacity // self.spec.beat_words)
        each = self.kind(operand).per_word
        elements = product([sizes[dim] for dim in self.spec.data[operand]])
        return at_most(elements, capacity * each + each - 1)

    def refused(self) -> Refusals:
        return self.unsent()

    def factors(self) -> tuple[Bits, Bits]:
        a, b = (self.buffers[operand][self.place_of(operand)] for operand in "AB")
        return a, b

    def added(self, product: Bits) -> Values:
        memory, address = self.buffers["C"], self.place_of("C")
        fresh = z3.And(self.begun == 0, self.counters["k"] == 0)
        before = z3.If(fresh, z3.BitVecVal(0, WORD), memory[address])
        return {memory: z3.Store(memory, address, before + product)}

    def finished(self) -> Values:
        return {self.begun: 1}

    def begun_anew(self) -> Values:
        return self.laid("C")

    def unsent(self) -> Refusals:
        other = z3.And(self.begun == 1, z3.Not(self.same("C")))
        return [("mismatch", other, DeviceError.DIMS_MISMATCH)]

    def elements(self) -> Bits:
        return product([self.sizes[dim] for dim in self.spec.data["C"]])

    def element(self, at: Bits) -> Bits:
        return z3.If(self.begun == 1, self.buffers["C"][at], z3.BitVecVal(0, WORD))

    def cleared(self) -> Values:
        return {self.begun: 0}

    def invariants(self) -> None:
        """Sizes that were accepted fit the buffers."""
        self.ila.invariants["sizes fit"] = self.accepted(self.sizes, self.spec.dims)
