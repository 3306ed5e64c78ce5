"""An AXI DMA with the registers of Xilinx' AXI DMA (AMD PG021), in direct register or scatter-gather mode.

A driver cannot tell it from the core on the board: same registers, same life of every bit, and the
same LENGTH width, so that what hangs there hangs here. Where PG021 leaves behaviour undefined
(unaligned address without the realignment engine, packet longer than LENGTH), the channel stops with
DMAIntErr. Keyhole and cyclic modes are not built in. The one extension is that descriptors can describe
rows with a stride (:mod:`axiloom.hw.dma.sg_fetch`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4, AXI4Lite, AXI4Stream
from axiloom.hw.dma.mm2s import CACHE_BUFFERABLE, CACHE_COHERENT, Mm2s
from axiloom.hw.dma.registers import ADDRESS_WIDTH, ChannelRegisters, LiteSlave, taken
from axiloom.hw.dma.s2mm import S2mm
from axiloom.hw.dma.sg import DescriptorEngine
from axiloom.hw.dma.sg_fetch import LENGTH_BITS
from axiloom.hw.dma.sg_port import WIDTH as SG_WIDTH
from axiloom.hw.dma.sg_port import SgPort
from axiloom.hw.dma.sg_registers import SgRegisters
from axiloom.isa.contract import dma_registers
from axiloom.isa.contract.dma_registers import DMACR, Channel, Register

MIN_RESET_CYCLES = 16
"""A soft reset holds `reset_out` at least so long: enough for any accelerator's own reset."""


