"""Several DMAs on one set of ports: an AXI4-Lite decoder to their registers, AXI4 arbiters to memory.

AXI without IDs: answers come in the order of the requests, so what tells them apart is a queue of whose
request each was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4, AXI4Lite

PAGE_BITS = 16
"""Address bits inside the range of one DMA's registers (:data:`axiloom.isa.files.together.PAGE_BYTES`)."""

MAX_BURSTS = 16
"""Bursts whose last answer has not come, of all masters: what one DMA can have under way alone."""

DECERR = 0b11


class LiteDecoder(wiring.Component):
    """One AXI4-Lite bus to several slaves, by the upper bits of the address; elsewhere DECERR answers.

    One read and one write at a time; no cycle is added to either. An address and the data of a write are
    handed on together.

    Parameters
    ----------
    pages : of each slave, its first address >> `page_bits`
    addr_width : of the slaves, at most `page_bits`
    page_bits : address bits inside the range of one slave
    bus_width : of the bus's addresses

    Members
    -------
    bus : AXI4-Lite, `bus_width` bits of address
    slave0, slave1, ...
    """

    def __init__(
        self, pages: Sequence[int], addr_width: int, page_bits: int = PAGE_BITS, bus_width: int = 32
    ) -> None:
        self._pages = tuple(pages)
        self._page_bits = page_bits
        self._addr_width = addr_width
        slaves = {f"slave{i}": Out(AXI4Lite(addr_width)) for i in range(len(self._pages))}
        super().__init__({"bus": In(AXI4Lite(bus_width)), **slaves})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        slaves = [getattr(self, f"slave{i}") for i in range(len(self._pages))]
        for slave in slaves:
            m.d.comb += [
                slave.awaddr.eq(bus.awaddr),
                slave.awprot.eq(bus.awprot),
                slave.wdata.eq(bus.wdata),
                slave.wstrb.eq(bus.wstrb),
                slave.araddr.eq(bus.araddr),
                slave.arprot.eq(bus.arprot),
            ]

        writing = Signal()
        write_taken = Signal()
        write_hit, write_owner = self._hits(m, "write", bus.awaddr, write_taken)
        request = Signal()
        answers = [owner & slave.bvalid for owner, slave in zip(write_owner, slaves, strict=True)]
        m.d.comb += [
            request.eq(bus.awvalid & bus.wvalid & ~writing),
            write_taken.eq(request & _granted(write_hit, [s.awready & s.wready for s in slaves])),
            bus.awready.eq(write_taken),
            bus.wready.eq(write_taken),
            bus.bvalid.eq(writing & (Cat(answers).any() | ~write_owner.any())),
            bus.bresp.eq(_one_of(write_owner, [s.bresp for s in slaves], otherwise=DECERR)),
        ]
        for slave, hit, owner in zip(slaves, write_hit, write_owner, strict=True):
            m.d.comb += [
                slave.awvalid.eq(request & hit),
                slave.wvalid.eq(request & hit),
                slave.bready.eq(writing & owner & bus.bready),
            ]
        with m.If(write_taken):
            m.d.sync += writing.eq(1)
        with m.Elif(bus.bvalid & bus.bready):
            m.d.sync += writing.eq(0)

        reading = Signal()
        read_taken = Signal()
        read_hit, read_owner = self._hits(m, "read", bus.araddr, read_taken)
        answers = [owner & slave.rvalid for owner, slave in zip(read_owner, slaves, strict=True)]
        m.d.comb += [
            read_taken.eq(bus.arvalid & ~reading & _granted(read_hit, [s.arready for s in slaves])),
            bus.arready.eq(read_taken),
            bus.rvalid.eq(reading & (Cat(answers).any() | ~read_owner.any())),
            bus.rdata.eq(_one_of(read_owner, [s.rdata for s in slaves], otherwise=0)),
            bus.rresp.eq(_one_of(read_owner, [s.rresp for s in slaves], otherwise=DECERR)),
        ]
        for slave, hit, owner in zip(slaves, read_hit, read_owner, strict=True):
            m.d.comb += [
                slave.arvalid.eq(bus.arvalid & ~reading & hit),
                slave.rready.eq(reading & owner & bus.rready),
            ]
        with m.If(read_taken):
            m.d.sync += reading.eq(1)
        with m.Elif(bus.rvalid & bus.rready):
            m.d.sync += reading.eq(0)
        return m

    def _hits(self, m: Module, kind: str, address: Value, taken: Signal) -> tuple[Signal, Signal]:
        """Whose address this is, and whose the one was that was taken last: one bit each, none for nobody."""
        hit = Signal(len(self._pages), name=f"{kind}_hit")
        owner = Signal(len(self._pages), name=f"{kind}_owner")
        m.d.comb += hit.eq(Cat(address[self._page_bits :] == page for page in self._pages))
        with m.If(taken):
            m.d.sync += owner.eq(hit)
        return hit, owner


