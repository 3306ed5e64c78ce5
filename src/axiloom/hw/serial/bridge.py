"""A host on a serial line as the master of an AXI4-Lite bus, by the commands of ``protocol.py``."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Lite
from axiloom.hw.serial.protocol import ARGUMENT_BYTES, READ, TIMEOUT_BITS, WORD_BYTES, WRITE
from axiloom.hw.serial.uart import UartReceiver, UartTransmitter


class SerialBridge(wiring.Component):
    """The bridge between a line and a bus, at `divisor` clock cycles a bit.

    Members
    -------
    rx, tx : the line, seen from here
    bus : AXI4-Lite, 32 bits of address
    busy : a command is being carried out or answered; while it is low, the bridge waits for a byte
    """

    def __init__(self, divisor: int) -> None:
        self._divisor = divisor
        super().__init__(
            {"rx": In(1, init=1), "tx": Out(1, init=1), "bus": Out(AXI4Lite(32)), "busy": Out(1)}
        )

    @property
    def divisor(self) -> int:
        return self._divisor

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(self.divisor)
        m.submodules.transmitter = transmitter = UartTransmitter(self.divisor)
        m.d.comb += [receiver.line.eq(self.rx), self.tx.eq(transmitter.line)]
        bus, answer = self.bus, transmitter.bytes
        arrives, byte = receiver.valid, receiver.data

        writes = Signal()
        address = Signal(32)
        count = Signal(16)
        word = Signal(32)
        place = Signal(range(ARGUMENT_BYTES))  # of a byte in arguments or word
        response = Signal(2)
        lost = Signal()
        total = Signal(8)
        idle_cycles = Signal(TIMEOUT_BITS)
        executing = Signal()

        m.d.comb += [
            bus.awaddr.eq(address),
            bus.araddr.eq(address),
            bus.wdata.eq(word),
            bus.wstrb.eq(~0),
            self.busy.eq(executing | transmitter.busy),
        ]
        m.d.sync += idle_cycles.eq(Mux(arrives, 0, idle_cycles + 1))
        with m.If(receiver.framing_error):
            m.d.sync += lost.eq(1)

        def next_word(bus_response: Signal) -> None:
            m.d.sync += [address.eq(address + WORD_BYTES), count.eq(count - 1)]
            with m.If(bus_response > response):
                m.d.sync += response.eq(bus_response)

        with m.FSM() as fsm:
            with m.State("COMMAND"):
                m.d.sync += [place.eq(0), response.eq(0), total.eq(byte), writes.eq(byte == WRITE)]
                with m.If(arrives & ((byte == WRITE) | (byte == READ))):
                    m.next = "ARGUMENTS"
            with m.State("ARGUMENTS"):
                with m.If(arrives):
                    m.d.sync += [
                        Cat(address, count).eq(Cat(address[8:], count, byte)),
                        total.eq(total + byte),
                        place.eq(place + 1),
                    ]
                    with m.If(place == ARGUMENT_BYTES - 1):
                        m.d.sync += place.eq(0)
                        m.next = "NEXT"
                with m.Elif(idle_cycles.all()):
                    m.next = "COMMAND"
            with m.State("NEXT"):
                with m.If(count == 0):
                    m.next = "STATUS"
                with m.Elif(writes):
                    m.next = "WORD"
                with m.Else():
                    m.d.sync += bus.arvalid.eq(1)
                    m.next = "READ"
            with m.State("WORD"):
                with m.If(arrives):
                    m.d.sync += [word.eq(Cat(word[8:], byte)), total.eq(total + byte), place.eq(place + 1)]
                    with m.If(place == WORD_BYTES - 1):
                        m.d.sync += [place.eq(0), bus.awvalid.eq(1), bus.wvalid.eq(1)]
                        m.next = "WRITE"
                with m.Elif(idle_cycles.all()):
                    m.next = "COMMAND"
            with m.State("WRITE"):  # much shorter than the byte that may be on the line
                with m.If(bus.awready):
                    m.d.sync += bus.awvalid.eq(0)
                with m.If(bus.wready):
                    m.d.sync += bus.wvalid.eq(0)
                m.d.comb += bus.bready.eq(1)
                with m.If(bus.bvalid):
                    next_word(bus.bresp)
                    m.next = "NEXT"
            with m.State("READ"):
                with m.If(bus.arready):
                    m.d.sync += bus.arvalid.eq(0)
                m.d.comb += bus.rready.eq(1)
                with m.If(bus.rvalid):
                    m.d.sync += word.eq(bus.rdata)
                    next_word(bus.rresp)
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += [answer.valid.eq(1), answer.payload.eq(word)]
                with m.If(answer.ready):
                    m.d.sync += [word.eq(word >> 8), total.eq(total + word[:8]), place.eq(place + 1)]
                    with m.If(place == WORD_BYTES - 1):
                        m.d.sync += place.eq(0)
                        m.next = "NEXT"
            with m.State("STATUS"):
                m.d.comb += [answer.valid.eq(1), answer.payload.eq(Cat(response, lost))]
                with m.If(answer.ready):
                    m.d.sync += lost.eq(receiver.framing_error)
                    m.next = "SUM"
            with m.State("SUM"):
                m.d.comb += [answer.valid.eq(1), answer.payload.eq(total)]
                with m.If(answer.ready):
                    m.next = "COMMAND"
        waiting = fsm.ongoing("COMMAND") | fsm.ongoing("ARGUMENTS") | fsm.ongoing("WORD")
        m.d.comb += executing.eq(~waiting)
        return m
