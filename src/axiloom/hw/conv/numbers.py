"""What a convolution engine must know about a tile, worked out once from the sizes and settings that words
set.

There is one multiplier, which takes one product after the other, and one divisor, sw, by which quotients
are found bit by bit meanwhile: a dozen cycles after each word that sets something, which a load or a
compute hides.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.array.mac_array import LOW_BITS
from axiloom.hw.conv.geometry import ConvGeometry


class ConvNumbers(wiring.Component):
    """Works on `dims` after reset, and when they are `set`; `settled` comes with the verdict, `sound`.
    `ready`: the numbers are those of `dims`, and `fits` says which operands' tiles fit.

    `tile` is what loads of I must know, `k` the length of a line of F in whole beats, `numbers` what computes
    and sends must know; its post-processing part stays as it is.
    """

    def __init__(self, geometry: ConvGeometry) -> None:
        self._geometry = geometry
        protocol = geometry.protocol
        super().__init__(
            {
                "dims": In(protocol.dims_layout),
                "set": In(1),
                "ready": Out(1),
                "settled": Out(1),
                "sound": Out(1),
                "fits": Out(protocol.fits_layout),
                "tile": Out(geometry.image.tile),
                "k": Out(range(geometry.most[2] + 1)),
                "numbers": Out(geometry.command_dims),
            }
        )

    @property
    def geometry(self) -> ConvGeometry:
        return self._geometry

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dims, geometry = self.dims, self.geometry
        rows_bits, cols_bits = exact_log2(geometry.rows), exact_log2(geometry.cols)
        beat_bits = exact_log2(geometry.filters.per_word)
        steps = geometry.image.size_bits
        step = Signal(range(steps + 1))
        running = Signal(init=1)
        m.d.comb += [self.settled.eq(running & (step == steps)), self.ready.eq(~running)]
        with m.If(self.set):
            m.d.sync += [running.eq(1), step.eq(0)]
        with m.Elif(running):
            m.d.sync += step.eq(step + 1)
            with m.If(self.settled):
                m.d.sync += [running.eq(0), step.eq(0)]

        channel_blocks = (dims.oc + (geometry.rows - 1)) >> rows_bits
        row_blocks = (dims.ow + (geometry.cols - 1)) >> cols_bits
        # Columns that no tap reads are not kept, or even ones lie apart from odd ones: see WindowBuffer.
        skips, splits, width = Signal(), Signal(), Signal.like(dims.iw)
        halves = (dims.sw == 2) & ~dims.iw[0]
        if geometry.image.skips:
            m.d.comb += skips.eq(halves & (dims.fw == 1))
        if geometry.image.splits:
            m.d.comb += splits.eq(halves & (dims.fw != 1))
        m.d.comb += width.eq(Mux(skips | splits, dims.iw >> 1, dims.iw))
        product = _Products(m, step)
        plane = product("plane", dims.ih, width)
        taps = product("taps", dims.fh, dims.fw)
        pixel_blocks = product("pixel_blocks", dims.oh, row_blocks)
        kept = product("elements", plane, dims.ic)
        k = product("length", taps, dims.ic)
        beats = (k + ((1 << beat_bits) - 1)) >> beat_bits
        row_step = product("row_step", dims.sh, width)
        tap_step = product("tap_step", dims.dh, width)
        line_beats = product("line_beats", beats, channel_blocks)
        blocks = product("blocks", pixel_blocks, channel_blocks)
        above = product("above", dims.pt, width)
        product.connect(steps)
        divides = running & (step < steps)
        whole, rest = self._divide(m, divides, step, "width", dims.iw)
        column_step, phase_step = self._divide(m, divides, step, "dilation", dims.dw)
        pad_whole, pad_rest = self._divide(m, divides, step, "padding", dims.pl)

        elements = Mux(skips | splits, kept << 1, kept)

        # A cycle behind the numbers: `fits` is looked at after `settled`, a step after the last of them.
        m.d.sync += [
            self.sound.eq(Cat(dims[name] != 0 for name in geometry.positive).all()),
            self.fits.I.eq(elements <= geometry.elements),
            self.fits.F.eq(line_beats <= geometry.filters.depth),
            self.fits.O.eq(blocks <= geometry.o_depth >> rows_bits),
        ]
        m.d.comb += [
            self.tile.elements.eq(elements),
            self.tile.iw.eq(dims.iw),
            self.tile.sw.eq(Mux(skips | splits, 1, dims.sw)),
            self.tile.whole.eq(whole),
            self.tile.rest.eq(rest),
            self.tile.skips.eq(skips),
            self.tile.splits.eq(splits),
            self.tile.odd.eq(pad_rest != 0),
            self.k.eq(beats << beat_bits),
        ]
        numbers, walk = self.numbers, self.numbers.walk
        m.d.comb += [
            numbers.last_m.eq(channel_blocks - 1),
            numbers.last_n.eq(pixel_blocks - 1),
            numbers.last_k.eq(k - 1),
            numbers.last_oc.eq(dims.oc - 1),
            numbers.last_row.eq(Mux(dims.oc > geometry.rows, geometry.rows - 1, dims.oc - 1)),
            numbers.last_lane.eq(dims.ow - 1),
            walk.last_c.eq(dims.ic - 1),
            walk.last_fh.eq(dims.fh - 1),
            walk.last_fw.eq(dims.fw - 1),
            walk.last_block.eq(row_blocks - 1),
            walk.ih.eq(dims.ih),
            walk.y.eq(-dims.pt),
            walk.sh.eq(dims.sh),
            walk.dh.eq(dims.dh),
            walk.base.eq(-above),
            walk.row_step.eq(row_step),
            walk.tap_step.eq(tap_step),
            walk.channel_step.eq(plane),
            walk.sw.eq(dims.sw),
            walk.splits.eq(splits),
            walk.whole.eq(whole),
            walk.rest.eq(rest),
            # The first tap is pl columns to the left of the image.
            walk.column.eq(-(pad_whole + (pad_rest != 0))),
            walk.phase.eq(Mux((pad_rest == 0) | skips, 0, dims.sw - pad_rest)),
            walk.column_step.eq(column_step),
            walk.phase_step.eq(phase_step),
        ]
        if geometry.channels:
            m.d.sync += self.fits.P.eq(dims.oc <= geometry.channels)
            m.d.comb += [numbers[name].eq(dims[name]) for name in geometry.bounds]
        return m

    def _divide(
        self, m: Module, divides: Value, step: Signal, name: str, number: Value
    ) -> tuple[Signal, Signal]:
        """`number` // sw and `number` % sw: a bit in each step, the highest first."""
        bits = self.geometry.image.size_bits
        quotient = Signal(bits, name=f"{name}_quotient")  # below what is left of the number
        remainder = Signal.like(self.dims.sw, name=f"{name}_remainder")
        digits = Signal(bits, name=f"{name}_digits")
        upper = Signal(len(remainder) + 1, name=f"{name}_upper")
        goes = Signal(name=f"{name}_goes")
        m.d.comb += [
            digits.eq(Mux(step == 0, number, quotient)),
            upper.eq(Cat(digits[-1], Mux(step == 0, 0, remainder))),
            goes.eq(upper >= self.dims.sw),
        ]
        with m.If(divides):
            m.d.sync += [
                quotient.eq(Cat(goes, digits[:-1])),
                remainder.eq(Mux(goes, upper - self.dims.sw, upper)),
            ]
        return quotient, remainder


