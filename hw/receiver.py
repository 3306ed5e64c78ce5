"""Reads the input stream: fetches opcodes, loads operands, sets dims, queues everything else.

It is the only one that sees the protocol, so it also finds every protocol error, at the word that
makes it one; what was asked for before that word still happens.
"""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw import decoder
from axiloom.hw.commands import CommandKind, command_layout
from axiloom.hw.decoder import Decoder, Programs
from axiloom.hw.geometry import Geometry
from axiloom.isa.model import DeviceError
from axiloom.isa.types import WORD_BITS, SendDim


class Receiver(wiring.Component):
    """Takes `words`, a beat of the stream at once; gives the operand buffers theirs and `commands` to the
    sequencer.

    `dims` are the current sizes; `half_a`, `half_b` what the buffers loaded last; `claim` tells them
    that a compute that uses them has been queued. `error` is a `DeviceError` and stays until reset.
    `busy`: there is something to do that needs no further word.
    """

    def __init__(self, programs: Programs, geometry: Geometry) -> None:
        self._programs = programs
        self._geometry = geometry
        operand = {"valid": Out(1), "ready": In(1), "last": In(1), "half": In(1)}
        super().__init__(
            {
                "words": In(stream.Signature(geometry.stream_width)),
                "commands": Out(stream.Signature(command_layout(geometry))),
                "dims": Out(geometry.dims_layout, init=dict(zip("mnk", geometry.tile, strict=True)))
                if geometry.flexible
                else Out(geometry.dims_layout),
                "load_data": Out(geometry.stream_width),
                "claim": Out(1),
                "error": Out(4),
                "busy": Out(1),
                **{f"load_{name}_{signal}": member for name in "ab" for signal, member in operand.items()},
            }
        )

    @property
    def programs(self) -> Programs:
        return self._programs

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.programs.action_width
        endless = self.programs.endless
        program = Signal(self.programs.width, init=endless or 0)
        action = Signal(width)
        rest = Signal.like(program)
        fault = Signal(DeviceError)
        done = Signal()
        m.d.comb += [
            action.eq(program[:width]),
            rest.eq(program >> width),
            self.load_data.eq(self.words.payload),
            self.commands.payload.half_a.eq(self.load_a_half),
            self.commands.payload.half_b.eq(self.load_b_half),
            self.commands.payload.dims.eq(self.dims),
        ]
        with m.If(done):
            m.d.sync += program.eq(rest if endless is None else Mux(rest == 0, endless, rest))
        with m.If(fault != DeviceError.OK):
            m.d.sync += self.error.eq(fault)

        loaded = {"a": Signal(name="loaded_a"), "b": Signal(name="loaded_b")}
        begun = Signal()
        mismatch = self._track_dims(m, done, action)
        busy = Signal()
        fetch = Signal()
        queued = Signal()
        m.d.comb += self.busy.eq((self.words.valid | busy) & (self.error == DeviceError.OK))
        with m.If(self.error == DeviceError.OK), m.Switch(action):
            if endless is None:
                with m.Case(decoder.FETCH):
                    m.d.comb += fetch.eq(1)
            for name, code in {"a": decoder.LOAD_A, "b": decoder.LOAD_B}.items():
                with m.Case(code):
                    self._load(m, name, done, loaded[name])
            with m.Case(decoder.COMPUTE):
                m.d.comb += busy.eq(1)
                with m.If(~loaded["a"]):
                    m.d.comb += fault.eq(DeviceError.NOT_LOADED)
                with m.Elif(mismatch["a"]):
                    m.d.comb += fault.eq(DeviceError.DIMS_MISMATCH)
                with m.Elif(~loaded["b"]):
                    m.d.comb += fault.eq(DeviceError.NOT_LOADED)
                with m.Elif(mismatch["b"] | begun & mismatch["c"]):
                    m.d.comb += fault.eq(DeviceError.DIMS_MISMATCH)
                with m.Else():
                    self._queue(m, CommandKind.COMPUTE, done, queued)
                    m.d.comb += self.claim.eq(done)
                    with m.If(done):
                        m.d.sync += begun.eq(1)
            with m.Case(decoder.STORE):
                m.d.comb += busy.eq(1)
                with m.If(begun & mismatch["c"]):
                    m.d.comb += fault.eq(DeviceError.DIMS_MISMATCH)
                with m.Else():
                    self._queue(m, CommandKind.STORE, done, queued)
            with m.Case(decoder.CLEAR):
                m.d.comb += busy.eq(1)
                self._queue(m, CommandKind.CLEAR, done, queued)
                with m.If(done):
                    m.d.sync += begun.eq(0)
            with m.Case(decoder.SKIP):
                m.d.comb += [self.words.ready.eq(1), done.eq(self.words.valid)]
            if self.programs.dims_words:
                with m.Default():
                    self._set_dims(m, action, done, fault, busy)
        if endless is None:
            # Queueing takes no word: with the last action of an opcode the next one is fetched.
            with m.If(fetch | queued & (rest == 0)):
                self._fetch(m, program, fault)
        return m

    def _fetch(self, m: Module, program: Signal, fault: Signal) -> None:
        m.submodules.decoder = opcode = Decoder(self.programs)
        m.d.comb += opcode.word.eq(self.words.payload[:WORD_BITS])
        m.d.comb += self.words.ready.eq(~opcode.shared if self.programs.any_shared else 1)
        with m.If(self.words.valid):
            m.d.sync += program.eq(opcode.program)
            with m.If(~opcode.known):
                m.d.comb += fault.eq(DeviceError.UNKNOWN_OPCODE)

    def _load(self, m: Module, name: str, done: Signal, loaded: Signal) -> None:
        ready, valid, last = (getattr(self, f"load_{name}_{what}") for what in ("ready", "valid", "last"))
        m.d.comb += [
            self.words.ready.eq(ready),
            valid.eq(self.words.valid & ready),
            done.eq(valid & last),
        ]
        with m.If(done):
            m.d.sync += loaded.eq(1)
        width = getattr(self.geometry, name).width
        parts = self.geometry.stream_width // width
        if parts > 1:
            # The buffer takes less than a beat at once; a tile is whole beats, so it ends with the last part.
            part = Signal(range(parts), name=f"part_{name}")
            m.d.comb += self.load_data.eq(self.words.payload.word_select(part, width))
            m.d.comb += self.words.ready.eq(ready & (part == parts - 1))
            with m.If(valid):
                m.d.sync += part.eq(part + 1)

    def _queue(self, m: Module, kind: CommandKind, done: Signal, queued: Signal) -> None:
        m.d.comb += [
            self.commands.valid.eq(1),
            self.commands.payload.kind.eq(kind),
            done.eq(self.commands.ready),
            queued.eq(self.commands.ready),
        ]

    def _track_dims(self, m: Module, done: Signal, action: Signal) -> dict[str, Value]:
        """For each operand: do the current dims differ from those it was loaded, or C last computed, with?"""
        if not self.geometry.flexible:
            return {name: Const(0) for name in "abc"}
        mismatch: dict[str, Value] = {}
        taken = {"a": ("mk", decoder.LOAD_A), "b": ("kn", decoder.LOAD_B), "c": ("mn", decoder.COMPUTE)}
        for name, (dims, code) in taken.items():
            now = Cat(self.dims[dim] for dim in dims)
            held = Signal(len(now), name=f"dims_of_{name}")
            with m.If(done & (action == code)):
                m.d.sync += held.eq(now)
            mismatch[name] = Signal(name=f"mismatch_{name}")
            m.d.comb += mismatch[name].eq(held != now)
        return mismatch

    def _set_dims(self, m: Module, action: Signal, done: Signal, fault: Signal, busy: Signal) -> None:
        """Takes the sizes, then their products, then compares these: a cycle each."""
        geometry = self.geometry
        taken = Signal()
        multiplied = Signal()
        sound = Signal()
        products = []
        for i, j, limit in geometry.limits:
            product = Signal(
                len(self.dims["mnk"[i]]) + len(self.dims["mnk"[j]]), name=f"product_{'mnk'[i]}{'mnk'[j]}"
            )
            m.d.sync += product.eq(self.dims["mnk"[i]] * self.dims["mnk"[j]])
            products.append((product, limit))
        m.d.sync += [multiplied.eq(taken), taken.eq(0)]
        m.d.comb += [self.words.ready.eq(~taken & ~multiplied), busy.eq(taken | multiplied)]
        with m.If(self.words.valid & ~taken & ~multiplied):
            m.d.sync += taken.eq(1)
            with m.Switch(action):
                for index, word in enumerate(self.programs.dims_words):
                    with m.Case(decoder.SET_DIMS + index):
                        if not word.last:
                            m.d.comb += self.words.ready.eq(0)
                        payload = self.words.payload.word_select(word.lane, WORD_BITS)
                        sizes = _sizes(word.layout, payload)
                        m.d.sync += [self.dims[dim].eq(size) for dim, size in sizes.items()]
                        m.d.sync += sound.eq(_all(self._is_size(dim, size) for dim, size in sizes.items()))
        with m.If(multiplied):
            with m.If(sound & _all(product <= limit for product, limit in products)):
                m.d.comb += done.eq(1)
            with m.Else():
                m.d.comb += fault.eq(DeviceError.BAD_DIMS)

    def _is_size(self, dim: str, size: Value) -> Value:
        index = "mnk".index(dim)
        granule, largest = self.geometry.granule[index], self.geometry.largest[index]
        in_range = (size != 0) & (size <= largest)
        if granule & (granule - 1) == 0:
            return in_range & (size[: granule.bit_length() - 1] == 0)
        # No remainder in hardware: a table of the sizes that are multiples.
        multiples = sum(1 << multiple for multiple in range(granule, largest + 1, granule))
        return in_range & Const(multiples, largest + 1).bit_select(size[: largest.bit_length()], 1)


def _sizes(word: SendDim, payload: Value) -> dict[str, Value]:
    return {f.dim: payload[f.shift : f.shift + word.field_bits(f)] for f in word.fields}


def _all(values: Iterable[Value]) -> Value:
    return Cat(values).all()
