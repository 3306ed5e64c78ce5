"""Are the sizes of a MatMul tile ones that the engine can take?"""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.matmul.geometry import Geometry


class TileCheck(wiring.Component):
    """Looks at `dims` when they are `set`; one cycle later `settled` tells that `sound` is the verdict: all
    are multiples of the granule, and every operand's tile fits its buffer.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        super().__init__(
            {"dims": In(geometry.sizes_layout), "set": In(1), "settled": Out(1), "sound": Out(1)}
        )

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    def elaborate(self, platform: object) -> Module:
        m = Module()
        multiples = Signal()
        m.d.sync += [
            self.settled.eq(self.set),
            multiples.eq(_all(self._is_size(index) for index in range(3))),
        ]
        fits = []
        for i, j, limit in self.geometry.limits:
            sizes = self.dims["mnk"[i]], self.dims["mnk"[j]]
            product = Signal(sum(map(len, sizes)), name=f"product_{'mnk'[i]}{'mnk'[j]}")
            m.d.sync += product.eq(sizes[0] * sizes[1])
            fits.append(product <= limit)
        m.d.comb += self.sound.eq(multiples & _all(fits))
        return m

    def _is_size(self, index: int) -> Value:
        size = self.dims["mnk"[index]]
        granule, largest = self.geometry.granule[index], self.geometry.largest[index]
        in_range = (size != 0) & (size <= largest)
        if granule & (granule - 1) == 0:
            return in_range & (size[: granule.bit_length() - 1] == 0)
        # No remainder in hardware: a table of the sizes that are multiples.
        multiples = sum(1 << multiple for multiple in range(granule, largest + 1, granule))
        return in_range & Const(multiples, largest + 1).bit_select(size[: largest.bit_length()], 1)


def _all(values: Iterable[Value]) -> Value:
    return Cat(values).all()