class ReadArbiter(wiring.Component):
    """Masters that read, in turn, burst by burst. A burst's address takes a cycle more; the data none.

    The masters must always take what they asked for: one that waits holds up the others.

    Members
    -------
    master0, master1, ... : AXI4, reads (the write channels of a port that has both go another way)
    bus : AXI4, reads
    """

    def __init__(self, masters: int, data_width: int) -> None:
        self._masters = masters
        port = AXI4(32, data_width, "read")
        super().__init__({**{f"master{i}": In(port) for i in range(masters)}, "bus": Out(port)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        masters = [getattr(self, f"master{i}") for i in range(self._masters)]
        m.submodules.owners = owners = SyncFIFO(width=(len(masters) - 1).bit_length(), depth=MAX_BURSTS)

        free = Signal()
        m.d.comb += free.eq((~bus.arvalid | bus.arready) & owners.w_rdy)
        chosen, which = _in_turn(m, [master.arvalid for master in masters], free)
        _take_address(m, "ar", masters, bus, chosen, which)
        m.d.comb += [
            owners.w_en.eq(chosen),
            owners.w_data.eq(which),
            owners.r_en.eq(bus.rvalid & bus.rready & bus.rlast),
            bus.rready.eq(Array(master.rready for master in masters)[owners.r_data] & owners.r_rdy),
        ]
        for i, master in enumerate(masters):
            m.d.comb += [
                master.rvalid.eq(bus.rvalid & owners.r_rdy & (owners.r_data == i)),
                master.rdata.eq(bus.rdata),
                master.rresp.eq(bus.rresp),
                master.rlast.eq(bus.rlast),
            ]
        return m


class WriteArbiter(wiring.Component):
    """Masters that write, in turn, burst by burst. A burst's address takes a cycle more.

    A master must have all words of a burst when it shows the address: one that waits holds up the others.

    Members
    -------
    master0, master1, ... : AXI4, writes
    bus : AXI4, writes
    """

    def __init__(self, masters: int, data_width: int) -> None:
        self._masters = masters
        port = AXI4(32, data_width, "write")
        super().__init__({**{f"master{i}": In(port) for i in range(masters)}, "bus": Out(port)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = self.bus
        masters = [getattr(self, f"master{i}") for i in range(self._masters)]
        bits = (len(masters) - 1).bit_length()
        m.submodules.sending = sending = SyncFIFO(width=bits, depth=MAX_BURSTS)
        m.submodules.awaiting = awaiting = SyncFIFO(width=bits, depth=MAX_BURSTS)

        free = Signal()
        m.d.comb += free.eq((~bus.awvalid | bus.awready) & sending.w_rdy & awaiting.w_rdy)
        chosen, which = _in_turn(m, [master.awvalid for master in masters], free)
        _take_address(m, "aw", masters, bus, chosen, which)

        for queue in (sending, awaiting):
            m.d.comb += [queue.w_en.eq(chosen), queue.w_data.eq(which)]
        for signal in ("wdata", "wstrb", "wlast"):
            offered = Array(getattr(master, signal) for master in masters)[sending.r_data]
            m.d.comb += getattr(bus, signal).eq(offered)
        m.d.comb += [
            bus.wvalid.eq(Array(master.wvalid for master in masters)[sending.r_data] & sending.r_rdy),
            sending.r_en.eq(bus.wvalid & bus.wready & bus.wlast),
            awaiting.r_en.eq(bus.bvalid & bus.bready),
            bus.bready.eq(Array(master.bready for master in masters)[awaiting.r_data] & awaiting.r_rdy),
        ]
        for i, master in enumerate(masters):
            m.d.comb += [
                master.wready.eq(bus.wready & sending.r_rdy & (sending.r_data == i)),
                master.bvalid.eq(bus.bvalid & awaiting.r_rdy & (awaiting.r_data == i)),
                master.bresp.eq(bus.bresp),
            ]
        return m


def _granted(hit: Signal, ready: Sequence[Any]) -> Value:
    """The slave that is meant is ready; nobody always is."""
    return (hit & Cat(ready)).any() | ~hit.any()


def _one_of(owner: Signal, values: Sequence[Any], otherwise: int) -> Value:
    chosen: Any = otherwise
    for bit, value in zip(owner, values, strict=True):
        chosen = Mux(bit, value, chosen)
    return Value.cast(chosen)


def _in_turn(m: Module, requests: Sequence[Any], free: Signal) -> tuple[Signal, Signal]:
    """One request is granted while `free`: the first behind the one that was granted last."""
    count = len(requests)
    chosen = Signal()
    which = Signal(range(count))
    last = Signal(range(count))
    m.d.comb += chosen.eq(free & Cat(requests).any())
    with m.Switch(last):
        for previous in range(count):
            with m.Case(previous):
                # Later assignments win: the next in turn comes last.
                for step in range(count, 0, -1):
                    candidate = (previous + step) % count
                    with m.If(requests[candidate]):
                        m.d.comb += which.eq(candidate)
    with m.If(chosen):
        m.d.sync += last.eq(which)
    return chosen, which


def _take_address(
    m: Module, channel: str, masters: Sequence[Any], bus: Any, chosen: Signal, which: Signal
) -> None:
    """The granted address goes to a register, which keeps it until it is accepted."""
    valid, ready = getattr(bus, f"{channel}valid"), getattr(bus, f"{channel}ready")
    with m.If(ready):
        m.d.sync += valid.eq(0)
    with m.If(chosen):
        m.d.sync += valid.eq(1)
        for name in ("addr", "len", "size", "burst", "prot", "cache"):
            offered = Array(getattr(master, channel + name) for master in masters)[which]
            m.d.sync += getattr(bus, channel + name).eq(offered)
    for i, master in enumerate(masters):
        m.d.comb += getattr(master, f"{channel}ready").eq(chosen & (which == i))
