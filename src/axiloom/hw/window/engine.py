"""The convolution accelerator whose host cuts out every window (conv_v3), for any specification.

::

    s_axis -> stream_in -> receiver -> commands (FIFO) -> sequencer -----> sender -> m_axis
                          |  |                               |               ^
                          |  +--> numbers                    |               |
                          +--> image, filters ------> dot (products, sum, saved sums)

While one window is computed, the next one is loaded. Sums are saved in one place only: saving the next ones
waits until those before have been read to be sent, which takes no time beside computing them.
"""

from __future__ import annotations

from typing import cast

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import bits_for, exact_log2

from axiloom.hw.array.operand_buffer import BlockEnd, OperandBuffer
from axiloom.hw.axi.packer import Packer
from axiloom.hw.axi.stream import StreamInput, StreamSkid
from axiloom.hw.engine.commands import CommandKind, command_layout
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.engine.engine import QUEUE_DEPTH, Engine, join_loads
from axiloom.hw.engine.receiver import Receiver
from axiloom.hw.window.control import WindowSender, WindowSequencer
from axiloom.hw.window.dot_product import DotProduct
from axiloom.hw.window.geometry import WindowGeometry
from axiloom.isa.contract.types import WORD_BITS


class WindowNumbers(wiring.Component):
    """Works on `dims` after reset, and when they are `set`; two cycles later `settled` comes with the
    verdict: `sound`, and whether a window `fits` both buffers. `ready`: the numbers are those of `dims`.

    `elements`: of a window, in whole beats; `numbers`: what computing must know of it.
    """

    def __init__(self, geometry: WindowGeometry) -> None:
        self._geometry = geometry
        super().__init__(
            {
                "dims": In(geometry.protocol.dims_layout),
                "set": In(1),
                "ready": Out(1),
                "settled": Out(1),
                "sound": Out(1),
                "fits": Out(2),
                "elements": Out(range(geometry.longest + 1)),
                "numbers": Out(geometry.command_dims),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry, dims = self._geometry, self.dims
        per_beat = geometry.image.per_word
        taps = Signal(len(dims.fh) + len(dims.fw))
        elements = Signal(len(taps) + len(dims.ic))
        running = Signal(3, init=1)
        m.d.sync += [
            running.eq(Cat(self.set, running[:-1])),
            taps.eq(dims.fh * dims.fw),
            elements.eq(taps * dims.ic),
        ]
        beats = (elements + (per_beat - 1)) >> exact_log2(per_beat)
        limits = [layout.depth * layout.banks for layout in (geometry.image, geometry.filters)]
        m.d.sync += [
            self.sound.eq(Cat(dims[name] != 0 for name in geometry.dims).all()),
            self.fits.eq(Cat(beats <= limit for limit in limits)),
        ]
        m.d.comb += [
            self.ready.eq(~running.any() & ~self.set),
            self.settled.eq(running[-1]),
            self.elements.eq(beats << exact_log2(per_beat)),
            self.numbers.last_group.eq((elements - 1) >> exact_log2(geometry.macs)),
            self.numbers.last_lane.eq(elements - 1),
        ]
        return m


class WindowConv(Engine):
    """Convolves: see :class:`axiloom.hw.engine.engine.Engine`.

    A beat a cycle is taken, `macs` elements a cycle are computed, a word a cycle is sent.

    Raises :exc:`SpecError` for what this engine cannot be.
    """

    sizes = staticmethod(WindowGeometry.of)

    @property
    def geometry(self) -> WindowGeometry:
        return cast(WindowGeometry, self._geometry)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry = self.geometry
        m.submodules.stream_in = words = StreamInput(geometry.stream_width)
        m.submodules.receiver = receiver = Receiver(Programs(self.spec), geometry.protocol)
        m.submodules.numbers = numbers = WindowNumbers(geometry)
        layout = command_layout("IF", geometry.command_dims)
        queued, command = Signal(layout), Signal(layout)
        m.submodules.commands = queue = SyncFIFOBuffered(width=layout.size, depth=QUEUE_DEPTH)
        m.submodules.dot = dot = DotProduct(geometry.bits, geometry.macs, geometry.results)
        m.submodules.sequencer = sequencer = WindowSequencer(layout, geometry.macs)
        m.submodules.sender = sender = WindowSender(geometry.results)
        bits = bits_for(geometry.longest)
        m.submodules.image = image = OperandBuffer(geometry.image, bits, 1)
        m.submodules.filters = filters = OperandBuffer(geometry.filters, bits, 1)
        m.submodules.packer = packer = Packer(WORD_BITS, 1, geometry.stream_width)

        # Results that will have been saved when all commands given are done.
        saved = Signal.like(dot.saved)
        kind = receiver.commands.payload.kind
        with m.If(receiver.commands.valid & receiver.commands.ready), m.Switch(kind):
            with m.Case(CommandKind.SAVE):
                m.d.sync += saved.eq(saved + 1)
            with m.Case(CommandKind.CLEAR):
                m.d.sync += saved.eq(0)

        connect(m, flipped(self.s_axis), words.s_axis)
        m.submodules.skid = output = StreamSkid(geometry.stream_width)
        connect(m, packer.m_axis, output.i)
        connect(m, output.o, flipped(self.m_axis))
        m.d.comb += [
            # After reset, the numbers of the first window come before the first word.
            receiver.words.payload.eq(words.words.payload),
            receiver.words.valid.eq(words.words.valid & numbers.ready),
            words.words.ready.eq(receiver.words.ready & numbers.ready),
            numbers.dims.eq(receiver.dims),
            numbers.set.eq(receiver.dims_set),
            receiver.dims_settled.eq(numbers.settled),
            receiver.dims_sound.eq(numbers.sound),
            receiver.dims_fit.I.eq(numbers.fits[0]),
            receiver.dims_fit.F.eq(numbers.fits[1]),
            receiver.dims_fit.O.eq(saved != geometry.results),
            queued.kind.eq(kind),
            queued.half_i.eq(receiver.commands.payload.half_i),
            queued.half_f.eq(receiver.commands.payload.half_f),
            queued.dims.eq(numbers.numbers),
            queue.w_data.eq(queued),
            queue.w_en.eq(receiver.commands.valid),
            receiver.commands.ready.eq(queue.w_rdy),
            command.eq(queue.r_data),
            sequencer.commands.payload.eq(command),
            sequencer.commands.valid.eq(queue.r_rdy),
            queue.r_en.eq(sequencer.commands.ready),
        ]

        connect(m, sender.words, packer.i)
        m.d.comb += [
            sequencer.sending.eq(sender.sending),
            sequencer.under_way.eq(dot.busy),
            sender.start.eq(sequencer.send),
            sender.count.eq(dot.saved),
            sender.word.eq(dot.send_word),
            dot.step.eq(sequencer.step),
            dot.a.eq(filters.elements),
            dot.b.eq(image.elements),
            dot.send_enable.eq(sender.enable),
            dot.send_address.eq(sender.address),
        ]
        for name, buffer in (("i", image), ("f", filters)):
            m.d.comb += [
                buffer.lines.eq(numbers.elements),
                buffer.k.eq(1),
            ]
            join_loads(m, receiver, name, buffer)
            m.d.comb += [
                buffer.start.eq(sequencer.start),
                buffer.start_half.eq(command[f"half_{name}"]),
                buffer.advance.eq(sequencer.step.add),
                buffer.block_end.eq(Mux(sequencer.step.add, BlockEnd.NEXT, BlockEnd.STAY)),
                buffer.finish.eq(sequencer.finish),
                buffer.finish_half.eq(command[f"half_{name}"]),
            ]
        # A beat that nobody takes holds everything behind it, as soon as that has closed up.
        stuck = packer.m_axis.tvalid & ~packer.m_axis.tready & sender.closed_up
        m.d.comb += [
            self.debug_compute.eq(dot.active),
            self.debug_error.eq(receiver.error),
            self.debug_busy.eq(
                receiver.busy
                | words.words.valid & ~numbers.ready
                | queue.r_rdy
                | (queue.level != 0)
                | dot.busy
                | (sender.busy | packer.busy) & ~stuck
                | output.busy
            ),
        ]
        return m
