"""The MatMul accelerator of any specification.

::

    s_axis -> stream_in -> receiver -> commands (FIFO) -> sequencer ---> sender -> m_axis
                          |                              |              ^
                          +--> buffer_a, buffer_b --> array --> result -+

With post-processing, the sender sends sums through `requantise` and gets elements back.

Receiving, computing and sending overlap: all buffers have two halves.
"""

from __future__ import annotations

from typing import cast

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import connect, flipped

from axiloom.hw.array.array_engine import ArrayEngine, Parts
from axiloom.hw.array.mac_array import MacArray
from axiloom.hw.array.operand_buffer import READ_LATENCY, OperandBuffer
from axiloom.hw.array.requantise import Requantise
from axiloom.hw.array.result_buffer import ResultBuffer
from axiloom.hw.array.sequencer import Sequencer
from axiloom.hw.axi.stream import StreamInput, StreamSkid
from axiloom.hw.engine.commands import command_layout
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.engine.engine import QUEUE_DEPTH, join_loads
from axiloom.hw.engine.receiver import Receiver
from axiloom.hw.matmul.geometry import Geometry
from axiloom.hw.matmul.sender import Sender
from axiloom.hw.matmul.tile_check import TileCheck


class MatMul(ArrayEngine):
    """Multiplies matrices: see :class:`axiloom.hw.engine.engine.Engine`.

    Both streams take a beat a cycle; loads of operands whose lines are no whole
    beats, and a C that goes out columns first, take a cycle for each part of a beat that lies together.

    Raises :exc:`SpecError` for what this engine cannot be: another kernel than ``linalg.matmul``, tiles that
    are no whole beats, multiply-adds that are no power of two.
    """

    sizes = staticmethod(Geometry.of)

    @property
    def geometry(self) -> Geometry:
        return cast(Geometry, self._geometry)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry = self.geometry
        m.submodules.stream_in = words = StreamInput(geometry.stream_width)
        m.submodules.receiver = receiver = Receiver(Programs(self.spec), geometry.protocol)
        layout = command_layout(geometry.operands, geometry.command_dims)
        command = Signal(layout)
        m.submodules.commands = queue = SyncFIFOBuffered(width=layout.size, depth=QUEUE_DEPTH)
        m.submodules.sequencer = sequencer = Sequencer(geometry)
        sizes = {dim: len(geometry.size(receiver.dims, dim)) for dim in "mnk"}
        tile_m, tile_n, tile_k = geometry.tile
        m.submodules.buffer_a = buffer_a = OperandBuffer(geometry.a, sizes["m"], sizes["k"], (tile_m, tile_k))
        m.submodules.buffer_b = buffer_b = OperandBuffer(geometry.b, sizes["n"], sizes["k"], (tile_n, tile_k))
        m.submodules.array = array = MacArray(geometry.a.bits, geometry.rows, geometry.cols, geometry.most[2])
        m.submodules.result = result = ResultBuffer(geometry.rows, geometry.cols, geometry.c_depth)
        m.submodules.sender = sender = Sender(geometry)
        output = StreamSkid(geometry.stream_width)
        parts = Parts(receiver, queue, sequencer, array, result, sender, output)
        command_dims: Value = receiver.dims.as_value()
        if geometry.post:
            m.submodules.requantise = requantise = Requantise(
                geometry.p_lanes, geometry.largest[1], geometry.p_width, 1, shared=False
            )
            self._join_requantise(m, parts, requantise, geometry.size(receiver.dims, "n"))
            command_dims = Cat(command_dims, requantise.load.half)

        connect(m, flipped(self.s_axis), words.s_axis)
        connect(m, words.words, receiver.words)
        connect(m, sequencer.requests, sender.requests)
        self._join_output(m, parts)
        m.d.comb += [
            command.kind.eq(receiver.commands.payload.kind),
            command.half_a.eq(receiver.commands.payload.half_a),
            command.half_b.eq(receiver.commands.payload.half_b),
            command.dims.as_value().eq(command_dims),
        ]
        self._join_commands(m, parts, command)

        m.d.comb += receiver.dims_fit.eq(~0)  # checked when they are set
        if not geometry.flexible:
            m.d.comb += [receiver.dims_settled.eq(1), receiver.dims_sound.eq(1)]
        else:
            m.submodules.tile_check = check = TileCheck(geometry)
            m.d.comb += [
                *(check.dims[dim].eq(receiver.dims[dim]) for dim in "mnk"),
                check.set.eq(receiver.dims_set),
                receiver.dims_settled.eq(check.settled),
                receiver.dims_sound.eq(check.sound),
            ]
        for name, buffer, lines in (("a", buffer_a, "m"), ("b", buffer_b, "n")):
            m.d.comb += [
                buffer.lines.eq(geometry.size(receiver.dims, lines)),
                buffer.k.eq(geometry.size(receiver.dims, "k")),
            ]
            join_loads(m, receiver, name, buffer)
            m.d.comb += [
                buffer.start.eq(sequencer.prepare),
                buffer.start_half.eq(sequencer.commands.payload[f"half_{name}"]),
                buffer.advance.eq(sequencer.control.valid),
                buffer.block_end.eq(getattr(sequencer, f"{name}_end")),
                buffer.finish.eq(sequencer.finish),
                buffer.finish_half.eq(getattr(sequencer, f"half_{name}")),
            ]
        self._join_array(m, parts, buffer_a.elements, buffer_b.elements, READ_LATENCY)
        self._join_probes(m, parts, receiver.busy)
        return m
