"""Sums of 32 bits to elements of int8, each channel with its own bias, multiplier and shift.

::

    y = min(max(((acc + bias) * multiplier + half >> shift) + zp, lo), hi)      half = 1 << shift >> 1

`acc + bias` wraps mod 2^32; the rest is exact, so that it equals the same formula in 64-bit integers
(`docs/specification.md`). Rounding needs no adder: adding half of the last place before a shift is adding
the last bit that was shifted out.

Post-processing rounds without an adder. (p + 2^(s-1)) >> s is (p >> s) plus the last bit shifted out.
Bounds and the half of P travel with the command, so the next tile's may come while this tile is sent. A
requantised result must come once and whole. So a flow in which the host adds up cannot requantise, and
neither can v1, v2 and conv_v3.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, ShapeLike, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.array.parameter_buffer import ParameterBuffer, ParameterLayout, loading_ports, row_width
from axiloom.isa.contract.types import WORD_BITS

LATENCY = 8
"""Cycles from a vector of sums to its elements."""

BoundsLayout = data.StructLayout({"zp": signed(8), "lo": signed(8), "hi": signed(8)})
"""Zero point and range of the elements, the same for all channels."""

_LOW_BITS = 24
_HIGH_BITS = WORD_BITS - _LOW_BITS
"""Bits of a sum for each of two DSP48, which multiply 25 x 18 bits signed."""

_COARSE_BITS = 26
"""Bits left when 16, 32 or 48 places are off. A value that needs more is beyond int8 after 15 more, too."""


def sums_layout(lanes: int, channels: int, tag: ShapeLike, *, shared: bool) -> data.StructLayout:
    """A vector of sums with the parameters' `row` and `half`, and the bounds of its tile."""
    return data.StructLayout(
        {
            "acc": data.ArrayLayout(signed(WORD_BITS), lanes),
            "row": unsigned(row_width(channels, 1 if shared else lanes)),
            "half": unsigned(1),
            "bounds": BoundsLayout,
            "tag": tag,
        }
    )


def elements_layout(lanes: int, tag: ShapeLike) -> data.StructLayout:
    return data.StructLayout({"elements": data.ArrayLayout(signed(8), lanes), "tag": tag})


