"""A SoC whose host is a PC on a serial line: bridge, DMA, accelerator, and memory in place of the windows."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.base.errors import SpecError
from axiloom.hw.axi.interconnect import PAGE_BITS, LiteDecoder
from axiloom.hw.axi.signatures import AXI4Lite
from axiloom.hw.dma.registers import ADDRESS_WIDTH, LiteSlave
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.hw.serial.bridge import SerialBridge
from axiloom.hw.serial.memory import InputWindow, OutputWindow
from axiloom.hw.serial.protocol import IDENTITY_ADDRESS, identity
from axiloom.hw.soc.soc import Soc
from axiloom.isa.contract.spec import AcceleratorSpec, Link
from axiloom.isa.contract.types import WORD_BITS


def check(link: Link) -> list[str]:
    """The keys of `link` that cannot be behind a serial line, a line each."""
    dma, faults = link.dma, []
    if dma.scatter_gather:
        faults.append(
            f"{link.name}: dma_config.scatterGather: descriptors would lie in the host's memory, which is "
            "not on the board; a board on a serial line takes direct register mode (--dma simple)"
        )
    if link.stream_width != WORD_BITS:
        faults.append(
            f"{link.name}: stream_width: {link.stream_width} bits; a board on a serial line has memory of "
            f"{WORD_BITS} bits (--stream-width 32)"
        )
    page = 1 << PAGE_BITS
    windows = (
        ("input", dma.input_address, dma.input_buffer_size),
        ("output", dma.output_address, dma.output_buffer_size),
    )
    for name, address, size in windows:
        if address % page or not 64 <= size <= page:
            faults.append(
                f"{link.name}: dma_config.{name}Address, {name}BufferSize: {size} bytes at {address:#x}; "
                f"a board on a serial line has windows of 64 to {page} bytes at multiples of {page:#x}"
            )
    pages = [
        IDENTITY_ADDRESS >> PAGE_BITS,
        *(address >> PAGE_BITS for address in (dma.address, windows[0][1], windows[1][1])),
    ]
    if len(set(pages)) < len(pages):
        faults.append(
            f"{link.name}: dma_config: registers and windows must lie in different ranges of {page:#x} "
            f"bytes, and none at {IDENTITY_ADDRESS:#x}"
        )
    return faults


class SerialSoc(wiring.Component):
    """:class:`Soc` of `spec` behind a :class:`SerialBridge` of `divisor` clock cycles a bit.

    The DMA's registers and the two windows are at the specification's addresses; at :data:`IDENTITY_ADDRESS`
    are the words of :func:`identity`. An access elsewhere is answered DECERR.

    `user_rtl` takes the accelerator's place. Raises :exc:`SpecError` for what :func:`check` finds.

    Members
    -------
    rx, tx : the line
    led : busy bridge, MM2S, S2MM, computing, and in the upper half the accelerator's error code
    """

    def __init__(
        self, spec: AcceleratorSpec, divisor: int, clock_hz: int, user_rtl: UserRtl | None = None
    ) -> None:
        faults = check(spec.link)
        if faults:
            raise SpecError(faults)
        self._spec = spec
        self._user_rtl = user_rtl
        self._divisor = divisor
        self._clock_hz = clock_hz
        super().__init__({"rx": In(1, init=1), "tx": Out(1, init=1), "led": Out(8)})

    @property
    def spec(self) -> AcceleratorSpec:
        return self._spec

    @property
    def divisor(self) -> int:
        return self._divisor

    @property
    def clock_hz(self) -> int:
        return self._clock_hz

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dma = self.spec.link.dma
        m.submodules.bridge = bridge = SerialBridge(self.divisor)
        m.submodules.soc = soc = Soc(self.spec, self._user_rtl)
        m.submodules.input_window = source = InputWindow(dma.input_address, _rounded(dma.input_buffer_size))
        m.submodules.output_window = sink = OutputWindow(dma.output_address, _rounded(dma.output_buffer_size))
        m.submodules.identity = identity_slave = LiteSlave(PAGE_BITS)
        addresses = (IDENTITY_ADDRESS, dma.address, dma.input_address, dma.output_address)
        m.submodules.decoder = decoder = LiteDecoder(
            [address >> PAGE_BITS for address in addresses], PAGE_BITS
        )

        wiring.connect(m, bridge.bus, decoder.bus)
        wiring.connect(m, decoder.slave0, identity_slave.bus)
        for name, member in AXI4Lite(
            ADDRESS_WIDTH
        ).members.items():  # of fewer address bits than the decoder's
            theirs, ours = getattr(soc.s_axi_lite, name), getattr(decoder.slave1, name)
            m.d.comb += theirs.eq(ours) if member.flow == Out else ours.eq(theirs)
        wiring.connect(m, decoder.slave2, source.lite)
        wiring.connect(m, decoder.slave3, sink.lite)
        wiring.connect(m, soc.m_axi_mm2s, source.axi)
        wiring.connect(m, soc.m_axi_s2mm, sink.axi)

        words = identity(self.spec, self.clock_hz)
        m.d.comb += [
            identity_slave.read_data.eq(
                Array(Const(word, WORD_BITS) for word in words)[identity_slave.read_index[:2]]
            ),
            bridge.rx.eq(self.rx),
            self.tx.eq(bridge.tx),
            self.led.eq(
                Cat(bridge.busy, soc.debug_mm2s_busy, soc.debug_s2mm_busy, soc.debug_compute, soc.debug_error)
            ),
        ]
        return m


def _rounded(size: int) -> int:
    """The next power of two."""
    return 1 << (size - 1).bit_length()