class AxiDma(wiring.Component):
    """Two channels between memory and a pair of streams, `data_width` bits wide.

    Parameters
    ----------
    data_width : 32, 64 or 128
    length_width : bits of the LENGTH registers, 8 to 26 (PG021); what is written above is lost.
        Descriptors have 26 whatever it is
    burst : longest burst in beats, a power of two up to 64 (the FIFOs hold a few bursts)
    scatter_gather : descriptors from memory instead of SA, DA and LENGTH
    coherent : AxCACHE on all ports to memory is :data:`CACHE_COHERENT`, for a port that looks into caches

    Members
    -------
    s_axi_lite : the registers
    m_axi_mm2s, m_axi_s2mm : memory
    m_axi_sg : descriptors, 64 bits, only with `scatter_gather`
    m_axis_mm2s : what MM2S reads, TLAST on the last word of a transfer
    s_axis_s2mm : what S2MM writes, a transfer ends with TLAST
    mm2s_introut, s2mm_introut : interrupts, high while a flag that is enabled is set
    reset_out : high while a soft reset is under way; resets what is on the streams, which may have
        got a part of a packet (PG021: mm2s_prmry_reset_out_n). While it is high, TVALID of m_axis_mm2s and
        TREADY of s_axis_s2mm are low, also if a word was waiting: AXI4-Stream demands it during reset
        (IHI 0051A, 2.7.2). At no other time does TVALID fall before TREADY
    mm2s_busy, s2mm_busy : a transfer is under way
    mm2s_done, s2mm_done : the last word of a descriptor is on the stream (only with `scatter_gather`)
    quiet : nothing will happen before the next access to a register or the next word of s_axis_s2mm
    """

    def __init__(
        self,
        data_width: int = 32,
        length_width: int = 26,
        burst: int = 16,
        scatter_gather: bool = False,
        coherent: bool = False,
    ) -> None:
        if data_width not in (32, 64, 128):
            raise ValueError(f"DMA data width must be 32, 64 or 128, not {data_width!r}")
        if not isinstance(length_width, int) or not 8 <= length_width <= 26:
            raise ValueError(f"DMA length width must be an integer from 8 to 26, not {length_width!r}")
        if burst not in (1, 2, 4, 8, 16, 32, 64):
            raise ValueError(f"DMA burst must be a power of two from 1 to 64, not {burst!r}")
        self._data_width = data_width
        self._length_width = length_width
        self._burst = burst
        self._scatter_gather = scatter_gather
        self._coherent = coherent
        super().__init__(
            {
                "s_axi_lite": In(AXI4Lite(ADDRESS_WIDTH)),
                "m_axi_mm2s": Out(AXI4(32, data_width, "read")),
                "m_axi_s2mm": Out(AXI4(32, data_width, "write")),
                **({"m_axi_sg": Out(AXI4(32, SG_WIDTH, "read-write"))} if scatter_gather else {}),
                "m_axis_mm2s": Out(AXI4Stream(data_width)),
                "s_axis_s2mm": In(AXI4Stream(data_width)),
                "mm2s_introut": Out(1),
                "s2mm_introut": Out(1),
                "reset_out": Out(1),
                "mm2s_busy": Out(1),
                "s2mm_busy": Out(1),
                **({"mm2s_done": Out(1), "s2mm_done": Out(1)} if scatter_gather else {}),
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

    @property
    def scatter_gather(self) -> bool:
        return self._scatter_gather

    @property
    def coherent(self) -> bool:
        return self._coherent

    @property
    def _cache(self) -> int:
        return CACHE_COHERENT if self.coherent else CACHE_BUFFERABLE

    def elaborate(self, platform: object) -> Module:
        m = Module()
        resetting, clear = Signal(), Signal()
        mm2s, s2mm = (self._scatter_gather_channels if self.scatter_gather else self._direct_channels)(
            m, resetting, clear
        )
        channels = ((Channel.MM2S, mm2s), (Channel.S2MM, s2mm))

        # --- soft reset: of both channels, whichever asked for it (PG021, DMACR.Reset) ---
        reset_cycles = Signal(range(MIN_RESET_CYCLES))
        # A register, a cycle late: while `resetting` stops both movers, a drained channel stays drained.
        m.d.sync += clear.eq(resetting & ~clear & (reset_cycles == 0) & mm2s.drained & s2mm.drained)
        m.d.comb += self.reset_out.eq(resetting)
        with m.If(reset_cycles != 0):
            m.d.sync += reset_cycles.eq(reset_cycles - 1)
        with m.If(clear):
            m.d.sync += resetting.eq(0)

        # --- register map ---
        m.submodules.lite_slave = slave = LiteSlave()
        with m.Switch(slave.read_index):
            for base, channel in channels:
                for register, (_, value) in channel.map.items():
                    with m.Case(register.at(base) >> 2):
                        m.d.comb += slave.read_data.eq(value)
        with m.If(slave.write & ~resetting), m.Switch(slave.write_index):
            for base, channel in channels:
                for register, (strobe, _) in channel.map.items():
                    with m.Case(register.at(base) >> 2):
                        m.d.comb += strobe.eq(1)
                        if register is DMACR:
                            with m.If(taken(slave.write_data, DMACR, "Reset")):
                                m.d.sync += [resetting.eq(1), reset_cycles.eq(MIN_RESET_CYCLES - 2)]

        # --- channels ---
        for _, channel in channels:
            m.d.comb += [
                channel.registers.write_data.eq(slave.write_data),
                channel.registers.resetting.eq(resetting),
            ]
        m.d.comb += [
            self.mm2s_introut.eq(mm2s.registers.introut),
            self.s2mm_introut.eq(s2mm.registers.introut),
            self.mm2s_busy.eq(mm2s.busy),
            self.s2mm_busy.eq(s2mm.busy),
            self.quiet.eq(
                mm2s.quiet
                & s2mm.quiet
                & ~resetting
                & ~self.s_axi_lite.awvalid
                & ~self.s_axi_lite.arvalid
                & ~self.s_axi_lite.bvalid
                & ~self.s_axi_lite.rvalid
            ),
        ]
        wiring.connect(m, wiring.flipped(self.s_axi_lite), slave.bus)
        wiring.connect(m, mm2s.mover.bus, wiring.flipped(self.m_axi_mm2s))
        wiring.connect(m, s2mm.mover.bus, wiring.flipped(self.m_axi_s2mm))
        wiring.connect(m, mm2s.mover.stream, wiring.flipped(self.m_axis_mm2s))
        wiring.connect(m, wiring.flipped(self.s_axis_s2mm), s2mm.mover.stream)
        return m

    def _direct_channels(self, m: Module, stop: Signal, clear: Signal) -> list[_Channel]:
        """Registers command the movers."""
        word_bytes = self.data_width // 8
        channels = []
        for name, mover, registers in (
            (
                "mm2s",
                Mm2s(self.data_width, self.length_width, self.burst, cache=self._cache),
                ChannelRegisters(self.length_width, alignment=word_bytes),
            ),
            (
                "s2mm",
                S2mm(self.data_width, self.length_width, self.burst, cache=self._cache),
                ChannelRegisters(
                    self.length_width, alignment=word_bytes, min_length=word_bytes, reports_length=True
                ),
            ),
        ):
            m.submodules[f"{name}_registers"] = ResetInserter(clear)(registers)
            m.submodules[name] = ResetInserter(clear)(mover)
            wiring.connect(m, registers.command, mover.command)
            wiring.connect(m, mover.status, registers.mover)
            m.d.comb += mover.stop.eq(stop)
            if isinstance(mover, S2mm):
                m.d.comb += [registers.received.eq(mover.received), registers.overflow.eq(mover.overflow)]
            register_map: dict[Register, tuple[Any, Any]] = {
                dma_registers.DMACR: (registers.write_control, registers.control),
                dma_registers.DMASR: (registers.write_status, registers.status),
                dma_registers.ADDRESS: (registers.write_address, registers.command.address),
                dma_registers.LENGTH: (registers.write_length, registers.command.length),
            }
            channels.append(
                _Channel(
                    registers,
                    mover,
                    register_map,
                    busy=registers.command.start | mover.status.active,
                    quiet=mover.quiet & ~registers.command.start,
                    drained=mover.drained,
                )
            )
        return channels

    def _scatter_gather_channels(self, m: Module, stop: Signal, clear: Signal) -> list[_Channel]:
        """Registers command an engine, and it the mover."""
        m.submodules.sg_port = port = ResetInserter(clear)(SgPort(self._cache))
        m.d.comb += port.stop.eq(stop)
        wiring.connect(m, port.bus, wiring.flipped(self.m_axi_sg))
        channels = []
        shape = self.data_width, LENGTH_BITS, self.burst, True, self._cache
        for name, mover, requests in (
            ("mm2s", Mm2s(*shape), port.channel0),
            ("s2mm", S2mm(*shape), port.channel1),
        ):
            registers = SgRegisters()
            engine = DescriptorEngine(self.data_width, receives=isinstance(mover, S2mm))
            m.submodules[f"{name}_registers"] = ResetInserter(clear)(registers)
            m.submodules[f"{name}_engine"] = ResetInserter(clear)(engine)
            m.submodules[name] = ResetInserter(clear)(mover)
            wiring.connect(m, engine.requests, requests)
            wiring.connect(m, engine.command, mover.command)
            wiring.connect(m, mover.status, engine.mover)
            m.d.comb += [
                mover.stop.eq(stop),
                engine.run.eq(registers.run & ~stop),
                engine.cyclic.eq(registers.cyclic),
                engine.load.eq(registers.load),
                engine.first.eq(registers.first),
                engine.go.eq(registers.go),
                engine.tail.eq(registers.last),
                engine.ask.eq(registers.ask),
                engine.until.eq(registers.until),
                engine.meets.eq(registers.meets),
                registers.slave_error.eq(mover.status.slave_error),
                registers.decode_error.eq(mover.status.decode_error),
                registers.engine_current.eq(engine.current),
                registers.busy.eq(engine.busy),
                registers.completed.eq(engine.completed),
                registers.packet.eq(engine.packet),
                registers.int_error.eq(engine.int_error),
                registers.sg_int_error.eq(engine.sg_int_error),
                registers.sg_slave_error.eq(engine.sg_slave_error),
                registers.sg_decode_error.eq(engine.sg_decode_error),
            ]
            if isinstance(mover, S2mm):
                m.d.comb += [
                    self.s2mm_done.eq(mover.filled),
                    engine.result.eq(mover.filled),
                    engine.moved.eq(mover.received),
                    engine.begins.eq(mover.begins),
                    engine.ends.eq(mover.ends),
                ]
            else:
                m.d.comb += [
                    self.mm2s_done.eq(mover.status.done),
                    mover.last.eq(engine.last),
                    engine.result.eq(mover.status.done),
                    engine.moved.eq(mover.moved),
                    engine.ends.eq(mover.stream.tlast),
                ]
            register_map: dict[Register, tuple[Any, Any]] = {
                dma_registers.DMACR: (registers.write_control, registers.control),
                dma_registers.DMASR: (registers.write_status, registers.status),
                dma_registers.CURDESC: (registers.write_current, registers.current),
                dma_registers.TAILDESC: (registers.write_tail, registers.tail),
                dma_registers.AHEADDESC: (registers.write_ahead, registers.ahead),
            }
            channels.append(
                _Channel(
                    registers,
                    mover,
                    register_map,
                    busy=registers.go | engine.busy,
                    quiet=mover.quiet & engine.quiet & ~registers.go & ~registers.counting,
                    drained=mover.drained & port.drained,
                )
            )
        return channels


@dataclass(frozen=True)
class _Channel:
    """A channel in either mode. `map`: register to the strobe of a write and the value read."""

    registers: Any
    mover: Mm2s | S2mm
    map: Mapping[Register, tuple[Any, Any]]
    busy: Any
    quiet: Any
    drained: Any
