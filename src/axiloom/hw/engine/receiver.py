"""Reads the input stream: fetches opcodes, loads operands, sets dims, queues everything else.

It is the only one that sees the protocol, so it also finds every protocol error, at the word that
makes it one; what was asked for before that word still happens.

After an error, the receiver's program has no effect, so the receiver goes on without asking whether there
was an error. The device is not ``alive`` then: it takes no word and begins no action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from axiloom.hw.engine import decoder
from axiloom.hw.engine.commands import CommandKind, command_layout
from axiloom.hw.engine.decoder import Decoder, Programs
from axiloom.hw.engine.load_port import LoadPort
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import WORD_BITS, SendDim
from axiloom.isa.kernels.forms import CHANNELS


@dataclass(frozen=True)
class Loaded:
    """An operand that the device loads: bits that its buffer takes at once, a beat or a part of one, and the
    dims that a compute must find as they were at the load."""

    width: int
    dims: tuple[str, ...]
    ragged: bool = False
    """The tile may end within a beat."""


@dataclass(frozen=True)
class Protocol:
    """What the receiver must know of an accelerator beside its opcodes."""

    stream_width: int
    dims: Mapping[str, tuple[int, int]]
    """Bits and reset value of all that words set: sizes of the tile and other settings. May be empty."""
    operands: Mapping[str, Loaded]
    """What a compute needs, in the order in which it is looked at."""
    result: str
    """The operand that is computed."""
    result_dims: tuple[str, ...]
    """Dims that must not change from a compute until its result is cleared."""
    parameters: Loaded | None = None
    """Operand P, where there is post-processing."""
    saves: bool = False
    """Results are saved one after the other: `dims_fit` of the result tells whether there is room for another
    one, and a store sends what there is."""
    tied: Mapping[str, str] = field(default_factory=dict)
    """Dims that no word sets, to the one whose size they have."""
    bytes: tuple[str, ...] = ()
    """Dims of 8 bits, whose fields may be wider: what is above does not count."""

    @property
    def dims_layout(self) -> data.StructLayout:
        return data.StructLayout({name: unsigned(bits) for name, (bits, _) in self.dims.items()})

    @property
    def fits_layout(self) -> data.StructLayout:
        return data.StructLayout({name: unsigned(1) for name in (*self.loaded, self.result)})

    @property
    def loaded(self) -> dict[str, Loaded]:
        """All that is loaded."""
        return {**self.operands, **({} if self.parameters is None else {CHANNELS: self.parameters})}


class Receiver(wiring.Component):
    """Takes `words`, a beat of the stream at once; gives the operand buffers theirs and `commands` to the
    sequencer.

    A buffer takes `load_data` (the beat, or the part of it that is its turn) through its operand's
    :class:`LoadPort`, ``load_<operand>``; `claim` tells that a compute that uses what was loaded last
    has been queued (`claim_p`: a requantise, of P).
    `dims` are the current ones, `dims_set` that they have just changed: `dims_settled` answers, one cycle
    later or more, whether they are `dims_sound`; if not, the word that set them was an error. Which
    operands' tiles fit their buffers (`dims_fit`) matters when a tile is loaded or computed.
    `error` is a `DeviceError` and stays until reset. `busy`: there is something to do that needs no
    further word.
    """

    def __init__(self, programs: Programs, protocol: Protocol) -> None:
        self._programs = programs
        self._protocol = protocol
        super().__init__(
            {
                "words": In(stream.Signature(protocol.stream_width)),
                "commands": Out(stream.Signature(command_layout(protocol.operands))),
                "dims": Out(
                    protocol.dims_layout, init={name: reset for name, (_, reset) in protocol.dims.items()}
                ),
                "dims_set": Out(1),
                "dims_settled": In(1),
                "dims_sound": In(1),
                "dims_fit": In(protocol.fits_layout),
                "load_data": Out(protocol.stream_width),
                "claim": Out(1),
                **({} if protocol.parameters is None else {"claim_p": Out(1)}),
                "error": Out(4),
                "busy": Out(1),
                **{f"load_{name.lower()}": Out(LoadPort()) for name in protocol.loaded},
            }
        )

    @property
    def programs(self) -> Programs:
        return self._programs

    @property
    def protocol(self) -> Protocol:
        return self._protocol

    def load(self, operand: str) -> Any:
        """The :class:`LoadPort` of an operand, by its name in either case."""
        return getattr(self, f"load_{operand.lower()}")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.programs.action_width
        endless = self.programs.endless
        protocol = self.protocol
        program = Signal(self.programs.width, init=endless or 0)
        action = Signal(width)
        rest = Signal.like(program)
        next_fetches = Signal()
        fault = Signal(DeviceError)
        settling = Signal()  # dims were set, and wait for the verdict
        m.d.comb += [
            action.eq(program[:width]),
            rest.eq(program >> width),
            next_fetches.eq(rest[:width] == decoder.FETCH),
            self.load_data.eq(self.words.payload),
        ]
        for name in protocol.operands:
            m.d.comb += self.commands.payload[f"half_{name.lower()}"].eq(self.load(name).half)
        done, queues = self._ends_of_action(m, action, settling)
        # Whether what is done was an error is not asked: after one the program does not count.
        with m.If(done):
            m.d.sync += program.eq(rest if endless is None else Mux(rest == 0, endless, rest))
        if endless is None:
            m.submodules.decoder = opcode = Decoder(self.programs)
            m.d.comb += opcode.word.eq(self.words.payload[:WORD_BITS])
            with m.If(self.words.valid & ((action == decoder.FETCH) | queues & done & next_fetches)):
                m.d.sync += program.eq(opcode.program)
        stops = Signal()  # whether there is a fault is known before which one
        alive = Signal(init=1)  # no error yet
        with m.If(alive):
            m.d.sync += self.error.eq(fault)
        with m.If(stops):
            m.d.sync += alive.eq(0)
        begun = Signal()
        # What is done with the action under way, each without the conditions of the others.
        ends = {name: Signal(name=f"ends_load_{name.lower()}") for name in protocol.loaded}
        begins, clears = Signal(), Signal()
        loaded, usable, of_result = self._track_dims(m, ends, begins, clears, begun)
        of_sent = [
            (of_result, DeviceError.DIMS_MISMATCH),
            (~begun & ~self.dims_fit[protocol.result], DeviceError.BAD_DIMS),
        ]
        if protocol.saves:
            of_sent = []
        busy = Signal()
        fetch = Signal()
        queued = Signal()
        m.d.comb += self.busy.eq((self.words.valid | busy) & alive)
        with m.If(alive), m.Switch(action):
            if endless is None:
                with m.Case(decoder.FETCH):
                    m.d.comb += fetch.eq(1)
            for name in self.programs.operands:
                unfit = [(~self.dims_fit[name], DeviceError.BAD_DIMS)]
                with m.Case(self.programs.load(name)), self._unless(m, fault, stops, unfit):
                    self._load(m, name, ends[name])
            with m.Case(decoder.COMPUTE):
                m.d.comb += busy.eq(1)
                refused, sound = self._refuse_compute(loaded, usable, of_result)
                with self._unless(m, fault, stops, refused, sound):
                    self._queue(m, CommandKind.COMPUTE, queued)
                    m.d.comb += [begins.eq(self.commands.ready), self.claim.eq(begins)]
            with m.Case(decoder.STORE):
                m.d.comb += busy.eq(1)
                with self._unless(m, fault, stops, of_sent):
                    self._queue(m, CommandKind.STORE, queued)
            if self.programs.saves:
                with m.Case(self.programs.save):
                    m.d.comb += busy.eq(1)
                    full = [(~self.dims_fit[protocol.result], DeviceError.BAD_DIMS)]
                    with self._unless(m, fault, stops, full):
                        self._queue(m, CommandKind.SAVE, queued)
            if self.programs.requantises:
                with m.Case(self.programs.requantise):
                    m.d.comb += busy.eq(1)
                    refused = [
                        (~loaded[CHANNELS], DeviceError.NOT_LOADED),
                        (~usable[CHANNELS], DeviceError.DIMS_MISMATCH),
                        *of_sent,
                    ]
                    with self._unless(m, fault, stops, refused):
                        self._queue(m, CommandKind.REQUANTISE, queued)
                        m.d.comb += self.claim_p.eq(self.commands.ready)
            with m.Case(decoder.CLEAR):
                m.d.comb += busy.eq(1)
                self._queue(m, CommandKind.CLEAR, queued)
                m.d.comb += clears.eq(self.commands.ready)
            with m.Case(decoder.SKIP):
                m.d.comb += self.words.ready.eq(1)
            if self.programs.dims_words:
                with m.Default():
                    self._set_dims(m, action, settling, fault, stops, busy)
        if endless is None:
            # Queueing takes no word: with the last action of an opcode the next one is fetched.
            with m.If(fetch | queued & next_fetches):
                m.d.comb += self.words.ready.eq(~opcode.shared if self.programs.any_shared else 1)
                with m.If(self.words.valid & ~opcode.known):
                    m.d.comb += [fault.eq(DeviceError.UNKNOWN_OPCODE), stops.eq(1)]
        return m

    def _refuse_compute(
        self, loaded: Mapping[str, Value], usable: Mapping[str, Value], of_result: Value
    ) -> tuple[list[tuple[Value, DeviceError]], Value]:
        """What a compute is refused for, and whether none of that holds."""
        protocol = self.protocol
        refused = [
            refusal
            for name in protocol.operands
            for refusal in (
                (~loaded[name], DeviceError.NOT_LOADED),
                (~usable[name], DeviceError.DIMS_MISMATCH),
            )
        ]
        refused.append((~self.dims_fit[protocol.result], DeviceError.BAD_DIMS))
        refused.append((of_result, DeviceError.DIMS_MISMATCH))
        # Who is usable is loaded: the shortest way to the answer that all is well.
        sound = Cat(usable[name] for name in protocol.operands).all()
        sound = sound & self.dims_fit[protocol.result] & ~of_result
        return refused, sound

    def _ends_of_action(self, m: Module, action: Signal, settling: Signal) -> tuple[Signal, Signal]:
        """Is the action under way done, and is it one that is queued?"""
        done, queues = Signal(), Signal()
        with m.Switch(action):
            with m.Case(decoder.FETCH):
                pass
            for name in self.programs.operands:
                with m.Case(self.programs.load(name)):
                    load = self.load(name)
                    m.d.comb += done.eq(self.words.valid & load.ready & load.last)
            with m.Case(*self.programs.queued):
                m.d.comb += [done.eq(self.commands.ready), queues.eq(1)]
            with m.Case(decoder.SKIP):
                m.d.comb += done.eq(self.words.valid)
            with m.Default():
                m.d.comb += done.eq(settling & self.dims_settled)
        return done, queues

    def _load(self, m: Module, name: str, ends: Signal) -> None:
        load = self.load(name)
        m.d.comb += [
            self.words.ready.eq(load.ready),
            load.valid.eq(self.words.valid),
            ends.eq(load.valid & load.ready & load.last),
        ]
        operand = self.protocol.loaded[name]
        width = operand.width
        parts = self.protocol.stream_width // width
        if parts > 1:
            # The buffer takes less than a beat at once.
            part = Signal(range(parts), name=f"part_{name.lower()}")
            m.d.comb += self.load_data.eq(self.words.payload.word_select(part, width))
            whole = (part == parts - 1) | load.last if operand.ragged else part == parts - 1
            m.d.comb += self.words.ready.eq(load.ready & whole)
            with m.If(load.valid & load.ready):
                m.d.sync += part.eq(part + 1)
                if operand.ragged:
                    with m.If(load.last):
                        m.d.sync += part.eq(0)

    def _unless(
        self,
        m: Module,
        fault: Signal,
        stops: Signal,
        refused: Sequence[tuple[Value, DeviceError]],
        sound: Value | None = None,
    ) -> AbstractContextManager[None]:
        """The first reason that holds stops the device; what is said within happens if none does.

        `sound` says shorter that none does.
        """
        if not refused:
            return nullcontext()
        branch = m.If
        for reason, error in refused:
            with branch(reason):
                m.d.comb += fault.eq(error)
            branch = m.Elif
        if sound is None:
            sound = ~Cat(reason for reason, _ in refused).any()
        m.d.comb += stops.eq(~sound)
        return m.If(sound)

    def _queue(self, m: Module, kind: CommandKind, queued: Signal) -> None:
        m.d.comb += [
            self.commands.valid.eq(1),
            self.commands.payload.kind.eq(kind),
            queued.eq(self.commands.ready),
        ]

    def _track_dims(
        self, m: Module, ends: Mapping[str, Signal], begins: Signal, clears: Signal, begun: Signal
    ) -> tuple[dict[str, Value], dict[str, Value], Value]:
        """For each operand: is it loaded, and is it `usable`: are the current dims those it was loaded with?
        For the result: is it `begun` with dims that are not the current ones?

        Compared a cycle ahead, as no action follows the setting of dims before they have settled.
        """
        protocol = self.protocol
        loaded: dict[str, Value] = {}
        usable: dict[str, Value] = {}
        for name in protocol.loaded:
            usable[name] = Signal(name=f"usable_{name.lower()}")
            loaded[name] = usable[name]
            if name not in self.programs.operands:
                continue
            if protocol.loaded[name].dims:
                loaded[name] = Signal(name=f"loaded_{name.lower()}")
                differ = self._differ(m, name, protocol.loaded[name].dims, ends[name])
                m.d.sync += usable[name].eq(loaded[name] & ~differ)
            with m.If(ends[name]):
                m.d.sync += [loaded[name].eq(1), usable[name].eq(1)]
        of_result = Signal()
        if protocol.result_dims:
            m.d.sync += of_result.eq(begun & self._differ(m, protocol.result, protocol.result_dims, begins))
        with m.If(begins):
            m.d.sync += [begun.eq(1), of_result.eq(0)]
        with m.If(clears):
            m.d.sync += [begun.eq(0), of_result.eq(0)]
        return loaded, usable, of_result

    def _differ(self, m: Module, name: str, dims: Sequence[str], taken: Value) -> Value:
        """Are the current `dims` others than those in the last cycle with `taken`?"""
        now = Cat(self.dims[dim] for dim in dims)
        held = Signal(len(now), name=f"dims_of_{name.lower()}")
        with m.If(taken):
            m.d.sync += held.eq(now)
        return held != now

    def _set_dims(
        self, m: Module, action: Signal, settling: Signal, fault: Signal, stops: Signal, busy: Signal
    ) -> None:
        """Takes the word, then waits for the verdict."""
        overflow = Signal()
        m.d.comb += [self.words.ready.eq(~settling), busy.eq(settling)]
        m.d.sync += self.dims_set.eq(0)
        with m.If(self.words.valid & ~settling):
            m.d.sync += [settling.eq(1), self.dims_set.eq(1)]
            with m.Switch(action):
                for index, word in enumerate(self.programs.dims_words):
                    with m.Case(self.programs.set_dims(index)):
                        if not word.last:
                            m.d.comb += self.words.ready.eq(0)
                        payload = self.words.payload.word_select(word.lane, WORD_BITS)
                        sizes = _sizes(word.layout, payload)
                        sizes |= {
                            dim: sizes.get(other, self.dims[other])
                            for dim, other in self.protocol.tied.items()
                        }
                        m.d.sync += [self.dims[dim].eq(size) for dim, size in sizes.items()]
                        beyond = [
                            size[len(self.dims[dim]) :]
                            for dim, size in sizes.items()
                            if dim not in self.protocol.bytes
                        ]
                        m.d.sync += overflow.eq(Cat(beyond).any())
        with m.If(settling & self.dims_settled):
            m.d.sync += settling.eq(0)
            with m.If(~self.dims_sound | overflow):
                m.d.comb += [fault.eq(DeviceError.BAD_DIMS), stops.eq(1)]


def _sizes(word: SendDim, payload: Value) -> dict[str, Value]:
    return {f.dim: payload[f.shift : f.shift + word.field_bits(f)] for f in word.fields}
