"""An AXI DMA with the registers of Xilinx' AXI DMA in direct register mode (AMD PG021).

A driver cannot tell it from the core on the board: same registers, same life of every bit, and the
same LENGTH width, so that what hangs there hangs here. Where PG021 leaves behaviour undefined
(unaligned address without the realignment engine, packet longer than LENGTH), the channel stops with
DMAIntErr. Keyhole, cyclic and scatter-gather modes are not built in.
"""

from __future__ import annotations

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi import AXI4, AXI4Lite, AXI4Stream
from axiloom.hw.dma_mm2s import Mm2s
from axiloom.hw.dma_registers import ADDRESS_WIDTH, ChannelRegisters, LiteSlave, Register
from axiloom.hw.dma_s2mm import S2mm

MM2S_BASE = 0x00
S2MM_BASE = 0x30

MIN_RESET_CYCLES = 16
"""A soft reset holds `reset_out` at least so long: enough for any accelerator's own reset."""


class AxiDma(wiring.Component):
    """Two channels between memory and a pair of streams, `data_width` bits wide.

    Parameters
    ----------
    data_width : 32, 64 or 128
    length_width : bits of the LENGTH registers, 8 to 26 (PG021); what is written above is lost
    burst : longest burst in beats, a power of two up to 64 (the FIFOs hold a few bursts)

    Members
    -------
    s_axi_lite : the registers
    m_axi_mm2s, m_axi_s2mm : memory
    m_axis_mm2s : what MM2S reads, TLAST on the last word of a transfer
    s_axis_s2mm : what S2MM writes, a transfer ends with TLAST
    mm2s_introut, s2mm_introut : interrupts, high while a flag that is enabled is set
    reset_out : high while a soft reset is under way; resets what is on the streams, which may have
        got a part of a packet (PG021: mm2s_prmry_reset_out_n)
    mm2s_busy, s2mm_busy : a transfer is under way
    quiet : nothing will happen before the next access to a register or the next word of s_axis_s2mm
    """

    def __init__(self, data_width: int = 32, length_width: int = 26, burst: int = 16) -> None:
        if data_width not in (32, 64, 128):
            raise ValueError(f"DMA data width must be 32, 64 or 128, not {data_width!r}")
        if not isinstance(length_width, int) or not 8 <= length_width <= 26:
            raise ValueError(f"DMA length width must be an integer from 8 to 26, not {length_width!r}")
        if burst not in (1, 2, 4, 8, 16, 32, 64):
            raise ValueError(f"DMA burst must be a power of two from 1 to 64, not {burst!r}")
        self._data_width = data_width
        self._length_width = length_width
        self._burst = burst
        super().__init__(
            {
                "s_axi_lite": In(AXI4Lite(ADDRESS_WIDTH)),
                "m_axi_mm2s": Out(AXI4(32, data_width, "read")),
                "m_axi_s2mm": Out(AXI4(32, data_width, "write")),
                "m_axis_mm2s": Out(AXI4Stream(data_width)),
                "s_axis_s2mm": In(AXI4Stream(data_width)),
                "mm2s_introut": Out(1),
                "s2mm_introut": Out(1),
                "reset_out": Out(1),
                "mm2s_busy": Out(1),
                "s2mm_busy": Out(1),
                "quiet": Out(1),
            }
        )

    @property
    def data_width(self) -> int:
        return self._data_width

    @property
    def length_width(self) -> int:
        return self._length_width

    @property
    def burst(self) -> int:
        return self._burst

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word_bytes = self.data_width // 8

        mm2s = Mm2s(self.data_width, self.length_width, self.burst)
        s2mm = S2mm(self.data_width, self.length_width, self.burst)
        mm2s_registers = ChannelRegisters(self.length_width, alignment=word_bytes)
        s2mm_registers = ChannelRegisters(
            self.length_width, alignment=word_bytes, min_length=word_bytes, reports_length=True
        )
        channels = (
            (MM2S_BASE, mm2s_registers, mm2s),
            (S2MM_BASE, s2mm_registers, s2mm),
        )

        # --- soft reset: of both channels, whichever asked for it (PG021, DMACR.Reset) ---
        resetting = Signal()
        reset_cycles = Signal(range(MIN_RESET_CYCLES))
        clear = Signal()
        m.d.comb += [
            clear.eq(resetting & (reset_cycles == 0) & mm2s.drained & s2mm.drained),
            mm2s.stop.eq(resetting),
            s2mm.stop.eq(resetting),
            self.reset_out.eq(resetting),
        ]
        with m.If(reset_cycles != 0):
            m.d.sync += reset_cycles.eq(reset_cycles - 1)
        with m.If(clear):
            m.d.sync += resetting.eq(0)

        m.submodules.lite_slave = slave = LiteSlave()
        m.submodules.mm2s_registers = ResetInserter(clear)(mm2s_registers)
        m.submodules.s2mm_registers = ResetInserter(clear)(s2mm_registers)
        m.submodules.mm2s = ResetInserter(clear)(mm2s)
        m.submodules.s2mm = ResetInserter(clear)(s2mm)

        # --- register map ---
        with m.Switch(slave.read_index):
            for base, registers, _ in channels:
                with m.Case((base + Register.DMACR) >> 2):
                    m.d.comb += slave.read_data.eq(registers.control)
                with m.Case((base + Register.DMASR) >> 2):
                    m.d.comb += slave.read_data.eq(registers.status)
                with m.Case((base + Register.ADDRESS) >> 2):
                    m.d.comb += slave.read_data.eq(registers.address)
                with m.Case((base + Register.LENGTH) >> 2):
                    m.d.comb += slave.read_data.eq(registers.length)
        with m.If(slave.write & ~resetting), m.Switch(slave.write_index):
            for base, registers, _ in channels:
                with m.Case((base + Register.DMACR) >> 2):
                    m.d.comb += registers.write_control.eq(1)
                    with m.If(slave.write_data[2]):
                        m.d.sync += [resetting.eq(1), reset_cycles.eq(MIN_RESET_CYCLES - 1)]
                with m.Case((base + Register.DMASR) >> 2):
                    m.d.comb += registers.write_status.eq(1)
                with m.Case((base + Register.ADDRESS) >> 2):
                    m.d.comb += registers.write_address.eq(1)
                with m.Case((base + Register.LENGTH) >> 2):
                    m.d.comb += registers.write_length.eq(1)

        # --- channels ---
        for _, registers, channel in channels:
            m.d.comb += [
                registers.write_data.eq(slave.write_data),
                registers.resetting.eq(resetting),
                registers.active.eq(channel.active),
                registers.done.eq(channel.done),
                registers.slave_error.eq(channel.slave_error),
                registers.decode_error.eq(channel.decode_error),
                channel.start.eq(registers.start),
                channel.address.eq(registers.address),
                channel.length.eq(registers.length),
            ]
        m.d.comb += [
            s2mm_registers.received.eq(s2mm.received),
            s2mm_registers.overflow.eq(s2mm.overflow),
            self.mm2s_introut.eq(mm2s_registers.introut),
            self.s2mm_introut.eq(s2mm_registers.introut),
            self.mm2s_busy.eq(mm2s_registers.start | mm2s.active),
            self.s2mm_busy.eq(s2mm_registers.start | s2mm.active),
            self.quiet.eq(
                mm2s.quiet
                & s2mm.quiet
                & ~mm2s_registers.start
                & ~s2mm_registers.start
                & ~resetting
                & ~self.s_axi_lite.awvalid
                & ~self.s_axi_lite.arvalid
                & ~self.s_axi_lite.bvalid
                & ~self.s_axi_lite.rvalid
            ),
        ]
        wiring.connect(m, wiring.flipped(self.s_axi_lite), slave.bus)
        wiring.connect(m, mm2s.bus, wiring.flipped(self.m_axi_mm2s))
        wiring.connect(m, s2mm.bus, wiring.flipped(self.m_axi_s2mm))
        wiring.connect(m, mm2s.stream, wiring.flipped(self.m_axis_mm2s))
        wiring.connect(m, wiring.flipped(self.s_axis_s2mm), s2mm.stream)
        return m
