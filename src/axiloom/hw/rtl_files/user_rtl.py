"""The user's own accelerator in Verilog: which of its ports is which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import BuildError
from axiloom.hw.rtl_files.ports import (
    CLOCKS,
    RESETS_HIGH,
    RESETS_LOW,
    Bus,
    Port,
    buses,
    known,
    read_ports,
)
from axiloom.hw.rtl_files.vhdl import as_verilog
from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.contract.rtl import RtlPorts
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS

NARROW = (8, 16)
"""Bits of the module's streams that a word is split into: a converter stands between."""
WIDE = (256, 512)
"""Bits for which beats of 128 are gathered: a converter stands between."""

EXPECTED = (
    f"a clock ({' | '.join(CLOCKS[:3])}), optionally a reset "
    f"({' | '.join((*RESETS_LOW[:4], *RESETS_HIGH[1:3]))}), and two AXI streams in any case, "
    f"inputs <in>_tdata[{WORD_BITS - 1}:0] <in>_tvalid with output <in>_tready, and "
    f"outputs <out>_tdata[{WORD_BITS - 1}:0] <out>_tvalid with input <out>_tready; "
    f"*_tdata may have {', '.join(map(str, (*NARROW, *STREAM_WIDTHS[1:])))}, "
    f"{' or '.join(map(str, WIDE))} bits instead; list ports with other names in `rtl` of the specification"
)
SLAVE_IN = ("awaddr", "awvalid", "wdata", "wvalid", "bready", "araddr", "arvalid", "rready")
SLAVE_OUT = ("awready", "wready", "bresp", "bvalid", "arready", "rdata", "rresp", "rvalid")
"""Signals that an AXI4-Lite port must have."""
SLAVE_MAY = ("awprot", "wstrb", "arprot")
MASTER_OUT = {
    **{
        f"{way}{name}": bits for way in ("aw", "ar") for name, bits in (("len", 8), ("size", 3), ("burst", 2))
    },
    **{f"{way}{name}": bits for way in ("aw", "ar") for name, bits in (("prot", 3), ("cache", 4))},
    **dict.fromkeys(("awvalid", "arvalid", "wlast", "wvalid", "bready", "rready"), 1),
}
"""Signals of an AXI4 master beside address, data and strobe, and their bits."""
MASTER_IN = {
    **dict.fromkeys(("awready", "wready", "bvalid", "arready", "rvalid", "rlast"), 1),
    "bresp": 2,
    "rresp": 2,
}
MASTER_IDS = {"arid": "rid", "awid": "bid"}
"""What it may have: an ID, and that of the answer."""
MASTER_ZERO = ("buser", "ruser")
"""What it may have, and is always 0."""
MASTER_WIDTHS = (32, 64, 128, 256, 512, 1024)
FIXED = {"tkeep": -1, "tstrb": -1, "tuser": 0, "tid": 0, "tdest": 0}
"""Signals that an input stream may have, and the value of all their bits: no byte is ever missing."""


