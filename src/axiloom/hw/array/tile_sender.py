"""What senders of tiles have in common: their ports, and when a tile may be read from the result buffer."""

from __future__ import annotations

from typing import Protocol

from amaranth.hdl import Const, Module, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.axi.signatures import AXI4Stream
from axiloom.isa.contract.types import WORD_BITS


def request_layout(dims: data.StructLayout, *, post: bool) -> data.StructLayout:
    """Which half to send with which sizes; `zero`: it is cleared, send zeros; `requantise`: as bytes."""
    kind = {"requantise": unsigned(1)} if post else {}
    return data.StructLayout({"half": unsigned(1), "zero": unsigned(1), "dims": dims, **kind})


class Tiles(Protocol):
    """What it must know of an engine."""

    @property
    def stream_width(self) -> int: ...

    @property
    def cols(self) -> int: ...

    @property
    def post(self) -> bool: ...

    @property
    def command_dims(self) -> data.StructLayout: ...


class Reading:
    """What is being read: a `request`, which is `waiting` or being read (`reading`), row by row as they
    `advance`; `posts`: a row that has been read is on its way to be requantised.
    """

    def __init__(self, request: data.StructLayout) -> None:
        self.request = Signal(request, name="request")
        self.waiting = Signal(name="waiting")
        self.reading = Signal(name="reading")
        self.advance = Signal(name="advance")
        self.posts = Signal(name="posts")


class TileSender(wiring.Component):
    """Takes a request when it has read all of the tile before. As long as the half is `running`, it reads a
    row only when that is `sendable`.

    `holds`: it still has to read `send_half`; `reading`: it does so now. `busy`: a tile is waiting or
    going out, and not only because `m_axis` is not taken.

    With post-processing, `sums` of a tile to be requantised go out, to come back as `elements`, while some
    are `requantising`; `finish_p` says that half `finish_half_p` of P has been looked at for the last time
    for this tile.
    """

    def __init__(
        self, geometry: Tiles, depth: int, sums: data.StructLayout, elements: data.StructLayout
    ) -> None:
        post = {
            "sums": Out(stream.Signature(sums)),
            "elements": In(stream.Signature(elements)),
            "requantising": In(1),
            "finish_p": Out(1),
            "finish_half_p": Out(1),
        }
        super().__init__(
            {
                "requests": In(stream.Signature(request_layout(geometry.command_dims, post=geometry.post))),
                "running": In(2),
                "sendable": In(1),
                "holds": Out(1),
                "reading": Out(1),
                "send_half": Out(1),
                "send_enable": Out(1),
                "send_flow": Out(1),
                "send_address": Out(range(depth)),
                "send_row": In(WORD_BITS * geometry.cols),
                "busy": Out(1),
                "m_axis": Out(AXI4Stream(geometry.stream_width)),
                **(post if geometry.post else {}),
            }
        )

    def _take_requests(self, m: Module, tile: Reading, flowing: Value, last: Value) -> None:
        """One request after the other; rows advance while they are `flowing`, up to the `last`. Who calls it
        sets `posts`."""
        request, waiting, reading = tile.request, tile.waiting, tile.reading
        holds, reads = Signal(name="holds_half"), Signal(name="reads_half")  # as far as the tile is not zero
        follows = Signal(name="follows")  # the compute that is still writing the half
        m.d.comb += [
            tile.advance.eq(reading & flowing & ~(follows & ~self.sendable)),
            self.requests.ready.eq(~waiting & ~reading),
            self.holds.eq(holds),
            self.reading.eq(reads),
            self.send_half.eq(request.half),
            self.send_enable.eq(tile.advance),
            self.send_flow.eq(flowing),
        ]
        with m.If(~self.running.bit_select(request.half, 1)):
            m.d.sync += follows.eq(0)
        with m.If(self.requests.valid & self.requests.ready):
            asked = self.requests.payload
            at_once = self._may_read(tile, asked)
            m.d.sync += [request.eq(asked), waiting.eq(~at_once), reading.eq(at_once)]
            m.d.sync += [holds.eq(~asked.zero), reads.eq(at_once & ~asked.zero)]
            m.d.sync += follows.eq(~asked.zero & self.running.bit_select(asked.half, 1))
        with m.If(waiting & self._may_read(tile, request)):
            m.d.sync += [waiting.eq(0), reading.eq(1), reads.eq(~request.zero)]
        with m.If(tile.advance & last):
            m.d.sync += [reading.eq(0), reads.eq(0), holds.eq(0)]

    def _may_read(self, tile: Reading, request: data.View) -> Value:
        if "sums" not in self.signature.members:
            return Const(1)
        # The words of a tile as it is are faster than those before it that are requantised.
        return request.requantise | ~(tile.posts | self.requantising)

    def _give_parameters(self, m: Module, dims: data.View, flowing: Value, row: Value, last: Value) -> None:
        """What goes with the sums of a row to the post-processor, besides themselves and their tag; `last`:
        they are the tile's last."""
        vector = self.sums.payload
        parameters = [("row", vector.row, row), ("half", vector.half, dims.half_p)]
        parameters += [(name, vector.bounds[name], dims[name]) for name in ("zp", "lo", "hi")]
        for name, target, value in parameters:
            # As the row of sums: one cycle in a memory, one more in the register behind it.
            fetched = Signal.like(target, name=f"fetched_{name}")
            with m.If(flowing):
                m.d.sync += [fetched.eq(value), target.eq(fetched)]
        m.d.comb += [
            self.finish_p.eq(self.sums.valid & self.sums.ready & last),
            self.finish_half_p.eq(vector.half),
        ]
