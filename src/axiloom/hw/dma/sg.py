"""The scatter-gather engine of a channel: descriptors in, commands to the mover, status back to memory.

What comes before TAILDESC is a promise, not a guess. Of the 77 cycles from a doorbell to the first word
of a tile, 37 are the fetch of descriptors that a driver of a small problem wrote long ago. The DMA could
guess that they are as last time, read their data at once, and compare later; but it would read memory
that no descriptor names any more, and forget words that are on their way. With AHEADDESC the driver says
that they will not change. What was fetched is used only if the next TAILDESC is the one that was
promised, so there is one comparison, and no word of a tile is read before the doorbell. The register lies
at an address that PG021 reserves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from axiloom.hw.dma.mm2s import MAX_COMMANDS
from axiloom.hw.dma.mover import MoverCommand, MoverStatus
from axiloom.hw.dma.sg_fetch import INDEX_BITS, LENGTH_BITS, STATUS, DescriptorFetch
from axiloom.hw.dma.sg_port import SgRequests


class DescriptorEngine(wiring.Component):
    """Runs descriptors from `first` to `tail` while `run` is high.

    Descriptors are handed to the mover in order, as soon as it takes one; up to
    :data:`MAX_COMMANDS` are under way. When the mover has done with one, its status is written to memory,
    and when that was answered, `completed` is high for a cycle: whoever sees it finds the status in memory.

    What stops it, until a reset: a misfit (its status is written with IntErr; `int_error`), an error of
    the mover (the status of the descriptor that failed says which), a descriptor that was
    completed already (`sg_int_error`), an error of the descriptors' memory (`sg_slave_error`,
    `sg_decode_error`).
    Descriptors before it are completed first.

    With `cyclic` it goes round the chain until `run` falls: a tail only starts it, and a descriptor that was
    completed is taken again (PG021, "Cyclic DMA Mode").

    When `run` falls, what is under way ends, and what was only fetched is forgotten.

    Parameters
    ----------
    data_width : of the memory port of the data
    receives : it is S2MM: a buffer holds at least a word, and the status says where packets begin and end

    Members
    -------
    run, cyclic : from DMACR
    load, first, go, tail, ask, until, meets : as of :class:`DescriptorFetch`
    current : the descriptor being worked on (index): the oldest one that is begun and not completed, or else
        the last one completed
    completed, packet : a descriptor is completed; it ends a packet
    int_error, sg_int_error, sg_slave_error, sg_decode_error : one cycle each
    busy : something is under way or will be
    quiet : nothing will happen before the next strobe or the next answer of the mover
    requests : to the port of the descriptors
    command, last : to the mover
    mover : from it
    result, moved, begins, ends : one cycle a command, in order, not after its `done`: the bytes it has moved
    """

    def __init__(self, data_width: int, receives: bool) -> None:
        self._data_width = data_width
        self._receives = receives
        super().__init__(
            {
                "run": In(1),
                "cyclic": In(1),
                "load": In(1),
                "first": In(INDEX_BITS),
                "go": In(1),
                "tail": In(INDEX_BITS),
                "ask": In(1),
                "until": In(INDEX_BITS),
                "meets": In(1),
                "current": Out(INDEX_BITS),
                "completed": Out(1),
                "packet": Out(1),
                "int_error": Out(1),
                "sg_int_error": Out(1),
                "sg_slave_error": Out(1),
                "sg_decode_error": Out(1),
                "busy": Out(1),
                "quiet": Out(1),
                "requests": Out(SgRequests()),
                "command": Out(MoverCommand(LENGTH_BITS, strided=True)),
                "last": Out(1),
                "mover": In(MoverStatus()),
                "result": In(1),
                "moved": In(LENGTH_BITS),
                "begins": In(1),
                "ends": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        requests = self.requests
        m.submodules.fetch = fetch = DescriptorFetch(
            self._data_width, min_length=self._data_width // 8 if self._receives else 1
        )
        # Descriptors from the command on: under way, with their results, and with their status under way.
        m.submodules.begun = begun = SyncFIFO(width=INDEX_BITS, depth=MAX_COMMANDS)
        m.submodules.results = results = SyncFIFO(width=LENGTH_BITS + 2, depth=MAX_COMMANDS)
        m.submodules.reported = reported = SyncFIFO(width=INDEX_BITS + 2, depth=MAX_COMMANDS)

        # --- what stopped it ---
        slave_error, decode_error = Signal(), Signal()  # of the mover
        mover_failed = Signal()
        misfit = Signal()  # the last one in `begun`
        port_failed = Signal()
        error_reported = Signal()
        broken = Signal()
        m.d.comb += [
            mover_failed.eq(slave_error | decode_error),
            broken.eq(mover_failed | misfit | port_failed),
        ]
        m.d.sync += [
            slave_error.eq(slave_error | self.mover.slave_error),
            decode_error.eq(decode_error | self.mover.decode_error),
        ]

        # --- fetch ---
        m.d.comb += [
            fetch.load.eq(self.load),
            fetch.first.eq(self.first),
            fetch.go.eq(self.go),
            fetch.tail.eq(self.tail),
            fetch.ask.eq(self.ask),
            fetch.until.eq(self.until),
            fetch.meets.eq(self.meets),
            fetch.cyclic.eq(self.cyclic),
            fetch.flush.eq(~self.run | broken),
            requests.read.eq(fetch.read),
            requests.read_address.eq(fetch.read_address),
            fetch.read_granted.eq(requests.read_granted),
            fetch.beat.eq(requests.beat),
            fetch.data.eq(requests.data),
            fetch.read_response.eq(requests.read_response),
        ]
        new = fetch.descriptor

        # --- commands to the mover ---
        unreadable = Signal()
        begin = Signal()
        give_up = Signal()
        m.d.comb += [
            unreadable.eq((new.stale & ~self.cyclic) | new.slave_error | new.decode_error),
            begin.eq(
                fetch.valid
                & ~unreadable
                & (self.command.ready | new.misfit)
                & begun.w_rdy
                & self.run
                & ~broken
            ),
            # What stands before it is completed first.
            give_up.eq(fetch.valid & unreadable & (begun.level == 0) & (reported.level == 0) & ~broken),
            fetch.take.eq(begin),
            begun.w_data.eq(new.index),
            begun.w_en.eq(begin),
            self.command.start.eq(begin & ~new.misfit),
            self.command.address.eq(new.address),
            self.command.length.eq(new.length),
            self.command.stride.eq(new.stride),
            self.command.rows.eq(new.rows),
            self.last.eq(new.last),
        ]
        with m.If(begin & new.misfit):
            m.d.sync += misfit.eq(1)

        success, failure = Signal(), Signal()
        finished = Signal(range(MAX_COMMANDS + 1))  # the oldest in `begun`
        fifos = _Fifos(begun, results, reported)
        stops = _Stops(slave_error, decode_error, mover_failed, misfit, port_failed, error_reported)
        self._report(m, fifos, stops, finished, success, failure)
        self._answers(m, fifos, stops, new, give_up)

        # --- what is still to come ---
        m.d.comb += [
            self.busy.eq(
                ~fetch.empty
                | (reported.level != 0)
                | self.mover.active
                | ((begun.level != 0) & ~error_reported)
            ),
            self.quiet.eq(
                fetch.quiet
                & ~begin
                & ~give_up
                & ~success
                & ~failure
                & (finished == 0)
                & (reported.level == 0)
            ),
        ]
        return m

    def _report(
        self, m: Module, fifos: _Fifos, stops: _Stops, finished: Signal, success: Signal, failure: Signal
    ) -> None:
        """Status of the oldest descriptor to memory: of what the mover has done, or of what stopped it."""
        requests = self.requests
        begun, results, reported = fifos.begun, fifos.results, fifos.reported
        # RXEOF and RXSOF are for what comes; going out, they would only repeat what the descriptor says.
        status_mask = (1 << (LENGTH_BITS + 2 if self._receives else LENGTH_BITS)) - 1
        write_status = Signal()
        int_err = Signal()
        m.d.comb += [
            success.eq((finished != 0) & results.r_rdy & ~stops.reported),
            int_err.eq(stops.misfit & (begun.level == 1) & ~stops.mover_failed),
            failure.eq(
                (finished == 0)
                & begun.r_rdy
                & ~stops.reported
                & ((stops.mover_failed & ~self.mover.active) | int_err)
            ),
            requests.write.eq((success | failure) & reported.w_rdy),
            requests.write_address.eq(Cat(Const(STATUS * 4, 6), begun.r_data)),
            requests.write_data.eq(
                Cat(
                    Mux(failure, 0, results.r_data & status_mask),
                    failure & int_err,
                    failure & stops.slave_error,
                    failure & stops.decode_error,
                    Const(1, 1),
                )
            ),
            write_status.eq(requests.write_granted),
            self.int_error.eq(write_status & failure & int_err),
            begun.r_en.eq(write_status),
            results.w_data.eq(Cat(self.moved, self.ends, self.begins)),
            results.w_en.eq(self.result),
            results.r_en.eq(write_status & success),
            reported.w_data.eq(Cat(begun.r_data, results.r_data[LENGTH_BITS] & success, success)),
            reported.w_en.eq(write_status),
        ]
        m.d.sync += finished.eq(finished + self.mover.done - (write_status & success))
        with m.If(write_status & failure):
            m.d.sync += stops.reported.eq(1)

    def _answers(self, m: Module, fifos: _Fifos, stops: _Stops, new: Any, give_up: Signal) -> None:
        """What memory says of a status, and which descriptor is `current`."""
        requests, begun, reported = self.requests, fifos.begun, fifos.reported
        last_completed = Signal(INDEX_BITS)
        written_badly = Signal()
        m.d.comb += [
            reported.r_en.eq(requests.written),
            written_badly.eq(requests.written & requests.write_response[1]),
            self.completed.eq(requests.written & ~written_badly & reported.r_data[-1]),
            self.packet.eq(reported.r_data[INDEX_BITS]),
            self.sg_int_error.eq(give_up & new.stale),
            self.sg_slave_error.eq(
                (give_up & new.slave_error) | (written_badly & ~requests.write_response[0])
            ),
            self.sg_decode_error.eq(
                (give_up & new.decode_error) | (written_badly & requests.write_response[0])
            ),
        ]
        with m.If(self.load):
            m.d.sync += last_completed.eq(self.first)
        with m.If(requests.written):
            m.d.sync += last_completed.eq(reported.r_data)
        with m.If(give_up):
            m.d.sync += last_completed.eq(new.index)
        with m.If(give_up | written_badly):
            m.d.sync += stops.port_failed.eq(1)
        m.d.comb += self.current.eq(
            Mux(
                reported.r_rdy,
                reported.r_data[:INDEX_BITS],
                Mux(begun.r_rdy & ~stops.reported, begun.r_data, last_completed),
            )
        )


@dataclass(frozen=True)
class _Fifos:
    """Descriptors from the command on: under way, with their results, and with their status under way."""

    begun: SyncFIFO
    results: SyncFIFO
    reported: SyncFIFO


@dataclass(frozen=True)
class _Stops:
    """What stopped the engine."""

    slave_error: Signal
    decode_error: Signal
    mover_failed: Signal
    """Either of them."""
    misfit: Signal
    """The last one in `begun`."""
    port_failed: Signal
    reported: Signal
    """The descriptor that failed says so in memory."""
