"""An AXI4-Stream FIFO with the registers of Xilinx' (AMD PG080, v4.3), in the place of an AXI DMA.

A program moves each word by a register, so nothing here reads or writes memory. It is Xilinx' core in its
default form: AXI4-Lite data interface, streams of 32 bits, store and forward, no TDEST, thresholds as Vivado
sets them.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, ResetInserter, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Lite, AXI4Stream
from axiloom.hw.dma.axi_dma import MIN_RESET_CYCLES
from axiloom.hw.dma.registers import ADDRESS_WIDTH, LiteSlave
from axiloom.isa.contract.fifo_registers import ISR_RESET, KEY, Fifo, Interrupt

RESERVED = 4
"""Places that hold no word: TDFV of 512 says 508."""
NEARLY_FULL, NEARLY_EMPTY = 5, 2
"""Words: below the depth, above nothing."""
SETTLED = 3
"""Cycles after which nothing changes any more by itself."""


class AxiFifo(wiring.Component):
    """Registers to and from a pair of streams; `depth` places in either direction.

    The members are those of :class:`axiloom.hw.dma.axi_dma.AxiDma`, without memory. ``mm2s_introut`` is the
    FIFO's interrupt, ``s2mm_introut`` stays low. `mm2s_busy`: a packet is on its way out; `s2mm_busy`: a part
    of one has come in. SRR, and TDFR in the middle of a packet, reset what is on the streams.
    """

    def __init__(self, depth: int = 512) -> None:
        if not isinstance(depth, int) or depth < 16 or depth & (depth - 1):
            raise ValueError(f"FIFO depth must be a power of two from 16, not {depth!r}")
        self._depth = depth
        super().__init__(
            {
                "s_axi_lite": In(AXI4Lite(ADDRESS_WIDTH)),
                "m_axis_mm2s": Out(AXI4Stream(32)),
                "s_axis_s2mm": In(AXI4Stream(32)),
                "mm2s_introut": Out(1),
                "s2mm_introut": Out(1),
                "reset_out": Out(1),
                "mm2s_busy": Out(1),
                "s2mm_busy": Out(1),
                "quiet": Out(1),
            }
        )

    @property
    def depth(self) -> int:
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lite_slave = slave = LiteSlave()
        wiring.connect(m, wiring.flipped(self.s_axi_lite), slave.bus)
        data, reads = slave.write_data, Signal()
        m.d.comb += reads.eq(slave.bus.arvalid & slave.bus.arready)
        written = {register: slave.write & (slave.write_index == register >> 2) for register in Fifo}
        read = {register: reads & (slave.read_index == register >> 2) for register in Fifo}

        clear_tx, clear_rx, events = Signal(), Signal(), Signal(32)
        breaks, reset_cycles = Signal(), Signal(range(MIN_RESET_CYCLES))
        m.d.comb += [
            clear_tx.eq((data == KEY) & (written[Fifo.TDFR] | written[Fifo.SRR])),
            clear_rx.eq((data == KEY) & (written[Fifo.RDFR] | written[Fifo.SRR])),
            events[Interrupt.TRC].eq(clear_tx),
            events[Interrupt.RRC].eq(clear_rx),
            breaks.eq((clear_tx & clear_rx) | (clear_tx & self.mm2s_busy)),
            self.reset_out.eq(breaks | (reset_cycles != 0)),
        ]
        with m.If(breaks):
            m.d.sync += reset_cycles.eq(MIN_RESET_CYCLES - 1)
        with m.Elif(reset_cycles != 0):
            m.d.sync += reset_cycles.eq(reset_cycles - 1)

        isr, ier = Signal(32, init=ISR_RESET), Signal(32)
        values = {Fifo.ISR: isr, Fifo.IER: ier}
        values |= self._transmit(m, data, written, clear_tx, events)
        values |= self._receive(m, read, clear_rx, events)
        with m.Switch(slave.read_index):
            for register, value in values.items():
                with m.Case(register >> 2):
                    m.d.comb += slave.read_data.eq(value)
        m.d.sync += isr.eq((isr & ~Value.cast(data & written[Fifo.ISR].replicate(32))) | events)
        with m.If(written[Fifo.IER]):
            m.d.sync += ier.eq(Cat(Const(0, min(Interrupt)), data[min(Interrupt) :]))

        settle, lite = Signal(range(SETTLED + 1)), self.s_axi_lite
        moves = Cat(s.tvalid & s.tready for s in (self.m_axis_mm2s, self.s_axis_s2mm)).any()
        with m.If(slave.write | reads | moves):
            m.d.sync += settle.eq(SETTLED)
        with m.Elif(settle != 0):
            m.d.sync += settle.eq(settle - 1)
        accessed = lite.awvalid | lite.arvalid | lite.bvalid | lite.rvalid
        m.d.comb += [
            self.mm2s_introut.eq((isr & ier).any()),
            self.quiet.eq(~accessed & ~self.mm2s_busy & (settle == 0) & (reset_cycles == 0)),
        ]
        return m

    def _fifo(self, m: Module, name: str, width: int, clear: Signal) -> SyncFIFOBuffered:
        fifo = SyncFIFOBuffered(width=width, depth=self.depth)
        m.submodules[name] = ResetInserter(clear)(fifo)
        return fifo

    def _transmit(
        self, m: Module, data: Value, written: dict[Fifo, Any], clear: Signal, events: Signal
    ) -> dict[Fifo, Value]:
        """The newest word waits: TLR makes it the last one of a packet, and lets the packet go."""
        stream = self.m_axis_mm2s
        fifo = self._fifo(m, "sent", 33, clear)
        newest, waits = Signal(32), Signal()
        words, packets, vacancy = Signal(range(1 << 23)), Signal(range(self.depth)), Signal(32)
        ends, goes = written[Fifo.TLR] & waits, Signal()
        m.d.comb += [
            vacancy.eq(self.depth - RESERVED - fifo.level - waits),
            fifo.w_data.eq(Cat(newest, written[Fifo.TLR])),
            fifo.w_en.eq((written[Fifo.TDFD] & waits & (vacancy != 0)) | ends),
            stream.tdata.eq(fifo.r_data),
            stream.tlast.eq(fifo.r_data[32]),
            stream.tvalid.eq(fifo.r_rdy & self.mm2s_busy & ~self.reset_out),
            fifo.r_en.eq(stream.tvalid & stream.tready),
            goes.eq(fifo.r_en & stream.tlast),
            self.mm2s_busy.eq(packets != 0),
            events[Interrupt.TC].eq(goes),
            events[Interrupt.TPOE].eq(written[Fifo.TDFD] & (vacancy == 0)),
            events[Interrupt.TSE].eq(written[Fifo.TLR] & (words != (data[:23] + 3)[2:])),
        ]
        m.d.sync += packets.eq(packets + ends - goes)
        with m.If(written[Fifo.TDFD] & (vacancy != 0)):
            m.d.sync += [newest.eq(data), waits.eq(1), words.eq(words + 1)]
        with m.If(written[Fifo.TLR]):
            m.d.sync += [waits.eq(0), words.eq(0)]
        with m.If(clear):
            m.d.sync += [waits.eq(0), words.eq(0), packets.eq(0)]
        self._thresholds(m, fifo.level + waits, clear, events, Interrupt.TFPF, Interrupt.TFPE)
        return {Fifo.TDFV: vacancy}

    def _receive(self, m: Module, read: dict[Fifo, Any], clear: Signal, events: Signal) -> dict[Fifo, Value]:
        """A packet is there when its last word is; RLR takes it up, RDFD its words."""
        stream = self.s_axis_s2mm
        fifo, lengths = self._fifo(m, "received", 32, clear), self._fifo(m, "lengths", 32, clear)
        words, left, occupancy = (
            Signal(range(self.depth + 1), name=n) for n in ("words", "left", "occupancy")
        )
        taken, pops = Signal(), Signal()
        # Two cycles: until then the words are at the FIFO's other end.
        arrived = [Signal(range(self.depth + 1), name=f"arrived{i}") for i in range(2)]
        room = fifo.level < self.depth - RESERVED
        m.d.comb += [
            stream.tready.eq(fifo.w_rdy & lengths.w_rdy & room & ~self.reset_out),
            taken.eq(stream.tvalid & stream.tready),
            fifo.w_data.eq(stream.tdata),
            fifo.w_en.eq(taken),
            lengths.w_data.eq(words + 1),
            lengths.w_en.eq(taken & stream.tlast),
            lengths.r_en.eq(read[Fifo.RLR]),
            pops.eq(read[Fifo.RDFD] & fifo.r_rdy & (left != 0)),
            fifo.r_en.eq(pops),
            self.s2mm_busy.eq(words != 0),
            events[Interrupt.RC].eq(arrived[1] != 0),
            events[Interrupt.RPURE].eq(read[Fifo.RLR] & ~lengths.r_rdy),
            events[Interrupt.RPUE].eq(read[Fifo.RDFD] & (occupancy == 0)),
            events[Interrupt.RPORE].eq(read[Fifo.RDFD] & (occupancy != 0) & (left == 0)),
        ]
        with m.If(taken):
            m.d.sync += words.eq(words + 1)
        m.d.sync += [arrived[0].eq(0), arrived[1].eq(arrived[0])]
        with m.If(lengths.w_en):
            m.d.sync += [words.eq(0), arrived[0].eq(words + 1)]
        m.d.sync += [occupancy.eq(occupancy + arrived[1] - pops), left.eq(left - pops)]
        with m.If(read[Fifo.RLR] & lengths.r_rdy):
            m.d.sync += left.eq(lengths.r_data)
        with m.If(clear):
            m.d.sync += [signal.eq(0) for signal in (words, left, occupancy, *arrived)]
        self._thresholds(m, fifo.level, clear, events, Interrupt.RFPF, Interrupt.RFPE)
        return {
            Fifo.RDFO: occupancy,
            Fifo.RDFD: Value.cast(fifo.r_data & pops.replicate(32)),
            Fifo.RLR: (lengths.r_data & lengths.r_rdy.replicate(32)) << 2,
        }

    def _thresholds(
        self, m: Module, level: Value, clear: Signal, events: Signal, full: Interrupt, empty: Interrupt
    ) -> None:
        """Programmable full and empty are told when the level comes there."""
        for bit, there, at_reset in (
            (full, level >= self.depth - NEARLY_FULL, 0),
            (empty, level <= NEARLY_EMPTY, 1),
        ):
            was = Signal(init=at_reset, name=f"was_{bit.name}")
            m.d.sync += was.eq(there)
            m.d.comb += events[bit].eq(there & ~was & ~clear)