class UserRtl:
    """A module `top` in Verilog, SystemVerilog or VHDL `files`, to take the generated accelerator's place.

    The ports are read from the source, and known by their names in any case; `ports` (``rtl`` of the
    specification) lists those with other names. A stream is found by its ``*tdata``, an AXI4-Lite port by
    its ``*awaddr``. All clocks and all resets are tied together. ``tlast`` of both streams and all other
    signals may be missing; further outputs are left open, further inputs are refused. Without a reset port
    the module is not reset by a soft reset of the DMA, which may take back a word that waits for TREADY.
    An AXI4 master is found by the outputs ``*araddr`` and ``*awaddr``; a module with one may have no streams.

    Attributes: `files` (of VHDL: the Verilog that GHDL makes of it), `is_vhdl`, `top`, `told` (the ``rtl``
    part), `clock`, `clocks`, `reset` (or None), `resets` (each with whether it is active low),
    `reset_active_low`, `input_streams`, `output_stream`, `control` (the AXI4-Lite port, or None), `master`
    (the AXI4 master, or None), `master_width` (bits of its data), `input`
    and `output` (prefixes of the first streams), `stream_width` (bits that both streams have at the DMA),
    `ports`.

    Raises :exc:`BuildError` if a file is missing or faulty, or the ports do not fit: the message lists
    what was found and what is expected.
    """

    def __init__(self, files: Iterable[str | Path], top: str, told: RtlPorts | None = None) -> None:
        self.files = tuple(Path(file) for file in files)
        self.top = top
        self.told = told or RtlPorts()
        if not self.files:
            raise BuildError("user RTL needs at least one Verilog file")
        names: dict[str, Path] = {}
        for file in self.files:
            if not file.is_file():
                raise BuildError(f"user RTL {file}: no such file")
            if (other := names.setdefault(file.name, file)) != file:
                raise BuildError(f"user RTL {other} and {file}: two files of one name; rename one of them")
        if top.startswith("axiloom_"):
            raise BuildError(f"user RTL: module names that begin with axiloom_ are ours, rename {top}")
        self.files, theirs = as_verilog(self.files, top, self.told.parameters), self.files
        self.is_vhdl = self.files != theirs
        self.ports = read_ports(self.files, top, self.told.parameters)
        self._by_name = {port.name: port for port in self.ports}
        faults: list[str] = []

        self.clocks = self._clocks(faults)
        self.clock = self.clocks[0] if self.clocks else ""
        self.resets = self._resets(faults)
        self.reset = next(iter(self.resets), None)
        self.reset_active_low = self.reset is not None and self.resets[self.reset]
        data_buses = list(buses(self.ports, "tdata"))
        self.stream_width = self._width(data_buses)
        ins = [bus for bus in data_buses if bus.signals["tdata"].is_input]
        outs = [bus for bus in data_buses if not bus.signals["tdata"].is_input]
        self.master = self._master(faults)
        self.master_width = self._master_width(faults)
        streams = bool(data_buses) or self.master is None
        self.input_streams = self._streams(ins, True, faults) if streams else []
        self.output_stream = next(iter(self._streams(outs, False, faults) if streams else []), Bus("", {}))
        self.input = self.input_streams[0].prefix if self.input_streams else ""
        self.output = self.output_stream.prefix
        self.control = self._control(faults)
        faults += self._constants()
        faults += self._unknown_inputs()
        if faults:
            there = ", ".join(map(str, self.ports)) or "no ports"
            raise BuildError(
                f"user RTL module {top}: {'; '.join(faults)}; found {there}; expected {EXPECTED}"
            )

    def __repr__(self) -> str:
        return f"UserRtl({[str(file) for file in self.files]!r}, {self.top!r})"

    @property
    def starts_on_tlast(self) -> bool:
        """What the specification says; else whether the module looks at the TLAST of an input stream."""
        if self.told.starts_on_tlast is not None:
            return self.told.starts_on_tlast
        lasts = (bus.signals.get("tlast") for bus in self.input_streams)
        return any(port is not None and port.is_read for port in lasts)

    def completed(self, spec: AcceleratorSpec) -> AcceleratorSpec:
        """`spec` with what it leaves to the module: whether packets count."""
        if spec.link.rtl.starts_on_tlast is not None or not self.starts_on_tlast:
            return spec
        return spec.replace(rtl=replace(spec.link.rtl, starts_on_tlast=True))

    def has(self, port: str) -> bool:
        """Does the module have a port of this name?"""
        return port in self._by_name

    def check(self, spec: AcceleratorSpec) -> None:
        """Raises BuildError unless the ports are those that `spec` means."""
        self.check_width(spec.link.stream_width, spec.name)
        what = f"user RTL module {self.top}"
        if spec.link.rtl.registers and self.control is None:
            raise BuildError(
                f"{what}: no AXI4-Lite port (*_awaddr), and `rtl.registers` of {spec.name} has "
                f"{', '.join(spec.link.rtl.registers)}"
            )
        if spec.has_pointers and self.master is None:
            raise BuildError(
                f"{what}: no AXI4 master (outputs *_araddr, *_awaddr), and {spec.name} gives it pointers"
            )
        if not self.input_streams:
            if not spec.has_pointers:
                raise BuildError(
                    f"{what}: no streams, and {spec.name} sends on one; a master's operands are "
                    "`send(OPERAND, REGISTER)`: the register takes the operand's address"
                )
            return
        for bus, is_input in [
            *((input_stream, True) for input_stream in self.input_streams),
            (self.output_stream, False),
        ]:
            bits = bus.signals["tdata"].width
            if bits in WIDE and not spec.has_whole_beats(bits, into=is_input):
                raise BuildError(
                    f"{what}: {self._tdata(bus)} has {bits} bits: this works only with a single instruction "
                    f"that has no opcode word, and tiles that are whole beats; {spec.name} has others"
                )
        if "tlast" not in self.output_stream.signals and spec.result_words is None:
            raise BuildError(
                f"{what}: {self.output} has no tlast, and {spec.name} sends results of several lengths: "
                "Axiloom cannot count where one ends; add tlast"
            )

    def check_width(self, stream_width: int, what: str) -> None:
        """Raises BuildError unless the streams have the `stream_width` bits that `what` says."""
        if stream_width != self.stream_width and self.input_streams:
            raise BuildError(
                f"user RTL module {self.top}: {self._tdata(self.input_streams[0])} and "
                f"{self._tdata(self.output_stream)} have {self.stream_width} bits, "
                f"the stream_width of {what} is {stream_width}: make them equal"
            )

    @staticmethod
    def _tdata(stream: Bus) -> str:
        return stream.name("tdata")

    def _clocks(self, faults: list[str]) -> tuple[str, ...]:
        if self.told.clock:
            named = self._by_name.get(self.told.clock)
            if named is None or not named.is_input or named.width != 1:
                faults.append(f"`rtl.clock` names {self.told.clock}, which is no input of one bit")
            return (self.told.clock,)
        clocks = [p.name for p in self.ports if known(p, CLOCKS)]
        if not clocks:
            faults.append("no clock")
        return tuple(clocks)

    def _resets(self, faults: list[str]) -> dict[str, bool]:
        if self.told.reset:
            named = self._by_name.get(self.told.reset)
            if named is None or not named.is_input or named.width != 1:
                faults.append(f"`rtl.reset` names {self.told.reset}, which is no input of one bit")
            return {self.told.reset: self.told.reset_active_low}
        return {
            p.name: low
            for low, names in ((True, RESETS_LOW), (False, RESETS_HIGH))
            for p in self.ports
            if known(p, names)
        }

    def _width(self, streams: list[Bus]) -> int:
        """Bits at the DMA: those of the widest stream that fits, a word at least."""
        there = {bus.signals["tdata"].width for bus in streams if bus.signals["tdata"].is_input}
        widths = {STREAM_WIDTHS[-1] if width in WIDE else width for width in there}
        return max(widths & {*STREAM_WIDTHS}, default=WORD_BITS)

    def _streams(self, streams: list[Bus], is_input: bool, faults: list[str]) -> list[Bus]:
        """The streams of a direction: one, or one an operand in the order of the specification's `inputs`."""
        what = "input" if is_input else "output"
        if is_input and self.told.inputs:
            by_prefix = {bus.prefix: bus for bus in streams}
            wanted = list(self.told.inputs.values())
            for prefix in (prefix for prefix in wanted if prefix not in by_prefix):
                faults.append(f"`rtl.inputs` names {prefix}, and there are {', '.join(by_prefix) or 'none'}")
            streams = [by_prefix[prefix] for prefix in wanted if prefix in by_prefix]
        elif len(streams) != 1:
            names = f": {', '.join(self._tdata(bus) for bus in streams)}" if streams else ""
            faults.append(f"{len(streams) or 'no'} {what} streams ({what} *_tdata){names}")
            return []
        for bus in streams:
            self._check_stream(bus, is_input, faults)
        return streams

    def _check_stream(self, bus: Bus, is_input: bool, faults: list[str]) -> None:
        width = bus.signals["tdata"].width
        needed = {
            "tdata": (is_input, width if self._converted(width) else self.stream_width),
            "tvalid": (is_input, 1),
            "tready": (not is_input, 1),
        }
        if "tlast" in bus.signals:
            needed["tlast"] = (is_input, 1)
        for signal, (signal_is_input, bits) in needed.items():
            there = bus.signals.get(signal)
            wanted = Port(there.name if there else bus.prefix + signal, signal_is_input, bits)
            if there != wanted:
                faults.append(f"{wanted} is {f'{there} instead' if there else 'missing'}")

    def _converted(self, width: int) -> bool:
        return width in NARROW or (width in WIDE and self.stream_width == STREAM_WIDTHS[-1])

    def _control(self, faults: list[str]) -> Bus | None:
        ports = [bus for bus in buses(self.ports, "awaddr") if bus.signals["awaddr"].is_input]
        if not ports:
            return None
        if len(ports) > 1:
            faults.append(
                f"{len(ports)} AXI4-Lite ports: {', '.join(bus.prefix for bus in ports)}; at most one"
            )
        bus = ports[0]
        for names, is_input in ((SLAVE_IN, True), (SLAVE_OUT, False)):
            for name in names:
                there = bus.signals.get(name)
                if there is None or there.is_input != is_input:
                    direction = "input" if is_input else "output"
                    faults.append(f"{direction} {bus.prefix}{name} is {there or 'missing'}")
        for name in ("wdata", "rdata"):
            if (there := bus.signals.get(name)) is not None and there.width != WORD_BITS:
                faults.append(f"{there.name} has {there.width} bits; registers have {WORD_BITS}")
        return bus

    def _master(self, faults: list[str]) -> Bus | None:
        """Its AXI4 master: one, that reads, writes or both."""
        masters = {
            bus.prefix: bus
            for key in ("araddr", "awaddr")
            for bus in buses(self.ports, key)
            if not bus.signals[key].is_input
        }
        if len(masters) > 1:
            faults.append(
                f"{len(masters)} AXI4 masters: {', '.join(masters)}; at most one (in HLS: one bundle)"
            )
        bus = next(iter(masters.values()), None)
        if bus is None:
            return None
        for names, is_input in ((MASTER_OUT, False), (MASTER_IN, True)):
            for name, bits in names.items():
                there = bus.signals.get(name)
                if there is not None and (there.is_input, there.width) != (is_input, bits):
                    faults.append(f"{Port(bus.prefix + name, is_input, bits)} is {there} instead")
        for way in [way for way in ("ar", "aw") if f"{way}addr" in bus.signals]:
            needed = {
                "ar": ("rdata", "rvalid", "rready"),
                "aw": ("wdata", "wstrb", "wlast", "wvalid", "wready"),
            }
            for name in (f"{way}valid", f"{way}ready", f"{way}len", *needed[way]):
                if name not in bus.signals:
                    faults.append(f"{bus.prefix}{name} is missing")
        return bus

    def _master_width(self, faults: list[str]) -> int:
        if self.master is None:
            return 0
        widths = {port.width for name in ("rdata", "wdata") if (port := self.master.signals.get(name))}
        if len(widths) != 1 or not widths <= {*MASTER_WIDTHS}:
            listed = " and ".join(map(str, sorted(widths))) or "none"
            accepted = ", ".join(map(str, MASTER_WIDTHS))
            faults.append(f"{self.master.prefix}*data has {listed} bits; one width of {accepted} is expected")
        return max(widths, default=0)

    def _constants(self) -> list[str]:
        faults = []
        for name, value in self.told.constants.items():
            there = self._by_name.get(name)
            if there is None or not there.is_input:
                faults.append(f"`rtl.constants` names {name}, which is no input")
            elif value >> there.width:
                faults.append(f"`rtl.constants` sets {there} to {value}, which has more bits")
        return faults

    def _unknown_inputs(self) -> list[str]:
        known_names = {*self.clocks, *self.resets, *self.told.constants}
        for bus in [*self.input_streams, self.output_stream]:
            known_names |= {
                p.name
                for signal, p in bus.signals.items()
                if signal in ("tdata", "tvalid", "tready", "tlast")
            }
            known_names |= {p.name for signal, p in bus.signals.items() if signal in FIXED}
        if self.control is not None:
            signals = (*SLAVE_IN, *SLAVE_OUT, *SLAVE_MAY)
            known_names |= {p.name for signal, p in self.control.signals.items() if signal in signals}
        if self.master is not None:
            answers = (*MASTER_IN, *MASTER_IDS.values(), *MASTER_ZERO, "rdata")
            known_names |= {p.name for signal, p in self.master.signals.items() if signal in answers}
        unknown = [
            p.name
            for p in self.ports
            if p.is_input
            and p.name not in known_names
            and not p.name.lower().endswith(("tdata", "tvalid", "tready"))
        ]
        return [f"nothing to drive {', '.join(unknown)} with"] if unknown else []
