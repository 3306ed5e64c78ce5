"""The registers of the DMA: an AXI4-Lite slave, and the four registers of one channel.

Where they are and what their bits are is in :mod:`axiloom.isa.contract.dma_registers`. Source of what
each bit does: AMD PG021 (AXI DMA v7.1), the pages of DMACR, DMASR, SA/DA and LENGTH.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.axi.signatures import AXI4Lite
from axiloom.hw.dma.mover import MoverCommand, MoverStatus
from axiloom.isa.contract.dma_registers import DMACR, DMASR, Register

ADDRESS_WIDTH = 10
"""Address bits of the register port, as on the Xilinx core. What lies above 0x58 reads as zero."""


def taken(word: Value, register: Register, field: str) -> Any:
    """The bits of a field in `word`, which is written to `register`."""
    bits = register.field(field)
    return word[bits.low : bits.low + bits.width]


def shown(register: Register, **values: Any) -> Value:
    """What `register` reads: `values` by field.

    A field without a value reads as after a reset, and bits of no field read as zero.
    """
    known = [field.name for field in register.fields]
    assert set(values) <= set(known), f"{register.name} has {known}, not all of {sorted(values)}"
    parts: list[Any] = []
    end = 0
    for field in register.fields:
        parts.append(Const(0, field.low - end))
        parts.append(values.get(field.name, Const(field.reset, field.width)))
        end = field.low + field.width
    return Cat(*parts)


class LiteSlave(wiring.Component):
    """AXI4-Lite to one-cycle strobes. Every access is answered OKAY; strobes and protection bits are
    ignored, as on the Xilinx core, which has no such ports.

    Members
    -------
    write, write_index, write_data : a register (by word index) is written in this cycle
    read_index, read_data : the register's value is taken in the cycle in which the index is shown
    """

    def __init__(self, addr_width: int = ADDRESS_WIDTH) -> None:
        super().__init__(
            {
                "bus": In(AXI4Lite(addr_width)),
                "write": Out(1),
                "write_index": Out(addr_width - 2),
                "write_data": Out(32),
                "read_index": Out(addr_width - 2),
                "read_data": In(32),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus

        m.d.comb += [
            self.write.eq(bus.awvalid & bus.wvalid & (~bus.bvalid | bus.bready)),
            self.write_index.eq(bus.awaddr >> 2),
            self.write_data.eq(bus.wdata),
            bus.awready.eq(self.write),
            bus.wready.eq(self.write),
        ]
        with m.If(bus.bready):
            m.d.sync += bus.bvalid.eq(0)
        with m.If(self.write):
            m.d.sync += bus.bvalid.eq(1)

        m.d.comb += [
            self.read_index.eq(bus.araddr >> 2),
            bus.arready.eq(~bus.rvalid | bus.rready),
        ]
        with m.If(bus.rready):
            m.d.sync += bus.rvalid.eq(0)
        with m.If(bus.arvalid & bus.arready):
            m.d.sync += [bus.rvalid.eq(1), bus.rdata.eq(self.read_data)]
        return m


class ChannelRegisters(wiring.Component):
    """DMACR, DMASR, SA or DA, and LENGTH of one channel.

    `min_length` is the smallest number of bytes the channel can transfer; a shorter, non-zero LENGTH
    and an address that is not a multiple of `alignment` are answered with DMAIntErr (PG021 leaves the
    latter undefined). A LENGTH of zero (also after cutting it to `length_width` bits), of a halted
    channel or of one with a transfer under way has no effect.

    Members
    -------
    write_control, write_status, write_address, write_length, write_data : one-cycle strobes
    control, status : what reads back, with `address` and `length` of `command`
    resetting : shown in DMACR.Reset
    command : to the channel
    mover, received, overflow : from the channel; LENGTH becomes `received` where `reports_length` is set
    introut : the channel's interrupt
    """

    def __init__(
        self, length_width: int, alignment: int, min_length: int = 1, reports_length: bool = False
    ) -> None:
        self._length_width = length_width
        self._alignment = alignment
        self._min_length = min_length
        self._reports_length = reports_length
        super().__init__(
            {
                "write_control": In(1),
                "write_status": In(1),
                "write_address": In(1),
                "write_length": In(1),
                "write_data": In(32),
                "control": Out(32),
                "status": Out(32),
                "resetting": In(1),
                "command": Out(MoverCommand(length_width)),
                "mover": In(MoverStatus()),
                "received": In(length_width),
                "overflow": In(1),
                "introut": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        data = self.write_data

        run = Signal()
        ioc_enable = Signal()
        delay_enable = Signal()
        error_enable = Signal()
        irq_threshold = Signal(8, init=DMACR.field("IRQThreshold").reset)
        irq_delay = Signal(8)

        busy = Signal()
        halted = Signal()
        idle = Signal()
        dma_int_err = Signal()
        dma_slv_err = Signal()
        dma_dec_err = Signal()
        ioc_irq = Signal()
        error_irq = Signal()
        any_error = Signal()

        m.d.comb += [
            self.control.eq(
                shown(
                    DMACR,
                    RS=run,
                    Reset=self.resetting,
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
                    Idle=idle & ~halted,
                    DMAIntErr=dma_int_err,
                    DMASlvErr=dma_slv_err,
                    DMADecErr=dma_dec_err,
                    IOC_Irq=ioc_irq,
                    Err_Irq=error_irq,
                )
            ),
            busy.eq(self.command.start | self.mover.active),
            halted.eq(~run & ~busy),
            any_error.eq(dma_int_err | dma_slv_err | dma_dec_err),
            self.introut.eq((ioc_irq & ioc_enable) | (error_irq & error_enable)),
        ]

        # --- what the program writes ---
        with m.If(self.write_control):
            m.d.sync += [
                run.eq(taken(data, DMACR, "RS")),
                ioc_enable.eq(taken(data, DMACR, "IOC_IrqEn")),
                delay_enable.eq(taken(data, DMACR, "Dly_IrqEn")),
                error_enable.eq(taken(data, DMACR, "Err_IrqEn")),
                irq_delay.eq(taken(data, DMACR, "IRQDelay")),
            ]
            threshold = taken(data, DMACR, "IRQThreshold")
            with m.If(threshold != 0):  # a threshold of zero is not taken
                m.d.sync += irq_threshold.eq(threshold)
        with m.If(self.write_status):  # write one to clear
            m.d.sync += [
                ioc_irq.eq(ioc_irq & ~taken(data, DMASR, "IOC_Irq")),
                error_irq.eq(error_irq & ~taken(data, DMASR, "Err_Irq")),
            ]
        with m.If(self.write_address):
            m.d.sync += self.command.address.eq(data)

        new_length = data[: self._length_width]
        wanted = Signal()
        wrong = Signal()
        refused = Signal()
        m.d.comb += [
            wanted.eq(self.write_length & run & ~any_error & ~refused & ~busy & (new_length != 0)),
            wrong.eq(
                self.command.address[: exact_log2(self._alignment)].any() | (new_length < self._min_length)
            ),
        ]
        with m.If(self.write_length & ~busy):
            m.d.sync += self.command.length.eq(new_length)
        m.d.sync += [self.command.start.eq(wanted & ~wrong), refused.eq(wanted & wrong)]

        # --- what the channel reports: it comes last, so that no event is lost to a write ---
        with m.If(halted | self.command.start):
            m.d.sync += idle.eq(0)
        with m.If(self.mover.done):
            m.d.sync += [idle.eq(1), ioc_irq.eq(1)]
            if self._reports_length:
                m.d.sync += self.command.length.eq(self.received)
        with m.If(self.overflow | refused):
            m.d.sync += [dma_int_err.eq(1), error_irq.eq(1)]
        with m.If(self.mover.slave_error):
            m.d.sync += [dma_slv_err.eq(1), error_irq.eq(1)]
        with m.If(self.mover.decode_error):
            m.d.sync += [dma_dec_err.eq(1), error_irq.eq(1)]
        # An error stops the channel for good: RS stays 0 until a reset.
        with m.If(any_error | refused):
            m.d.sync += run.eq(0)
        return m
