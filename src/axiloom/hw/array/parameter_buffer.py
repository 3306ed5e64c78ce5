"""Ping-pong buffer of what turns sums into int8 again: bias, multiplier and shift of each channel.

A channel is two words of the stream: the bias, then the multiplier with the shift above it
(:data:`ParameterLayout`). The next tile's parameters are loaded while this tile is sent.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Member, Out
from amaranth.utils import bits_for, exact_log2

from axiloom.hw.array.ping_pong import ping_pong
from axiloom.hw.engine.load_port import LoadPort
from axiloom.isa.contract.types import WORD_BITS

CHANNEL_BITS = 2 * WORD_BITS
"""Of a channel on the stream."""

ParameterLayout = data.StructLayout({"bias": signed(32), "multiplier": unsigned(16), "shift": unsigned(6)})
"""The lowest bits of a channel's two words; those above are ignored."""


def loading_ports(channels: int, load_width: int) -> dict[str, Member]:
    """The ports through which parameters are loaded and their halves used, as of an
    :class:`~axiloom.hw.array.operand_buffer.OperandBuffer`.

    `load_data` is a word or a whole channel (`load_width` 32 or 64); `size` is how many channels the tile has
    that is loaded, at most `channels`.
    """
    if load_width not in (WORD_BITS, CHANNEL_BITS):
        raise ValueError(f"width of parameters that are loaded must be 32 or 64, not {load_width}")
    return {
        "size": In(range(channels + 1)),
        "load": In(LoadPort()),
        "load_data": In(load_width),
        "claim": In(1),
        "finish": In(1),
        "finish_half": In(1),
    }


def row_width(channels: int, lanes: int) -> int:
    """Bits of the number of a row of `lanes` channels."""
    return bits_for(-(-channels // lanes) - 1)


class ParameterBuffer(wiring.Component):
    """`channels` parameters in each half, read as rows of `lanes` neighbouring channels.

    Loading: :func:`loading_ports`.
    Reading: with `read`, the channels of `row` of half `read_half` are on `parameters` one cycle later and
    until the next.
    """

    def __init__(self, channels: int, lanes: int, load_width: int) -> None:
        self._channels = channels
        self._lanes = lanes
        self._load_width = load_width
        super().__init__(
            {
                **loading_ports(channels, load_width),
                "read": In(1),
                "read_half": In(1),
                "row": In(row_width(channels, lanes)),
                "parameters": Out(data.ArrayLayout(ParameterLayout, lanes)),
            }
        )

    @property
    def channels(self) -> int:
        return self._channels

    @property
    def lanes(self) -> int:
        return self._lanes

    @property
    def load_width(self) -> int:
        return self._load_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lane_bits = exact_log2(self.lanes)
        channel = Signal(lane_bits + len(self.row))
        loaded = Signal(ParameterLayout)
        complete = Signal()
        taken = ping_pong(m, self)
        if self.load_width == CHANNEL_BITS:
            m.d.comb += [loaded.as_value().eq(self.load_data), complete.eq(1)]
        else:
            bias = Signal(WORD_BITS)
            m.d.comb += loaded.as_value().eq(Cat(bias, self.load_data))
            with m.If(taken):
                m.d.sync += complete.eq(~complete)
                with m.If(~complete):
                    m.d.sync += bias.eq(self.load_data)
        m.d.comb += self.load.last.eq(complete & (channel == self.size - 1))
        with m.If(taken & complete):
            m.d.sync += channel.eq(channel + 1)
            with m.If(self.load.last):
                m.d.sync += channel.eq(0)
        bank, row = channel[:lane_bits], channel[lane_bits:]
        for lane in range(self.lanes):
            m.submodules[f"lane_{lane}"] = memory = Memory(
                shape=ParameterLayout.size, depth=2 << len(self.row), init=[]
            )
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [
                write.en.eq(taken & complete & (bank == lane)),
                write.addr.eq(Cat(row, ~self.load.half)),
                write.data.eq(loaded),
                read.en.eq(self.read),
                read.addr.eq(Cat(self.row, self.read_half)),
                self.parameters[lane].eq(read.data),
            ]
        return m
