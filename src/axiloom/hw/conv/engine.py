"""The convolution accelerator that takes image tiles and walks over them itself (conv_v4), for any
specification.

::

    s_axis -> stream_in -> receiver -> commands (FIFO) -> sequencer -----> sender -> m_axis
                          |  |                               |               ^
                          |  +--> numbers                    |               |
                          +--> filters, window ----------> array --> result -+

It is the MatMul engine with a window in place of B: the array's rows are output channels, its columns
neighbouring pixels of a row of outputs, and k runs over input channels and taps. With post-processing, the
sender sends sums through `requantise` and gets elements back. Receiving, computing and sending overlap: all
buffers have two halves.

conv_v4 is the MatMul engine with a window buffer in place of B. Rows of the array are output channels,
columns neighbouring pixels of a row, at most 8 of them: with 256 multiply-adds it has 32 rows. Rows of
outputs are often 7, 14, 28 or 56 long. 16 columns would leave 9 of 16 idle at 7, and 1 of 8 at 56. Column
x of the image lies in bank (x div sw) mod columns, so that for every stride, dilation and filter column
the lanes read distinct banks; padding is masked when it is read. Tensors travel dense, as they lie in
memory.
"""

from __future__ import annotations

from typing import cast

from amaranth.hdl import Module, Signal
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import connect, flipped

from axiloom.hw.array.array_engine import ArrayEngine, Parts
from axiloom.hw.array.delay import delayed
from axiloom.hw.array.mac_array import MacArray
from axiloom.hw.array.operand_buffer import READ_LATENCY, OperandBuffer
from axiloom.hw.array.requantise import Requantise
from axiloom.hw.array.result_buffer import ResultBuffer
from axiloom.hw.array.sequencer import Sequencer
from axiloom.hw.axi.stream import StreamInput, StreamSkid
from axiloom.hw.conv.geometry import ConvGeometry
from axiloom.hw.conv.image_buffer import READ_LATENCY as WINDOW_LATENCY
from axiloom.hw.conv.image_buffer import WindowBuffer
from axiloom.hw.conv.numbers import ConvNumbers
from axiloom.hw.conv.sender import ConvSender, tag_layout
from axiloom.hw.engine.commands import command_layout
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.engine.engine import QUEUE_DEPTH, join_loads
from axiloom.hw.engine.receiver import Receiver


class Conv(ArrayEngine):
    """Convolves: see :class:`axiloom.hw.engine.engine.Engine`.

    A beat a cycle is taken; but of an image at most `cols` elements, and half of them at stride sw 2 where
    iw is even, unless columns that no tap reads are left out. At other strides above 1 it is two elements, or
    one where neighbours lie in the same bank. Between a word that sets something and the next word a dozen
    cycles pass.

    Raises :exc:`SpecError` for what this engine cannot be.
    """

    sizes = staticmethod(ConvGeometry.of)

    @property
    def geometry(self) -> ConvGeometry:
        return cast(ConvGeometry, self._geometry)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry = self.geometry
        m.submodules.stream_in = words = StreamInput(geometry.stream_width)
        m.submodules.receiver = receiver = Receiver(Programs(self.spec), geometry.protocol)
        m.submodules.numbers = numbers = ConvNumbers(geometry)
        layout = command_layout(geometry.operands, geometry.command_dims)
        command = Signal(layout)
        m.submodules.commands = queue = SyncFIFOBuffered(width=layout.size, depth=QUEUE_DEPTH)
        m.submodules.sequencer = sequencer = Sequencer(geometry)
        m.submodules.filters = filters = OperandBuffer(
            geometry.filters, len(receiver.dims.oc), len(numbers.k)
        )
        m.submodules.window = window = WindowBuffer(geometry.image)
        m.submodules.array = array = MacArray(
            geometry.image.bits, geometry.rows, geometry.cols, geometry.most[2]
        )
        m.submodules.result = result = ResultBuffer(geometry.rows, geometry.cols, geometry.o_depth)
        m.submodules.sender = sender = ConvSender(geometry)
        output = StreamSkid(geometry.stream_width)
        parts = Parts(receiver, queue, sequencer, array, result, sender, output)

        connect(m, flipped(self.s_axis), words.s_axis)
        connect(m, sequencer.requests, sender.requests)
        self._join_output(m, parts)
        m.d.comb += [
            # After reset, the numbers of the first tile come before the first word.
            receiver.words.payload.eq(words.words.payload),
            receiver.words.valid.eq(words.words.valid & numbers.ready),
            words.words.ready.eq(receiver.words.ready & numbers.ready),
            numbers.dims.eq(receiver.dims),
            numbers.set.eq(receiver.dims_set),
            receiver.dims_settled.eq(numbers.settled),
            receiver.dims_sound.eq(numbers.sound),
            receiver.dims_fit.eq(numbers.fits),
            command.kind.eq(receiver.commands.payload.kind),
            command.half_i.eq(receiver.commands.payload.half_i),
            command.half_f.eq(receiver.commands.payload.half_f),
            command.dims.eq(numbers.numbers),
        ]
        self._join_commands(m, parts, command)
        m.d.comb += [
            filters.lines.eq(receiver.dims.oc),
            filters.k.eq(numbers.k),
            window.tile.eq(numbers.tile),
            window.walk.eq(sequencer.commands.payload.dims.walk),
        ]
        join_loads(m, receiver, "i", window)
        join_loads(m, receiver, "f", filters)
        # A window takes longer to read than filters, so those are told what to do later.
        for buffer, operand, half, later in (
            (window, "b", "half_i", 0),
            (filters, "a", "half_f", WINDOW_LATENCY - READ_LATENCY),
        ):
            told = {
                "advance": sequencer.control.valid,
                "block_end": getattr(sequencer, f"{operand}_end"),
                "start": sequencer.prepare,
                "start_half": sequencer.commands.payload[half],
                "finish": sequencer.finish,
                "finish_half": getattr(sequencer, f"half_{operand}"),
            }
            for what, value in told.items():
                m.d.comb += getattr(buffer, what).eq(delayed(m, f"{operand}_{what}", value, later))

        self._join_array(m, parts, filters.elements, window.elements, WINDOW_LATENCY)
        self._join_probes(m, parts, receiver.busy | words.words.valid & ~numbers.ready)
        if geometry.post:
            m.submodules.requantise = requantise = Requantise(
                geometry.p_lanes, geometry.channels, geometry.p_width, tag_layout(geometry), shared=True
            )
            self._join_requantise(m, parts, requantise, receiver.dims.oc)
            m.d.comb += command.dims.half_p.eq(requantise.load.half)
        return m
