"""The user's Verilog in the accelerator's place, and what stands between its ports and ours.

An accelerator's own master has a port of the SoC. It does not go through an arbiter with the DMA's ports:
on the boards each has a slave of the SmartConnect, and its bursts are as long as the module makes them.
The simulator knows from the pointer registers what the module may touch, so an access beside it is told
by operand and byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetInserter, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from axiloom.hw.axi.lite import LiteHandOver
from axiloom.hw.axi.resize import Resize
from axiloom.hw.axi.signatures import AXI4, AXI4Lite, AXI4Stream
from axiloom.hw.dma.mm2s import BURST_INCR
from axiloom.hw.rtl_files.ports import Bus
from axiloom.hw.rtl_files.user_rtl import (
    FIXED,
    MASTER_IDS,
    MASTER_IN,
    MASTER_OUT,
    MASTER_ZERO,
    SLAVE_IN,
    SLAVE_MAY,
    SLAVE_OUT,
    UserRtl,
)
from axiloom.hw.soc import watched
from axiloom.isa.contract import interfaces
from axiloom.isa.contract.spec import AcceleratorSpec

MOST_BURSTS = 16
"""Bursts under way in one direction of a user's master that has IDs: so many are kept."""
SETTLE_CYCLES = 64
"""A user's accelerator does not say when it is busy: it counts as quiet when no transfer is under way
and no word was offered on either stream for so many cycles."""

CONTROL_BITS = 15
"""Of the addresses of its registers."""


