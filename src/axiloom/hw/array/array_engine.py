"""How the engines around an array of multiply-adds are put together, behind their operand buffers."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Module, Value
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import connect, flipped

from axiloom.hw.array.delay import delayed
from axiloom.hw.array.mac_array import LATENCY, MacArray
from axiloom.hw.array.requantise import Requantise
from axiloom.hw.array.result_buffer import ResultBuffer
from axiloom.hw.array.sequencer import Sequencer
from axiloom.hw.array.tile_sender import TileSender
from axiloom.hw.axi.stream import StreamSkid
from axiloom.hw.engine.engine import Engine
from axiloom.hw.engine.receiver import Receiver


@dataclass(frozen=True)
class Parts:
    """What is between the stream's words and `m_axis`, but for operand buffers and `requantise`."""

    receiver: Receiver
    commands: SyncFIFOBuffered
    sequencer: Sequencer
    array: MacArray
    result: ResultBuffer
    sender: TileSender
    output: StreamSkid


class ArrayEngine(Engine):
    """Joins its parts; what a kind of engine has besides is its own."""

    def _join_commands(self, m: Module, parts: Parts, command: Value) -> None:
        """The receiver's commands, completed to `command`, through their queue to the sequencer."""
        queue, sequencer = parts.commands, parts.sequencer
        m.d.comb += [
            queue.w_data.eq(command),
            queue.w_en.eq(parts.receiver.commands.valid),
            parts.receiver.commands.ready.eq(queue.w_rdy),
            sequencer.commands.payload.eq(queue.r_data),
            sequencer.commands.valid.eq(queue.r_rdy),
            queue.r_en.eq(sequencer.commands.ready),
        ]

    def _join_array(self, m: Module, parts: Parts, a: Value, b: Value, read_latency: int) -> None:
        """Operands into the array, its sums into the result buffer, rows from there to the sender; elements
        `a` and `b` come `read_latency` cycles after the sequencer has asked for them."""
        array, result, sender, sequencer = parts.array, parts.result, parts.sender, parts.sequencer
        m.d.comb += [
            array.a.eq(a),
            array.b.eq(b),
            array.select.eq(result.select),
            result.sums.eq(array.selected),
            # `step` comes two cycles before the sums of a block's row 0 are whole.
            array.control.eq(delayed(m, "control", sequencer.control, read_latency)),
            result.step.eq(delayed(m, "step", sequencer.step, read_latency + LATENCY - 2)),
            result.start.eq(sequencer.start),
            result.start_half.eq(sequencer.half),
            result.sending.eq(sender.reading),
            result.send_half.eq(sender.send_half),
            result.send_enable.eq(sender.send_enable),
            result.send_flow.eq(sender.send_flow),
            result.send_address.eq(sender.send_address),
            sender.send_row.eq(result.send_row),
            sender.running.eq(result.running),
            sender.sendable.eq(result.sendable),
            sequencer.held.eq(sender.holds),
            sequencer.held_half.eq(sender.send_half),
        ]

    def _join_output(self, m: Module, parts: Parts) -> None:
        """The sender's beats to `m_axis`."""
        m.submodules.skid = parts.output
        connect(m, parts.sender.m_axis, parts.output.i)
        connect(m, parts.output.o, flipped(self.m_axis))

    def _join_probes(self, m: Module, parts: Parts, received: Value) -> None:
        """`received`: something is in the receiver, or waits in front of it."""
        m.d.comb += [
            self.debug_compute.eq(parts.array.active),
            self.debug_error.eq(parts.receiver.error),
            self.debug_busy.eq(
                received
                | parts.commands.r_rdy
                | (parts.commands.level != 0)
                | parts.sequencer.busy
                | parts.result.busy
                | parts.sender.busy
                | parts.output.busy
            ),
        ]

    def _join_requantise(self, m: Module, parts: Parts, requantise: Requantise, channels: Value) -> None:
        """The post-processor between the sender and itself, its parameters from the receiver; a tile has so
        many `channels`."""
        receiver, sender = parts.receiver, parts.sender
        connect(m, sender.sums, requantise.i)
        connect(m, requantise.o, sender.elements)
        connect(m, receiver.load_p, requantise.load)
        m.d.comb += [
            requantise.size.eq(channels),
            requantise.load_data.eq(receiver.load_data[: requantise.load_width]),
            requantise.claim.eq(receiver.claim_p),
            requantise.finish.eq(sender.finish_p),
            requantise.finish_half.eq(sender.finish_half_p),
            sender.requantising.eq(requantise.busy),
        ]
