"""The accelerator that gives back what it gets: loop-back without opcodes, identity with them.

::

    s_axis -> stream_in -> receiver -> (load) -> memory a -> (compute) -> memory c -> (store) -> m_axis

A loop-back with tiles of one word is a FIFO: words and TLAST come back as they went, packets of any length.

It is for bringing a board up: it takes the instructions of its specification as every other engine does, one
after the other, and has nothing inside that could be wrong beside them. A beat takes two cycles.
"""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import connect, flipped

from axiloom.base.errors import SpecError
from axiloom.hw.axi.stream import StreamInput
from axiloom.hw.engine.commands import CommandKind
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.engine.engine import Engine
from axiloom.hw.engine.receiver import Loaded, Protocol, Receiver
from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.isa.kernels.forms import COPY
from axiloom.isa.numerics import INT32

FIFO_BEATS = 1024
"""That wait for the receiver in a FIFO: as many as Vivado's has by default in a loop-back design."""


@dataclass(frozen=True)
class CopyGeometry:
    """What :class:`CopyEngine` builds. Made by :meth:`of`."""

    stream_width: int
    beats: int
    """Of a tile."""
    is_fifo: bool = False
    """Every word is an instruction, and what is a packet the sender says."""

    @property
    def protocol(self) -> Protocol:
        """What the receiver must know."""
        return Protocol(self.stream_width, {}, {"A": Loaded(self.stream_width, ())}, "C", ())

    @classmethod
    def of(cls, spec: AcceleratorSpec) -> CopyGeometry:
        """Sizes for `spec`; raises :exc:`SpecError` with all reasons why there is no such engine."""
        faults = []
        if spec.form is not COPY:
            faults.append(f'copy must execute "{COPY.kernel}", not "{spec.kernel}"')
        if spec.link.stream_width not in STREAM_WIDTHS:
            widths = ", ".join(map(str, STREAM_WIDTHS))
            faults.append(f"copy stream width must be one of {widths}, not {spec.link.stream_width}")
        if spec.data_type != INT32:
            faults.append(f"copy moves words, so its data type must be int32, not {spec.data_type.value}")
        if spec.tile.flexible:
            faults.append("copy has tiles of one size: leave the granule out")
        elif spec.tile.size[0] % spec.link.beat_words and not spec.passes_packets:
            faults.append(f"copy tiles must be whole beats, not {spec.tile.size[0]} words")
        if spec.post:
            faults.append("copy has no post-processing")
        if faults:
            raise SpecError(faults)
        return cls(
            spec.link.stream_width,
            max(spec.operand_words("A") // spec.link.beat_words, 1),
            spec.passes_packets,
        )


class CopyEngine(Engine):
    """Adds what is loaded to the result: see :class:`axiloom.hw.engine.engine.Engine`.

    Raises :exc:`SpecError` for what this engine cannot be.
    """

    sizes = staticmethod(CopyGeometry.of)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        geometry: CopyGeometry = self._geometry
        if geometry.is_fifo:
            self._pass_on(m)
            return m
        width, beats = geometry.stream_width, geometry.beats
        m.submodules.stream_in = words = StreamInput(width)
        m.submodules.receiver = receiver = Receiver(Programs(self.spec), geometry.protocol)
        memories = [Memory(shape=unsigned(width), depth=beats, init=[]) for _ in "ac"]
        m.submodules.a, m.submodules.c = memories
        (write_a, write_c), (read_a, read_c) = (
            [memory.write_port() for memory in memories],
            [memory.read_port() for memory in memories],
        )
        loaded, place = (Signal(range(beats), name=name) for name in ("loaded", "place"))
        fetched, begun = (
            Signal(name="fetched"),
            Signal(name="begun"),
        )  # what lies at `place` has come out; there is a result
        command = receiver.commands

        connect(m, flipped(self.s_axis), words.s_axis)
        connect(m, words.words, receiver.words)
        m.d.comb += [
            receiver.dims_settled.eq(1),
            receiver.dims_sound.eq(1),
            receiver.dims_fit.eq(~0),
            receiver.load_a.ready.eq(1),
            receiver.load_a.half.eq(fetched),  # looked at by nobody
            receiver.load_a.last.eq(loaded == beats - 1),
            write_a.addr.eq(loaded),
            write_a.data.eq(receiver.load_data),
            write_a.en.eq(receiver.load_a.valid),
        ]
        with m.If(receiver.load_a.valid):
            m.d.sync += loaded.eq(Mux(receiver.load_a.last, 0, loaded + 1))

        last, stuck = Signal(), Signal()
        before = Mux(begun, read_c.data, 0)
        sums = [
            (read_a.data.word_select(lane, WORD_BITS) + before.word_select(lane, WORD_BITS))[:WORD_BITS]
            for lane in range(width // WORD_BITS)
        ]
        m.d.comb += [
            last.eq(place == beats - 1),
            read_a.addr.eq(place),
            read_c.addr.eq(place),
            write_c.addr.eq(place),
            write_c.data.eq(Cat(sums)),
            self.m_axis.tdata.eq(before),
            self.m_axis.tlast.eq(last),
            stuck.eq(self.m_axis.tvalid & ~self.m_axis.tready),
            self.debug_error.eq(receiver.error),
            self.debug_busy.eq(receiver.busy & ~stuck),
        ]
        taken = Signal()
        with m.If(command.valid), m.Switch(command.payload.kind):
            with m.Case(CommandKind.CLEAR):
                m.d.comb += command.ready.eq(1)
                m.d.sync += begun.eq(0)
            with m.Case(CommandKind.COMPUTE):
                m.d.comb += [
                    self.debug_compute.eq(1),
                    write_c.en.eq(fetched),
                    taken.eq(fetched),
                    command.ready.eq(fetched & last),
                ]
                with m.If(command.ready):
                    m.d.sync += begun.eq(1)
            with m.Case(CommandKind.STORE):
                m.d.comb += [
                    self.m_axis.tvalid.eq(fetched),
                    taken.eq(fetched & self.m_axis.tready),
                    command.ready.eq(taken & last),
                ]
        with m.If(taken):
            m.d.sync += [fetched.eq(0), place.eq(Mux(last, 0, place + 1))]
        with m.Elif(command.valid & (command.payload.kind != CommandKind.CLEAR)):
            m.d.sync += fetched.eq(1)
        return m

    def _pass_on(self, m: Module) -> None:
        width = self.spec.link.stream_width
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=width + 1, depth=FIFO_BEATS)
        m.d.comb += [
            fifo.w_data.eq(Cat(self.s_axis.tdata, self.s_axis.tlast)),
            fifo.w_en.eq(self.s_axis.tvalid),
            self.s_axis.tready.eq(fifo.w_rdy),
            Cat(self.m_axis.tdata, self.m_axis.tlast).eq(fifo.r_data),
            self.m_axis.tvalid.eq(fifo.r_rdy),
            fifo.r_en.eq(self.m_axis.tready),
            self.debug_busy.eq((fifo.level != 0) & ~(self.m_axis.tvalid & ~self.m_axis.tready)),
        ]
