"""What happens when in an engine that takes one window at a time: computing and saving, and sending what is
saved.

The bits of conv_v3's opcode words are data. ``bits`` lists the opcodes that a word may combine, in order
of execution. The device computes the window's length when it uses it; it does not latch it at "set iC". A
driver that sets fH first sees no difference.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.engine.commands import CommandKind
from axiloom.hw.window.dot_product import step_layout
from axiloom.isa.contract.types import WORD_BITS


class WindowSequencer(wiring.Component):
    """Executes `commands` in order, one `step` a cycle.

    `start` tells the buffers which halves the command names; the steps that add read them from the next
    cycle on; `finish` ends their use. `send` hands over what has been saved, when no steps are `under_way`;
    nothing is saved or cleared while it is `sending`.
    """

    def __init__(self, command: data.StructLayout, macs: int) -> None:
        self._command = command
        self._macs = macs
        super().__init__(
            {
                "commands": In(stream.Signature(command)),
                "step": Out(step_layout(macs)),
                "start": Out(1),
                "finish": Out(1),
                "send": Out(1),
                "under_way": In(1),
                "sending": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        command = self.commands.payload
        kind = Signal(CommandKind)
        running = Signal()
        group = Signal.like(command.dims.last_group, name="group")
        before_last = Signal.like(group, name="before_last")
        last_group = Signal()  # known a cycle ahead, as the next command follows from it
        m.d.comb += kind.eq(command.kind)
        with m.If(self.commands.valid), m.Switch(kind):
            with m.Case(CommandKind.COMPUTE):
                m.d.comb += [
                    self.start.eq(~running),
                    self.step.add.eq(running),
                    self.step.last_lane.eq(Mux(last_group, command.dims.last_lane, self._macs - 1)),
                    self.finish.eq(running & last_group),
                    self.commands.ready.eq(self.finish),
                ]
                m.d.sync += [
                    running.eq(~self.finish),
                    before_last.eq(command.dims.last_group - 1),
                    last_group.eq(command.dims.last_group == 0),
                ]
                with m.If(running):
                    m.d.sync += [
                        group.eq(Mux(last_group, 0, group + 1)),
                        last_group.eq(group == before_last),
                    ]
            with m.Case(CommandKind.SAVE):
                m.d.comb += [self.step.save.eq(~self.sending), self.commands.ready.eq(~self.sending)]
            with m.Case(CommandKind.CLEAR):
                m.d.comb += [self.step.clear.eq(~self.sending), self.commands.ready.eq(~self.sending)]
            with m.Case(CommandKind.STORE):
                # `under_way` looks at steps from the cycle in which they are made.
                m.d.comb += self.send.eq(~self.sending & ~self.under_way)
                m.d.comb += self.commands.ready.eq(self.send)
        return m


class WindowSender(wiring.Component):
    """After `start`, gives `count` results one by one, read from `address` with `enable`; none if there are
    none.

    `sending`: some have still to be read. `busy`: some have not been taken. `closed_up`: nothing changes
    until one is taken.
    """

    def __init__(self, results: int) -> None:
        self._results = results
        vector = data.StructLayout({"elements": WORD_BITS, "count": range(2), "last": 1})
        super().__init__(
            {
                "start": In(1),
                "count": In(range(results + 1)),
                "enable": Out(1),
                "address": Out(range(results)),
                "word": In(WORD_BITS),
                "words": Out(stream.Signature(vector)),
                "sending": Out(1),
                "busy": Out(1),
                "closed_up": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal.like(self.count)
        last = Signal()
        flowing = Signal()
        m.d.comb += [
            flowing.eq(~self.words.valid | self.words.ready),
            self.enable.eq(self.sending & flowing),
            self.words.payload.elements.eq(self.word),
            self.words.payload.count.eq(1),
            self.words.payload.last.eq(last),
            self.busy.eq(self.sending | self.words.valid),
            self.closed_up.eq(self.words.valid | ~self.sending),
        ]
        with m.If(flowing):
            m.d.sync += [self.words.valid.eq(self.sending), last.eq(left == 1)]
        with m.If(self.enable):
            m.d.sync += [left.eq(left - 1), self.address.eq(self.address + 1), self.sending.eq(left != 1)]
        with m.If(self.start):
            m.d.sync += [left.eq(self.count), self.address.eq(0), self.sending.eq(self.count != 0)]
        return m