class UserAccelerator(wiring.Component):
    """The user's Verilog module behind the members of :class:`axiloom.hw.matmul.engine.MatMul`.

    `debug_busy` is high while `awaited` (a transfer is under way) or a stream has tvalid, and
    :data:`SETTLE_CYCLES` cycles longer; of a module with registers from the first write of one on, because
    it may work by itself.
    `debug_compute` and `debug_error` are 0, because the user's module does not tell them.
    `restart` resets the module, as the reset of the domain does. With registers there is ``s_axi_control``,
    of a module with an AXI4 master ``m_axi_user``. `watched`: for a simulation, with
    :mod:`axiloom.hw.soc.watched` at the module's ports.
    Raises :exc:`BuildError` if its ports are not what `spec` says.
    """

    def __init__(self, user_rtl: UserRtl, spec: AcceleratorSpec, *, watched: bool = False) -> None:
        user_rtl.check(spec)
        self._user_rtl = user_rtl
        self._watched = watched
        self._spec = spec
        data_width = spec.link.stream_width
        control = {"s_axi_control": In(AXI4Lite(CONTROL_BITS))} if spec.link.rtl.registers else {}
        master = {"m_axi_user": Out(AXI4(32, user_rtl.master_width))} if user_rtl.master else {}
        super().__init__(
            {
                "s_axis": In(AXI4Stream(data_width)),
                "m_axis": Out(AXI4Stream(data_width)),
                "debug_compute": Out(1),
                "debug_error": Out(4),
                "debug_busy": Out(1),
                "restart": In(1),
                "awaited": In(1),
                **control,
                **master,
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rtl = self._user_rtl
        connections: dict[str, Any] = {f"i_{clock}": ClockSignal() for clock in rtl.clocks}
        connections |= {f"p_{name}": value for name, value in rtl.told.parameters.items()}
        for name, value in rtl.told.constants.items():
            width = next(port.width for port in rtl.ports if port.name == name)
            connections[f"i_{name}"] = Const(value, width)
        if rtl.input_streams:
            for bus, stream in zip(rtl.input_streams, self._inputs(m), strict=True):
                connections |= self._input(m, bus, stream)
            connections |= self._output(m, rtl.output_stream)
        if rtl.master is not None:
            connections |= self._master(m, rtl.master)
        if rtl.control is not None:
            connections |= self._control(m, rtl.control)
        if rtl.resets:
            reset = Signal()
            m.d.comb += reset.eq(ResetSignal() | self.restart)
            connections |= {f"i_{name}": self._reset(m, reset, low) for name, low in rtl.resets.items()}
        if self._watched:
            self._watch(m, connections)
        m.submodules.user = Instance(rtl.top, **connections)

        settle = Signal(range(SETTLE_CYCLES + 1), init=SETTLE_CYCLES)
        active = Signal()
        m.d.comb += [
            active.eq(self.awaited | self.restart | self.s_axis.tvalid | self.m_axis.tvalid),
            self.debug_busy.eq(active | (settle != 0) | self._started(m)),
        ]
        with m.If(active):
            m.d.sync += settle.eq(SETTLE_CYCLES)
        with m.Elif(settle != 0):
            m.d.sync += settle.eq(settle - 1)
        return m

    def _reset(self, m: Module, reset: Signal, low: bool) -> Value:
        if not self._watched:
            return ~reset if low else reset
        level = Signal(name="reset_level")
        m.submodules += Instance("axl_reset", p_LOW=int(low), i_reset=reset, o_level=level)
        return level

    def _watch(self, m: Module, connections: dict[str, Any]) -> None:
        rtl = self._user_rtl
        rules = watched.ALL if rtl.resets else watched.UNRESET
        reset = Signal(name="watched_reset")
        m.d.comb += reset.eq(ResetSignal() | self.restart)
        widths = {port.name: port.width for port in rtl.ports}
        ports = watched.Watched(m, connections, reset, rules, widths)
        for number, bus in enumerate(rtl.input_streams):
            ports.stream(bus, interfaces.PORT_USER_IN + number)
        if rtl.input_streams:
            ports.stream(rtl.output_stream, interfaces.PORT_USER_OUT)
        if rtl.control is not None and self._spec.link.rtl.registers:
            ports.registers(rtl.control, interfaces.PORT_CONTROL)
        if rtl.master is not None:
            ports.master(rtl.master, interfaces.PORT_MASTER)

    def _started(self, m: Module) -> Signal:
        """Whether a register was written since the last reset."""
        started = Signal()
        if self._spec.link.rtl.registers:
            with m.If(self.restart):
                m.d.sync += started.eq(0)
            with m.Elif(self.s_axi_control.awvalid):
                m.d.sync += started.eq(1)
        return started

    # --- streams --------------------------------------------------------------------------------------

    def _inputs(self, m: Module) -> Sequence[Any]:
        """What each input stream gets, as wide as the DMA's."""
        operands = list(self._spec.link.rtl.inputs)
        if len(operands) < 2:
            return [self.s_axis]
        (spec,) = self._spec.parts
        (opcode,) = spec.opcodes.values()
        beats = {operand: spec.operand_words(operand) // spec.link.beat_words for operand in operands}
        distributor = Distributor(spec.link.stream_width, [beats[send] for send in opcode.sends])
        m.submodules.distributor = ResetInserter(self.restart)(distributor)
        wiring.connect(m, wiring.flipped(self.s_axis), distributor.s_axis)
        return [getattr(distributor, f"m_axis{opcode.sends.index(operand)}") for operand in operands]

    def _input(self, m: Module, bus: Bus, source: Any) -> dict[str, Any]:
        width = bus.signals["tdata"].width
        if width != self._spec.link.stream_width:
            resize = Resize(self._spec.link.stream_width, width)
            m.submodules += ResetInserter(self.restart)(resize)
            for name in ("tdata", "tvalid", "tlast"):
                m.d.comb += getattr(resize.i, name).eq(getattr(source, name))
            m.d.comb += source.tready.eq(resize.i.tready)
            source = resize.o
        connections = {
            f"i_{bus.name('tdata')}": source.tdata,
            f"i_{bus.name('tvalid')}": source.tvalid,
            f"o_{bus.name('tready')}": source.tready,
        }
        if "tlast" in bus.signals:
            connections[f"i_{bus.name('tlast')}"] = source.tlast
        for signal, value in FIXED.items():
            if (port := bus.signals.get(signal)) is not None:
                level = (
                    ~Signal(port.width, name=f"no_{signal}")
                    if value
                    else Signal(port.width, name=f"no_{signal}")
                )
                connections[f"i_{port.name}"] = level
        return connections

    def _output(self, m: Module, bus: Bus) -> dict[str, Any]:
        width = bus.signals["tdata"].width
        sent: Any = self.m_axis
        if width != self._spec.link.stream_width:
            resize = Resize(width, self._spec.link.stream_width)
            m.submodules.gather = ResetInserter(self.restart)(resize)
            sent = resize.i
            m.d.comb += [
                self.m_axis.tdata.eq(resize.o.tdata),
                self.m_axis.tvalid.eq(resize.o.tvalid),
                resize.o.tready.eq(self.m_axis.tready),
            ]
        connections = {
            f"o_{bus.name('tdata')}": sent.tdata,
            f"o_{bus.name('tvalid')}": sent.tvalid,
            f"i_{bus.name('tready')}": sent.tready,
        }
        if "tlast" in bus.signals:
            connections[f"o_{bus.name('tlast')}"] = sent.tlast
            if width != self._spec.link.stream_width:
                m.d.comb += self.m_axis.tlast.eq(resize.o.tlast)
        else:
            self._count_last(m)
        return connections

    def _count_last(self, m: Module) -> None:
        """TLAST on the last beat of each result: all have the same number of beats."""
        words = self._spec.result_words
        assert words is not None  # UserRtl.check
        beats = words // self._spec.link.beat_words
        beat = Signal(range(max(2, beats)))
        last = Signal()
        m.d.comb += [last.eq(beat == beats - 1), self.m_axis.tlast.eq(last)]
        with m.If(self.m_axis.tvalid & self.m_axis.tready):
            m.d.sync += beat.eq(beat + 1)
            with m.If(last):
                m.d.sync += beat.eq(0)
        with m.If(self.restart):
            m.d.sync += beat.eq(0)

    # --- registers ------------------------------------------------------------------------------------

    def _control(self, m: Module, bus: Bus) -> dict[str, Any]:
        """Its AXI4-Lite port; one that the specification does not use stays quiet."""
        wired = {signal: bus.signals[signal] for signal in (*SLAVE_IN, *SLAVE_MAY) if signal in bus.signals}
        if not self._spec.link.rtl.registers:
            return {
                f"i_{port.name}": Signal(port.width, name=f"no_{signal}") for signal, port in wired.items()
            }
        m.submodules.control = control = ResetInserter(self.restart)(LiteHandOver(CONTROL_BITS))
        wiring.connect(m, wiring.flipped(self.s_axi_control), control.i)
        connections: dict[str, Any] = {}
        for signal, port in wired.items():
            level = getattr(control.o, signal)
            if len(level) < port.width:
                wide = Signal(port.width, name=f"control_{signal}")
                m.d.comb += wide.eq(level)
                level = wide
            connections[f"i_{port.name}"] = level[: port.width]
        return connections | {f"o_{bus.name(signal)}": getattr(control.o, signal) for signal in SLAVE_OUT}

    # --- memory ---------------------------------------------------------------------------------------

    def _master(self, m: Module, bus: Bus) -> dict[str, Any]:
        """Its AXI4 master: addresses of 32 bits go out, answers come in order, each with the ID asked for.

        Where it does not say how a burst goes on, it counts up in whole beats, as AXI4 has it.
        """
        connections: dict[str, Any] = {}
        assert self.m_axi_user is not None
        size = exact_log2(len(self.m_axi_user.wdata) // 8)
        for way in ("ar", "aw"):
            for name, value in (("size", size), ("burst", BURST_INCR)):
                if f"{way}{name}" not in bus.signals:
                    m.d.comb += getattr(self.m_axi_user, f"{way}{name}").eq(value)
        for signal, port in bus.signals.items():
            if signal in MASTER_ZERO:
                connections[f"i_{port.name}"] = Const(0, port.width)
            elif signal in ("araddr", "awaddr"):
                connections[f"o_{port.name}"] = wide = Signal(port.width, name=f"user_{signal}")
                m.d.comb += getattr(self.m_axi_user, signal).eq(wide)
            elif signal in (*MASTER_IN, "rdata"):
                connections[f"i_{port.name}"] = getattr(self.m_axi_user, signal)
            elif signal in (*MASTER_OUT, "wdata", "wstrb"):
                connections[f"o_{port.name}"] = getattr(self.m_axi_user, signal)
        for asked, answered in MASTER_IDS.items():
            if answered in bus.signals:
                connections |= self._ids(m, bus, asked, answered)
        return connections

    def _ids(self, m: Module, bus: Bus, asked: str, answered: str) -> dict[str, Any]:
        """IDs wait for the answers of their bursts; with :data:`MOST_BURSTS` of them no address is taken."""
        port, answer = bus.signals[answered], Signal(bus.signals[answered].width, name=f"user_{answered}")
        if asked not in bus.signals:
            return {f"i_{port.name}": answer}
        way, back = asked[:2], answered[:1]
        wide = bus.signals[asked].width
        waiting = SyncFIFO(width=wide, depth=MOST_BURSTS)
        m.submodules[f"{way}_ids"] = ResetInserter(self.restart)(waiting)
        memory, valid = self.m_axi_user, Signal(name=f"user_{way}valid")
        ends = memory.rlast if back == "r" else Const(1)
        m.d.comb += [
            getattr(memory, f"{way}valid").eq(valid & waiting.w_rdy),
            waiting.w_en.eq(valid & getattr(memory, f"{way}ready")),
            waiting.r_en.eq(getattr(memory, f"{back}valid") & getattr(memory, f"{back}ready") & ends),
            answer.eq(waiting.r_data),
        ]
        return {
            f"o_{bus.name(asked)}": waiting.w_data,
            f"o_{bus.name(f'{way}valid')}": valid,
            f"i_{bus.name(f'{way}ready')}": getattr(memory, f"{way}ready") & waiting.w_rdy,
            f"i_{port.name}": answer,
        }


class Distributor(wiring.Component):
    """Beats of one stream to several in turn: `beats[0]` to the first, then `beats[1]` to the second ...

    Each stream but the last has room for all its beats, so a device may take from all of them at once. TLAST
    is high on the last beat of each.
    """

    def __init__(self, data_width: int, beats: Sequence[int]) -> None:
        self._beats = tuple(beats)
        stream = AXI4Stream(data_width)
        super().__init__({"s_axis": In(stream), **{f"m_axis{i}": Out(stream) for i in range(len(beats))}})

    @property
    def beats(self) -> tuple[int, ...]:
        return self._beats

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beat = Signal(range(max(2, *self.beats)))
        turn = Signal(range(len(self.beats)))
        last = Signal()
        for number, beats in enumerate(self.beats):
            out = getattr(self, f"m_axis{number}")
            final = number == len(self.beats) - 1
            mine = turn == number
            if final:
                m.d.comb += [
                    out.tdata.eq(self.s_axis.tdata),
                    out.tvalid.eq(self.s_axis.tvalid & mine),
                    out.tlast.eq(last),
                ]
                ready = out.tready
            else:
                room = SyncFIFOBuffered(width=len(self.s_axis.tdata) + 1, depth=beats + 1)
                m.submodules[f"room{number}"] = room
                m.d.comb += [
                    room.w_data[0].eq(last),
                    room.w_data[1:].eq(self.s_axis.tdata),
                    room.w_en.eq(self.s_axis.tvalid & mine),
                    out.tlast.eq(room.r_data[0]),
                    out.tdata.eq(room.r_data[1:]),
                    out.tvalid.eq(room.r_rdy),
                    room.r_en.eq(out.tready),
                ]
                ready = room.w_rdy
            with m.If(mine):
                m.d.comb += [self.s_axis.tready.eq(ready), last.eq(beat == beats - 1)]
        with m.If(self.s_axis.tvalid & self.s_axis.tready):
            m.d.sync += beat.eq(beat + 1)
            with m.If(last):
                m.d.sync += [beat.eq(0), turn.eq(turn + 1)]
                with m.If(turn == len(self.beats) - 1):
                    m.d.sync += turn.eq(0)
        return m
