"""Between the streams and what executes commands."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.hw.axi.stream import StreamInput, StreamSkid
from axiloom.hw.command.fault import FAULT_BITS


def result_layout(stream_width: int) -> data.StructLayout:
    """A beat of results; `last` with the last one of its command."""
    return data.StructLayout({"data": stream_width, "last": 1})


class CommandFront(wiring.Component):
    """``s_axis`` to commands and their payload, results to ``m_axis``.

    `command`: all words of a command, the first in the lowest bits. Once it is taken, `payload` has the beats
    behind it, until `next`: that tells, in the cycle in which the command or a beat is taken or in a later
    one, that no more of it come, and that what follows is the next command.
    `result`: what goes out, with a register in its way back.
    `fault`, where it is not 0, stops the device: nothing more is taken, and `debug_error` keeps it until
    reset.
    `debug_busy`: a command is partly here, or a result is not taken yet. The units add their own.

    Raises ValueError for a width of the stream that is no multiple of 8.
    """

    def __init__(self, command_bits: int, stream_width: int) -> None:
        if stream_width <= 0 or stream_width % 8:
            raise ValueError(f"stream width must be a positive multiple of 8, not {stream_width}")
        if command_bits <= 0:
            raise ValueError(f"command bits must be positive, not {command_bits}")
        self._command_bits = command_bits
        self._stream_width = stream_width
        super().__init__(
            {
                "s_axis": In(AXI4Stream(stream_width)),
                "m_axis": Out(AXI4Stream(stream_width)),
                "command": Out(stream.Signature(command_bits)),
                "payload": Out(stream.Signature(stream_width)),
                "next": In(1),
                "result": In(stream.Signature(result_layout(stream_width))),
                "fault": In(FAULT_BITS),
                "debug_error": Out(FAULT_BITS),
                "debug_busy": Out(1),
            }
        )

    @property
    def command_bits(self) -> int:
        return self._command_bits

    @property
    def stream_width(self) -> int:
        return self._stream_width

    @property
    def command_beats(self) -> int:
        """Beats of a command's words."""
        return -(-self.command_bits // self.stream_width)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.received = received = StreamInput(self.stream_width)
        m.submodules.sent = sent = StreamSkid(self.stream_width)
        wiring.connect(m, wiring.flipped(self.s_axis), received.s_axis)
        wiring.connect(m, sent.o, wiring.flipped(self.m_axis))
        beat, stopped = received.words, Signal()
        with m.If(self.fault.any() & ~stopped):
            m.d.sync += [stopped.eq(1), self.debug_error.eq(self.fault)]

        parts = [Signal(self.stream_width, name=f"command_{at}") for at in range(self.command_beats)]
        count = Signal(range(self.command_beats + 1))
        m.d.comb += self.command.payload.eq(Cat(*parts)[: self.command_bits])
        with m.FSM(name="phase"):
            with m.State("COMMAND"):
                m.d.comb += beat.ready.eq(~stopped)
                with m.If(beat.valid & beat.ready):
                    m.d.sync += count.eq(count + 1)
                    for at, part in enumerate(parts):
                        with m.If(count == at):
                            m.d.sync += part.eq(beat.payload)
                    with m.If(count == self.command_beats - 1):
                        m.d.sync += count.eq(0)
                        m.next = "DECODED"
            with m.State("DECODED"):
                m.d.comb += self.command.valid.eq(~stopped)
                with m.If(self.command.valid & self.command.ready):
                    with m.If(self.next):
                        m.next = "COMMAND"
                    with m.Else():
                        m.next = "PAYLOAD"
            with m.State("PAYLOAD"):
                m.d.comb += [
                    self.payload.valid.eq(beat.valid & ~stopped),
                    beat.ready.eq(self.payload.ready & ~stopped),
                ]
                with m.If(self.next):
                    m.next = "COMMAND"
        m.d.comb += self.payload.payload.eq(beat.payload)

        m.d.comb += [
            sent.i.tvalid.eq(self.result.valid),
            sent.i.tdata.eq(self.result.payload.data),
            sent.i.tlast.eq(self.result.payload.last),
            self.result.ready.eq(sent.i.tready),
            self.debug_busy.eq((beat.valid & beat.ready) | self.command.valid | sent.busy),
        ]
        return m
