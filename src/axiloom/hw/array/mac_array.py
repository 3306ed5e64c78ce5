"""The array: `rows` x `cols` multiply-accumulators that take one k of a block of C each cycle.

Row r works r cycles after row 0: elements of B move down through the rows, elements of A wait in
delay lines. So every signal has a short way, and the rows of a block finish one a cycle, which is
what one row of adders in the result buffer can take.

Of int8, neighbouring columns share a multiplier (``pair.py``), and sums are as wide as the longest k needs.

Registers of data have no reset: what they hold means something only beside a control bit, which has one. A
reset is a net like another to most FPGAs' routers, and theirs would have ten thousand ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.array import pair
from axiloom.isa.contract.types import WORD_BITS

LATENCY = 4
"""Cycles through a row: to its registers of operands, of products, of the products' sum, of accumulators."""

LOW_BITS = 17
"""Unsigned bits of one factor that a DSP48 multiplies (25 x 18 signed)."""

ControlLayout = data.StructLayout({"valid": 1, "first": 1})
"""What goes with the operands of one k: is there one, and is it the first of a block."""


class Multiplier(wiring.Component):
    """`product` = `a` x `b` mod 2^32 of signed factors of `bits` bits, two cycles after the factors.

    32-bit factors take three DSP48: of the four products of halves, the highest is a multiple of 2^32.
    """

    def __init__(self, bits: int) -> None:
        self._bits = bits
        super().__init__({"a": In(signed(bits)), "b": In(signed(bits)), "product": Out(WORD_BITS)})

    @property
    def bits(self) -> int:
        return self._bits

    def elaborate(self, platform: object) -> Module:
        m = Module()
        product = Signal(WORD_BITS, reset_less=True)
        m.d.comb += self.product.eq(product)
        if self.bits <= LOW_BITS:
            full = Signal(signed(2 * self.bits), reset_less=True)
            m.d.sync += [full.eq(self.a * self.b), product.eq(full)]
            return m
        high_bits = WORD_BITS - LOW_BITS
        a_low, a_high = self.a[:LOW_BITS], self.a[LOW_BITS:]
        b_low, b_high = self.b[:LOW_BITS], self.b[LOW_BITS:]
        low = Signal(WORD_BITS, reset_less=True)
        cross_a = Signal(high_bits, reset_less=True)
        cross_b = Signal(high_bits, reset_less=True)
        m.d.sync += [
            low.eq(a_low * b_low),
            cross_a.eq(a_high * b_low),
            cross_b.eq(a_low * b_high),
            product.eq(Cat(low[:LOW_BITS], (low[LOW_BITS:] + cross_a + cross_b)[:high_bits])),
        ]
        return m


