"""Two products of int8 that share a factor, out of one multiplier of 25 x 18 bits.

::

    ((high << 16) + low) * shared + (1 << 15)

The low product is in -2^14 + 2^7 .. 2^14. With 2^15 added it is in 0 .. 2^16 - 1 and borrows nothing from the
high one: bits 31..16 are the high product as they are, bits 15..0 the low one with bit 15 inverted. Both
factors packed take 25 bits, all that a DSP48E1 has; it adds the constant itself (port C).

Two products of int8 share a multiplier. Neighbouring columns are packed 16 bits apart, once above the
first row, so the array keeps its latency, its skew and its drain of a row a cycle. 2^15 is added to the
low product: then it borrows nothing from the high one, and a DSP48E1 adds it without a LUT. 17 bits
between the two would not fit its 25 bits. Sums are as wide as the longest k needs, 16 + log2(k) bits,
instead of 32. That saves a quarter of the array's LUTs. int16 does not pack. A solver proves both
products of the Verilog for all factors. It found that Yosys reads an expression connected to a port no
wider than its operands: the high factor lost its ninth bit there and nowhere else, so that simulation was
right and the bitstream would not have been. The Verilog has no such expressions any more.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

BITS = 8
PRODUCT_BITS = 2 * BITS
HELD_BITS = 2 * BITS + 1
"""Bits of two factors side by side: the low one, and the high one less one if the low one is negative."""


def packed(low: Value, high: Value) -> Value:
    """Two factors as many multipliers hold them, `HELD_BITS` wide."""
    low, high = low.as_signed(), high.as_signed()
    return Cat(low, (high - low[-1])[: HELD_BITS - BITS])


def sum_bits(longest: int) -> int:
    """Bits of a signed sum of `longest` numbers as wide as a product."""
    return PRODUCT_BITS + ceil_log2(longest)


def products(both: Value) -> tuple[Value, Value]:
    """The low and the high product out of what a multiplier gives."""
    low, high = both[:PRODUCT_BITS], both[PRODUCT_BITS:]
    return Cat(low[:-1], ~low[-1]).as_signed(), high.as_signed()


class PairMultiplier(wiring.Component):
    """`both`: the factors of `pair` (see :func:`packed`) times `shared`, two cycles later.

    What comes out is one register, as engineers read it, and so do the tools that find equal modules;
    :func:`products` takes it apart.
    """

    def __init__(self) -> None:
        super().__init__({"pair": In(HELD_BITS), "shared": In(signed(BITS)), "both": Out(2 * PRODUCT_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sign = self.pair[BITS - 1].replicate(PRODUCT_BITS - BITS)
        factor = Cat(self.pair[:BITS], sign, self.pair[BITS:]).as_signed()
        full = Signal(signed(len(factor) + BITS), reset_less=True)
        both = Signal(2 * PRODUCT_BITS, reset_less=True)
        m.d.sync += [full.eq(factor * self.shared), both.eq(full + (1 << PRODUCT_BITS - 1))]
        m.d.comb += self.both.eq(both)
        return m