class _Products:
    """Registers that get the product of two numbers, one after the other, through one multiplier: the factors
    in their step, the products of the left one's halves one step later, their sum in the next, so that it may
    be a factor three steps later."""

    def __init__(self, m: Module, step: Signal) -> None:
        self._m, self._step = m, step
        self._factors: list[tuple[Signal, Value, Value]] = []

    def __call__(self, name: str, left: Value, right: Value) -> Signal:
        register = Signal(len(left) + len(right), name=name)
        self._factors.append((register, left, right))
        return register

    def connect(self, steps: int) -> None:
        """All of them, the last in step `steps`."""
        m = self._m
        assert len(self._factors) < steps, "the last product would come too late"
        left = Signal(max(len(a) for _, a, _ in self._factors), name="factor_left")
        right = Signal(max(len(b) for _, _, b in self._factors), name="factor_right")
        with m.Switch(self._step):
            for number, (_, a, b) in enumerate(self._factors):
                with m.Case(number):
                    m.d.sync += [left.eq(a), right.eq(b)]
        # Either is within a multiplier of an FPGA, so that no path has a multiplier and an adder.
        low = Signal(min(LOW_BITS, len(left)) + len(right), name="product_low")
        high = Signal(max(1, len(left) - LOW_BITS) + len(right), name="product_high")
        m.d.sync += [low.eq(left[:LOW_BITS] * right), high.eq(left[LOW_BITS:] * right)]
        with m.Switch(self._step):
            for number, (register, _, _) in enumerate(self._factors):
                with m.Case(number + 2):
                    m.d.sync += register.eq(low + (high << LOW_BITS))
