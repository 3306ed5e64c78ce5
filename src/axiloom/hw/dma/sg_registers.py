"""The registers of a channel in scatter-gather mode, and its interrupts.

Where they are and what their bits are is in :mod:`axiloom.isa.contract.dma_registers`. Source of what
each bit does: AMD PG021 (AXI DMA v7.1), the pages of DMACR, DMASR, CURDESC and TAILDESC.
"""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.dma.registers import shown, taken
from axiloom.hw.dma.sg_fetch import INDEX_BITS
from axiloom.isa.contract.dma_registers import DMACR, DMASR

ERRORS = ("DMAIntErr", "DMASlvErr", "DMADecErr")
SG_ERRORS = ("SGIntErr", "SGSlvErr", "SGDecErr")

DELAY_UNIT = 125
"""Cycles that a step of IRQDelay lasts (PG021)."""


class SgRegisters(wiring.Component):
    """DMACR, DMASR, CURDESC, TAILDESC and AHEADDESC of one channel.

    CURDESC can be written while the channel is halted, TAILDESC has an effect while it runs.
    IOC_Irq counts packets: it is set after IRQThreshold of them; where fewer were completed and no more
    come for IRQDelay * :data:`DELAY_UNIT` cycles, Dly_Irq is set instead. A write of DMACR that changes
    the threshold begins to count anew, and so does either interrupt.

    Members
    -------
    write_control, write_status, write_current, write_tail, write_ahead, write_data : one-cycle strobes
    control, status, current, tail, ahead : what reads back
    resetting : shown in DMACR.Reset
    cyclic : to the engine, from DMACR
    run, load, first, go, last : to the engine (``tail``), by index of a descriptor;
        `last` a cycle behind `go`
    ask, until, meets : AHEADDESC to the engine, as of :class:`axiloom.hw.dma.sg_fetch.DescriptorFetch`
    engine_current, busy, completed, packet, int_error, sg_int_error, sg_slave_error, sg_decode_error :
        from the engine
    slave_error, decode_error : from the mover
    introut : the channel's interrupt
    counting : the delay timer runs, which will raise an interrupt
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "write_control": In(1),
                "write_status": In(1),
                "write_current": In(1),
                "write_tail": In(1),
                "write_ahead": In(1),
                "write_data": In(32),
                "control": Out(32),
                "status": Out(32),
                "current": Out(32),
                "tail": Out(32),
                "ahead": Out(32),
                "resetting": In(1),
                "run": Out(1),
                "cyclic": Out(1),
                "load": Out(1),
                "first": Out(INDEX_BITS),
                "go": Out(1),
                "last": Out(INDEX_BITS),
                "ask": Out(1),
                "until": Out(INDEX_BITS),
                "meets": Out(1),
                "engine_current": In(INDEX_BITS),
                "busy": In(1),
                "completed": In(1),
                "packet": In(1),
                "int_error": In(1),
                "slave_error": In(1),
                "decode_error": In(1),
                "sg_int_error": In(1),
                "sg_slave_error": In(1),
                "sg_decode_error": In(1),
                "introut": Out(1),
                "counting": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        data = self.write_data
        threshold = taken(data, DMACR, "IRQThreshold")

        ioc_enable, delay_enable, error_enable = Signal(), Signal(), Signal()
        irq_threshold = Signal(8, init=DMACR.field("IRQThreshold").reset)
        irq_delay = Signal(8)
        begun = Signal()  # since it runs: before, it is not idle but has nothing to do
        halted = Signal()
        ioc_irq, delay_irq, error_irq = Signal(), Signal(), Signal()
        any_error = Signal()

        # In the order of ERRORS and SG_ERRORS.
        sources = (self.int_error, self.slave_error, self.decode_error)
        sg_sources = (self.sg_int_error, self.sg_slave_error, self.sg_decode_error)
        errors = Signal(len(sources))
        sg_errors = Signal(len(sg_sources))

        m.d.comb += [
            self.control.eq(
                shown(
                    DMACR,
                    RS=self.run,
                    Reset=self.resetting,
                    Cyclic_BD_Enable=self.cyclic,
                    IOC_IrqEn=ioc_enable,
                    Dly_IrqEn=delay_enable,
                    Err_IrqEn=error_enable,
                    IRQThreshold=irq_threshold,
                    IRQDelay=irq_delay,
                )
            ),
            self.status.eq(
                shown(
                    DMASR,
                    Halted=halted,
                    Idle=begun & ~self.busy & ~self.go & ~halted,
                    SGIncld=Const(1, 1),
                    IOC_Irq=ioc_irq,
                    Dly_Irq=delay_irq,
                    Err_Irq=error_irq,
                    **dict(zip(ERRORS, errors, strict=True)),
                    **dict(zip(SG_ERRORS, sg_errors, strict=True)),
                )
            ),
            self.current.eq(self.engine_current << 6),
            self.tail.eq(self.last << 6),
            self.ahead.eq(self.until << 6),
            halted.eq(~self.run & ~self.busy),
            any_error.eq(errors.any() | sg_errors.any()),
            self.introut.eq((ioc_irq & ioc_enable) | (delay_irq & delay_enable) | (error_irq & error_enable)),
            self.load.eq(self.write_current & halted),
            self.first.eq(data >> 6),
            self.ask.eq(self.write_ahead),
            self.meets.eq(self.first == self.until),
        ]

        # --- what the program writes ---
        with m.If(self.write_control):
            m.d.sync += [
                self.run.eq(taken(data, DMACR, "RS")),
                self.cyclic.eq(taken(data, DMACR, "Cyclic_BD_Enable")),
                ioc_enable.eq(taken(data, DMACR, "IOC_IrqEn")),
                delay_enable.eq(taken(data, DMACR, "Dly_IrqEn")),
                error_enable.eq(taken(data, DMACR, "Err_IrqEn")),
                irq_delay.eq(taken(data, DMACR, "IRQDelay")),
            ]
            with m.If(threshold != 0):  # a threshold of zero is not taken
                m.d.sync += irq_threshold.eq(threshold)
        with m.If(self.write_status):  # write one to clear
            m.d.sync += [
                ioc_irq.eq(ioc_irq & ~taken(data, DMASR, "IOC_Irq")),
                delay_irq.eq(delay_irq & ~taken(data, DMASR, "Dly_Irq")),
                error_irq.eq(error_irq & ~taken(data, DMASR, "Err_Irq")),
            ]
        with m.If(self.write_tail):
            m.d.sync += self.last.eq(data >> 6)
        with m.If(self.write_ahead):
            m.d.sync += self.until.eq(data >> 6)
        m.d.comb += self.go.eq(self.write_tail & self.run & ~any_error)
        with m.If(halted):
            m.d.sync += begun.eq(0)
        with m.Elif(self.go):
            m.d.sync += begun.eq(1)

        # It comes last, so that no event is lost to a write.
        self._count_packets(m, irq_threshold, irq_delay, ioc_irq, delay_irq)
        for flags, events in ((errors, sources), (sg_errors, sg_sources)):
            for i, source in enumerate(events):
                with m.If(source):
                    m.d.sync += [flags[i].eq(1), error_irq.eq(1)]
        # An error stops the channel for good: RS stays 0 until a reset.
        with m.If(any_error):
            m.d.sync += self.run.eq(0)
        return m

    def _count_packets(
        self, m: Module, irq_threshold: Signal, irq_delay: Signal, ioc_irq: Signal, delay_irq: Signal
    ) -> None:
        """Packets until IOC_Irq, and cycles until Dly_Irq."""
        threshold = taken(self.write_data, DMACR, "IRQThreshold")
        event = Signal()
        awaited = Signal(8, init=1)  # packets until the interrupt
        tick = Signal(range(DELAY_UNIT))
        delay = Signal(8)
        m.d.comb += [
            event.eq(self.completed & self.packet),
            self.counting.eq((irq_delay != 0) & (awaited != irq_threshold)),
        ]
        with m.If(self.write_control & (threshold != 0) & (threshold != irq_threshold)):
            m.d.sync += awaited.eq(threshold)
        with m.Elif(event):
            with m.If(awaited == 1):
                m.d.sync += [ioc_irq.eq(1), awaited.eq(irq_threshold)]
            with m.Else():
                m.d.sync += awaited.eq(awaited - 1)
        with m.Elif(self.counting & (tick == DELAY_UNIT - 1) & (delay + 1 == irq_delay)):
            m.d.sync += [delay_irq.eq(1), awaited.eq(irq_threshold)]
        with m.If(event | ~self.counting):
            m.d.sync += [tick.eq(0), delay.eq(0)]
        with m.Elif(tick == DELAY_UNIT - 1):
            m.d.sync += [tick.eq(0), delay.eq(delay + 1)]
        with m.Else():
            m.d.sync += tick.eq(tick + 1)
