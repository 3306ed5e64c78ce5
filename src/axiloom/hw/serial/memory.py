"""On-chip memory in the place of the DMA's windows, for a board whose host has no memory that a DMA reaches.

The host reaches it through AXI4-Lite, the DMA through its AXI4 port. Only what the windows are for is
possible: the host writes what the DMA reads, and reads what the DMA has written.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In
from amaranth.utils import exact_log2

from axiloom.hw.axi.interconnect import DECERR, PAGE_BITS
from axiloom.hw.axi.signatures import AXI4, AXI4Lite
from axiloom.hw.dma.registers import LiteSlave
from axiloom.isa.contract.types import WORD_BITS

_LANES = WORD_BITS // 8
_WORD_SHIFT = exact_log2(_LANES)


class _Window(wiring.Component):
    """`size` bytes, a power of two, from `address` on, a multiple of it."""

    def __init__(self, address: int, size: int, access: str) -> None:
        if not isinstance(size, int) or not 64 <= size <= 1 << PAGE_BITS or size & (size - 1):
            raise ValueError(f"window size must be a power of two from 64 to {1 << PAGE_BITS}, not {size!r}")
        if not isinstance(address, int) or address % size:
            raise ValueError(f"window address must be a multiple of its size {size}, not {address!r}")
        self._address = address
        self._size = size
        super().__init__({"lite": In(AXI4Lite(PAGE_BITS)), "axi": In(AXI4(32, WORD_BITS, access))})

    @property
    def address(self) -> int:
        return self._address

    @property
    def size(self) -> int:
        return self._size

    def _memory(self) -> Memory:
        return Memory(shape=WORD_BITS, depth=self.size // _LANES, init=[])

    def _outside(self, address: Signal) -> Signal:
        return address[exact_log2(self.size) :] != self.address >> exact_log2(self.size)

    def _word(self) -> Signal:
        """Counts through a burst; its highest bit is set from the end of the window on."""
        return Signal(exact_log2(self.size) - _WORD_SHIFT + 1)

    def _first(self, address: Signal) -> Value:
        return address[_WORD_SHIFT : exact_log2(self.size)]


class InputWindow(_Window):
    """Written by the host, read by the DMA. A read by the host gives zero.

    Members
    -------
    lite : the host's side, addresses from the beginning of the window
    axi : the DMA's side, the whole address; elsewhere DECERR answers, beat by beat behind the end
    """

    def __init__(self, address: int, size: int) -> None:
        super().__init__(address, size, "read")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = self._memory()
        m.submodules.slave = slave = LiteSlave(PAGE_BITS)
        write, read = memory.write_port(), memory.read_port()
        wiring.connect(m, wiring.flipped(self.lite), slave.bus)
        m.d.comb += [
            write.addr.eq(slave.write_index),
            write.data.eq(slave.write_data),
            write.en.eq(slave.write),
        ]

        axi = self.axi
        active = Signal()
        outside = Signal()
        left = Signal(8)
        word = self._word()
        missed = Signal()
        fetch = Signal()
        m.d.comb += [
            missed.eq(outside | word[-1]),
            axi.arready.eq(~active),
            fetch.eq(active & (~axi.rvalid | axi.rready)),
            read.addr.eq(word),
            read.en.eq(fetch),
            axi.rdata.eq(read.data),
        ]
        with m.If(axi.rready):
            m.d.sync += axi.rvalid.eq(0)
        with m.If(fetch):
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rlast.eq(left == 0),
                axi.rresp.eq(missed * DECERR),
                outside.eq(missed),
                active.eq(left != 0),
                left.eq(left - 1),
                word.eq(word + 1),
            ]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [
                active.eq(1),
                left.eq(axi.arlen),
                word.eq(self._first(axi.araddr)),
                outside.eq(self._outside(axi.araddr)),
            ]
        return m


class OutputWindow(_Window):
    """Written by the DMA, read by the host. A write by the host has no effect.

    Members
    -------
    lite : the host's side, addresses from the beginning of the window
    axi : the DMA's side, the whole address; what is written elsewhere is lost, and DECERR answers
    """

    def __init__(self, address: int, size: int) -> None:
        super().__init__(address, size, "write")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = self._memory()
        write, read = memory.write_port(granularity=8), memory.read_port()

        lite = self.lite
        m.d.comb += [
            lite.arready.eq(~lite.rvalid | lite.rready),
            read.addr.eq(lite.araddr >> _WORD_SHIFT),
            read.en.eq(lite.arvalid & lite.arready),
            lite.rdata.eq(read.data),
            lite.awready.eq(lite.awvalid & lite.wvalid & ~lite.bvalid),
            lite.wready.eq(lite.awready),
        ]
        with m.If(lite.rready):
            m.d.sync += lite.rvalid.eq(0)
        with m.If(read.en):
            m.d.sync += lite.rvalid.eq(1)
        with m.If(lite.bready):
            m.d.sync += lite.bvalid.eq(0)
        with m.If(lite.awready):
            m.d.sync += lite.bvalid.eq(1)

        axi = self.axi
        active = Signal()
        outside = Signal()
        word = self._word()
        missed = Signal()
        taken = Signal()
        m.d.comb += [
            axi.awready.eq(~active & ~axi.bvalid),
            axi.wready.eq(active),
            taken.eq(axi.wvalid & axi.wready),
            missed.eq(outside | word[-1]),
            write.addr.eq(word),
            write.data.eq(axi.wdata),
        ]
        with m.If(taken & ~missed):
            m.d.comb += write.en.eq(axi.wstrb)
        with m.If(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        with m.If(taken):
            m.d.sync += [word.eq(word + 1), outside.eq(missed)]
            with m.If(axi.wlast):
                m.d.sync += [active.eq(0), axi.bvalid.eq(1), axi.bresp.eq(missed * DECERR)]
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [
                active.eq(1),
                word.eq(self._first(axi.awaddr)),
                outside.eq(self._outside(axi.awaddr)),
            ]
        return m