@dataclass(frozen=True)
class Columns:
    """How the `cols` columns of an array hold elements of `bits` bits, and their sums over `longest` k."""

    bits: int
    cols: int
    longest: int

    @property
    def paired(self) -> bool:
        """Neighbours share a multiplier."""
        return self.bits == pair.BITS and self.cols % 2 == 0

    @property
    def held_bits(self) -> int:
        """Bits of one k of B, as they move down."""
        return pair.HELD_BITS * self.cols // 2 if self.paired else self.bits * self.cols

    @property
    def sum_bits(self) -> int:
        """Of products that are whole; where they are 32 bits wide, sums wrap."""
        return min(pair.sum_bits(self.longest), WORD_BITS) if self.paired else WORD_BITS

    @property
    def multipliers(self) -> int:
        """DSP48 of a row."""
        if self.paired:
            return self.cols // 2
        return self.cols if self.bits <= LOW_BITS else 3 * self.cols

    def held(self, b: Value) -> Value:
        """Elements `b` of one k as they move down."""
        if not self.paired:
            return b
        elements = [b.word_select(col, self.bits) for col in range(self.cols)]
        return Cat(pair.packed(low, high) for low, high in zip(elements[::2], elements[1::2], strict=True))

    def words(self, sums: Signal) -> Value:
        """A row of sums as 32-bit words."""
        columns = [sums.word_select(col, self.sum_bits) for col in range(self.cols)]
        return Cat(Cat(column, column[-1].replicate(WORD_BITS - self.sum_bits)) for column in columns)

    def products(self, m: Module, a: Signal, held: Signal) -> list[Value]:
        """`a` times each element that is `held`, two cycles later."""
        if not self.paired:
            products = []
            for col in range(self.cols):
                m.submodules[f"multiplier_{col}"] = multiplier = Multiplier(self.bits)
                m.d.comb += [multiplier.a.eq(a), multiplier.b.eq(held.word_select(col, self.bits))]
                products.append(multiplier.product)
            return products
        products = []
        for number in range(self.cols // 2):
            m.submodules[f"pair_{number}"] = multiplier = pair.PairMultiplier()
            m.d.comb += [
                multiplier.pair.eq(held.word_select(number, pair.HELD_BITS)),
                multiplier.shared.eq(a),
            ]
            products += pair.products(multiplier.both)
        return products


class MacRow(wiring.Component):
    """One row of the array: `a` times each element of `b`, added up in `sums` from a `first` on.

    `b` is held as :class:`Columns` says; `b_next` and `control_next` are what the row below takes, one cycle
    later.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        super().__init__(
            {
                "a": In(columns.bits),
                "b": In(columns.held_bits),
                "control": In(ControlLayout),
                "b_next": Out(columns.held_bits),
                "control_next": Out(ControlLayout),
                "sums": Out(columns.sum_bits * columns.cols),
            }
        )

    @property
    def columns(self) -> Columns:
        return self._columns

    def elaborate(self, platform: object) -> Module:
        m = Module()
        columns = self.columns
        a = Signal(columns.bits, reset_less=True)
        b_held = Signal(columns.held_bits, reset_less=True)
        totals = Signal(columns.sum_bits * columns.cols, reset_less=True)
        of_product = Signal(ControlLayout)
        of_sum = Signal(ControlLayout)
        m.d.sync += [
            self.control_next.eq(self.control),
            of_product.eq(self.control_next),
            of_sum.eq(of_product),
            # Also where there are none: an enable would have hundreds of ends, and they rest by themselves.
            a.eq(self.a),
            b_held.eq(self.b),
        ]
        m.d.comb += [self.b_next.eq(b_held), self.sums.eq(totals)]
        for col, product in enumerate(columns.products(m, a, b_held)):
            total = totals.word_select(col, columns.sum_bits)
            with m.If(of_sum.valid):
                before = Mux(of_sum.first, 0, total)
                m.d.sync += total.eq((before.as_signed() if columns.paired else before) + product)
        return m


class MacArray(wiring.Component):
    """`rows` x `cols` multiply-accumulators for elements of `bits` bits, blocks of `longest` k at most.

    `a` has `rows` elements and `b` has `cols` of one k, with their `control`. The sums of row r are whole
    `LATENCY` + r cycles after the last k of a block, for one cycle at least; `select` in the cycle before
    puts them on `selected` in the one behind. `active`: operands are being multiplied.
    """

    def __init__(self, bits: int, rows: int, cols: int, longest: int) -> None:
        self._bits = bits
        self._rows = rows
        self._cols = cols
        self._longest = longest
        super().__init__(
            {
                "a": In(bits * rows),
                "b": In(bits * cols),
                "control": In(ControlLayout),
                "active": Out(1),
                "select": In(range(rows)),
                "selected": Out(WORD_BITS * cols),
            }
        )

    @property
    def bits(self) -> int:
        return self._bits

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def cols(self) -> int:
        return self._cols

    @property
    def longest(self) -> int:
        return self._longest

    def elaborate(self, platform: object) -> Module:
        m = Module()
        columns = Columns(self.bits, self.cols, self.longest)
        b, control = columns.held(self.b), self.control
        rows = []
        for i in range(self.rows):
            m.submodules[f"row_{i}"] = row = MacRow(columns)
            m.d.comb += [
                row.a.eq(self._delayed(m, self.a.word_select(i, self.bits), i)),
                row.b.eq(b),
                row.control.eq(control),
            ]
            b, control = row.b_next, row.control_next
            rows.append(row)
        # One bit for each row, decoded before its register, as it has a way to every column.
        chosen = Signal(self.rows)
        selected = Signal(columns.sum_bits * self.cols, reset_less=True)
        m.d.comb += [
            self.active.eq(rows[0].control_next.valid),
            self.selected.eq(columns.words(selected)),
        ]
        m.d.sync += chosen.eq((1 << self.select)[: self.rows])
        gated = [Mux(chosen[i], row.sums, 0) for i, row in enumerate(rows)]
        while len(gated) > 1:
            gated = [gate | other for gate, other in zip(gated[::2], gated[1::2], strict=True)]
        m.d.sync += selected.eq(gated[0])
        return m

    def _delayed(self, m: Module, element: Value, cycles: int) -> Value:
        for step in range(cycles):
            # Without reset, so that a chain may become a shift register in LUTs.
            stage = Signal(self.bits, name=f"a_{cycles}_delay_{step}", reset_less=True)
            m.d.sync += stage.eq(element)
            element = stage
        return element