class RequantiseLane(wiring.Component):
    """One element a cycle with `enable`; `element` comes `LATENCY` - 1 such cycles after `acc`.

    `parameters` come with `acc`, `zp` five cycles later, `lo` and `hi` six.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "acc": In(signed(WORD_BITS)),
                "parameters": In(ParameterLayout),
                "enable": In(1),
                "zp": In(signed(8)),
                "lo": In(signed(8)),
                "hi": In(signed(8)),
                "element": Out(signed(8)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Without reset, so that the registers go into the DSP48 and what only waits into shift registers.
        total = Signal(signed(WORD_BITS), reset_less=True)
        multiplier = Signal(16, reset_less=True)
        low = Signal(_LOW_BITS + 16, reset_less=True)
        high = Signal(signed(_HIGH_BITS + 16), reset_less=True)
        doubled = Signal(signed(1 + WORD_BITS + 16), reset_less=True)  # the product above the bit that rounds
        coarse = Signal(signed(_COARSE_BITS), reset_less=True)
        fits = Signal(reset_less=True)
        negative = Signal(reset_less=True)
        fine = Signal(signed(_COARSE_BITS), reset_less=True)
        moved = Signal(signed(_COARSE_BITS), reset_less=True)
        shifts = [Signal(6, name=f"shift_{stage}", reset_less=True) for stage in range(4)]

        below = Signal()
        above = Signal()
        rest = Signal.like(doubled)
        product_high = Signal(signed(_HIGH_BITS + 16))
        m.d.comb += [
            product_high.eq(high + (low >> _LOW_BITS)),
            rest.eq(doubled >> (shifts[2] & 0b110000)),
            below.eq(moved < self.lo),
            above.eq((moved > self.hi) | (self.lo > self.hi)),
        ]
        with m.If(self.enable):
            m.d.sync += [
                total.eq(self.acc + self.parameters.bias),
                multiplier.eq(self.parameters.multiplier),
                Cat(*shifts).eq(Cat(self.parameters.shift, *shifts[:-1])),
                low.eq(total[:_LOW_BITS] * multiplier),
                high.eq(total[_LOW_BITS:].as_signed() * multiplier),
                doubled.eq(Cat(Const(0, 1), low[:_LOW_BITS], product_high)),
                coarse.eq(rest),
                fits.eq(rest == rest[:_COARSE_BITS].as_signed()),
                negative.eq(doubled[-1]),
                fine.eq(
                    Mux(
                        fits,
                        coarse >> shifts[3][:4],
                        Cat((~negative).replicate(_COARSE_BITS - 1), negative).as_signed(),
                    )
                ),
                # A last bit of one half: with the bit that rounds it carries.
                moved.eq((fine + Cat(Const(1, 1), self.zp).as_signed()) >> 1),
                self.element.eq(Mux(above, self.hi, Mux(below, self.lo, moved))),
            ]
        return m


class Requantise(wiring.Component):
    """`lanes` elements a cycle: sums on `i` with what they need, elements on `o`, both with a `tag`.

    All lanes of a vector have one channel if `shared` (pixels of a convolution), else lane l has channel
    `row` x `lanes` + l (a row of C). `channels` is the most that a tile may have; loading their parameters
    is as :class:`ParameterBuffer` says. `busy`: a vector is inside or on `o`.
    """

    def __init__(self, lanes: int, channels: int, load_width: int, tag: ShapeLike, *, shared: bool) -> None:
        self._lanes = lanes
        self._channels = channels
        self._load_width = load_width
        self._shared = shared
        self._tag = tag
        super().__init__(
            {
                **loading_ports(channels, load_width),
                "i": In(stream.Signature(sums_layout(lanes, channels, tag, shared=shared))),
                "o": Out(stream.Signature(elements_layout(lanes, tag))),
                "busy": Out(1),
            }
        )

    @property
    def lanes(self) -> int:
        return self._lanes

    @property
    def channels(self) -> int:
        return self._channels

    @property
    def load_width(self) -> int:
        return self._load_width

    @property
    def shared(self) -> bool:
        return self._shared

    @property
    def tag(self) -> ShapeLike:
        return self._tag

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.parameters = buffer = ParameterBuffer(
            self.channels, 1 if self.shared else self.lanes, self.load_width
        )
        wiring.connect(m, wiring.flipped(self.load), buffer.load)
        m.d.comb += [
            buffer.size.eq(self.size),
            buffer.load_data.eq(self.load_data),
            buffer.claim.eq(self.claim),
            buffer.finish.eq(self.finish),
            buffer.finish_half.eq(self.finish_half),
        ]

        flows = Signal()
        valid = Signal(LATENCY)
        m.d.comb += [
            flows.eq(~self.o.valid | self.o.ready),
            self.i.ready.eq(flows),
            self.o.valid.eq(valid[-1]),
            self.busy.eq(valid.any()),
            buffer.read.eq(flows & self.i.valid),
            buffer.read_half.eq(self.i.payload.half),
            buffer.row.eq(self.i.payload.row),
        ]
        sums = Signal(data.ArrayLayout(signed(WORD_BITS), self.lanes), reset_less=True)
        with m.If(flows):
            m.d.sync += [valid.eq(Cat(self.i.valid, valid)), sums.eq(self.i.payload.acc)]
        bounds = self._delayed(m, flows, "bounds", self.i.payload.bounds, LATENCY - 1)
        tags = self._delayed(m, flows, "tag", self.i.payload.tag, LATENCY)
        m.d.comb += self.o.payload.tag.eq(tags[-1])
        for number in range(self.lanes):
            m.submodules[f"lane_{number}"] = lane = RequantiseLane()
            m.d.comb += [
                lane.acc.eq(sums[number]),
                lane.parameters.eq(buffer.parameters[0 if self.shared else number]),
                lane.enable.eq(flows),
                lane.zp.eq(bounds[-2].zp),
                lane.lo.eq(bounds[-1].lo),
                lane.hi.eq(bounds[-1].hi),
                self.o.payload.elements[number].eq(lane.element),
            ]
        return m

    def _delayed(
        self, m: Module, flows: Value, name: str, value: data.View | Value, cycles: int
    ) -> list[Any]:
        """`value` one, two, ... `cycles` moves later."""
        stages: list[Any] = []
        for cycle in range(cycles):
            stage = Signal(value.shape(), name=f"{name}_{cycle + 1}", reset_less=True)
            with m.If(flows):
                m.d.sync += stage.eq(stages[-1] if stages else value)
            stages.append(stage)
        return stages
