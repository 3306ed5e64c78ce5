"""Rules of the buses that a run has broken, as lines, and what becomes of them.

``rtl/axl_watch.v`` watches handshakes, ``native/bus/referee.hpp`` bursts; here ports and rules have names.
A breach does not end a run: it is in the result, and :func:`verdict` raises it when all is reported.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import AxiloomError, HangError, MismatchError, ProtocolError
from axiloom.cosim import diagnosis, native
from axiloom.isa.contract.interfaces import (
    CHANNELS,
    PORT_CONTROL,
    PORT_IN,
    PORT_MASTER,
    PORT_OUT,
    PORT_USER_IN,
    PORT_USER_OUT,
)
from axiloom.isa.contract.types import WaitRegister

if TYPE_CHECKING:
    from axiloom.cosim.job import Result
    from axiloom.cosim.system import System
    from axiloom.hw.rtl_files.ports import Bus
    from axiloom.isa import AcceleratorSpec

OURS = {
    0: ("s_axi_lite", "the DMA's registers"),
    1: ("m_axi_mm2s", "the DMA reads"),
    2: ("m_axi_s2mm", "the DMA writes"),
    3: ("m_axi_sg", "descriptors"),
}
"""Ports of the SoC, by their numbers in ``rtl/axiloom_tb.v``: prefix, and what they are for."""
_KINDS = ("FIXED", "INCR", "WRAP", "reserved")


@dataclass(frozen=True)
class Port:
    """An interface: how its signals are called, and what it is."""

    bus: Bus | None
    prefix: str
    what: str

    def signal(self, name: str) -> str:
        """As the Verilog has it."""
        if self.bus is not None and name in self.bus.signals:
            return self.bus.name(name)
        return f"{self.prefix}_{name}" if self.prefix else name

    @property
    def said(self) -> str:
        return f"{self.prefix} ({self.what})"


def ports(system: System) -> Mapping[int, Port]:
    """All interfaces that are watched, by number."""
    result = {number: Port(None, prefix, what) for number, (prefix, what) in OURS.items()}
    for number, spec in enumerate(system.devices):
        of = f" {spec.name}" if len(system.devices) > 1 else ""
        result[PORT_IN + number] = Port(None, "s_axis", f"the stream to the device{of}")
        result[PORT_OUT + number] = Port(None, "m_axis", f"the stream from the device{of}")
    rtl = system.user_rtl
    if rtl is None:
        return result
    for number, bus in enumerate(rtl.input_streams):
        result[PORT_USER_IN + number] = _of(bus, "the stream to the device")
    theirs = (
        (PORT_USER_OUT, rtl.output_stream if rtl.input_streams else None, "the stream from the device"),
        (PORT_CONTROL, rtl.control, "its registers"),
        (PORT_MASTER, rtl.master, "its AXI4 master"),
    )
    return result | {number: _of(bus, what) for number, bus, what in theirs if bus is not None}


def _of(bus: Bus, what: str) -> Port:
    return Port(bus, bus.prefix.rstrip("_") or "the port", what)


@dataclass(frozen=True)
class _Seen:
    """A breach, and the names that its text needs."""

    port: Port
    channel: str
    a: int
    b: int

    def __call__(self, name: str) -> str:
        return self.port.signal(name)

    @property
    def valid(self) -> str:
        return self(f"{self.channel}valid")

    @property
    def ready(self) -> str:
        return self(f"{self.channel}ready")

    def channel_signal(self, name: str) -> str:
        return self(f"{self.channel}{name}")

    @property
    def address(self) -> str:
        return f"{self.channel_signal('addr')} 0x{self.a:08X}"

    @property
    def payload(self) -> str:
        return self("tdata") if self.channel == "t" else f"what comes with {self.valid}"

    @property
    def done(self) -> str:
        writes = "a write" if self.b == 1 else f"{self.b} writes"
        return f"register {self.a:#x} says done while {writes} of {self.port.said} wait for {self('bvalid')}"


_PG021 = "PG021"
_HANDSHAKE, _BURSTS, _ORDER = "IHI 0022 A3.2.1", "IHI 0022 A3.4.1", "IHI 0022 A3.3.1"
RULES = tuple(native.numbers("axl_rule", "AXL_RULE_"))
SAID: Mapping[str, tuple[Callable[[_Seen], str], str]] = {
    "HELD": (lambda s: f"{s.valid} falls before {s.ready} has come", _HANDSHAKE),
    "STABLE": (lambda s: f"{s.payload} changes while {s.valid} waits for {s.ready}", _HANDSHAKE),
    "RESET": (lambda s: f"{s.valid} is high in reset, or in the first cycle behind it", "IHI 0022 A3.1.2"),
    "WAITS": (lambda s: f"{s.valid} waits for {s.ready}: it comes only when that is high", _HANDSHAKE),
    "KEEP_ZERO": (lambda s: f"{s('tkeep')} is 0 on a beat: an AXI DMA writes none of its bytes", _PG021),
    "KEEP_GAP": (
        lambda s: f"{s('tkeep')} of a beat has a gap: it keeps {s.a} of {s.b} bytes, not the lowest",
        _PG021,
    ),
    "KEEP_EARLY": (
        lambda s: f"{s('tkeep')} keeps {s.a} of {s.b} bytes of a beat that is not the last",
        _PG021,
    ),
    "W_WAITS": (lambda s: f"{s('wvalid')} waits for {s('awready')}", _ORDER),
    "B_ASKED": (
        lambda s: f"{s('bvalid')} comes before the address and the data of a write are taken",
        _ORDER,
    ),
    "R_ASKED": (lambda s: f"{s('rvalid')} comes before the address of a read is taken", _ORDER),
    "4K": (lambda s: f"a burst of {s.b} bytes from {s.address} on crosses a boundary of 4 KiB", _BURSTS),
    "BURST": (lambda s: f"{s.channel_signal('burst')} is {s.a}, which is reserved", _BURSTS),
    "LENGTH": (
        lambda s: f"{s.channel_signal('len')}: a burst of kind {_KINDS[s.a]} has {s.b} beats",
        _BURSTS,
    ),
    "WRAP": (lambda s: f"a WRAP burst begins at {s.address}, which is no multiple of {s.b}", _BURSTS),
    "LAST": (
        lambda s: (
            f"{s.channel_signal('last')} is "
            f"{'missing on the last' if s.a else 'high before the last'} beat of a burst"
        ),
        _BURSTS,
    ),
    "STROBES": (
        lambda s: f"{s('wstrb')} leaves out bytes of the result, first at 0x{s.a:08X} (strobes {s.b:04b})",
        "IHI 0022 A3.4.3",
    ),
    "DONE_EARLY": (lambda s: s.done, _ORDER),
    "KEEP_WORDS": (
        lambda s: f"{s('tkeep')} keeps {s.a} of {s.b} bytes of a last beat: bytes of the result are lost",
        _PG021,
    ),
    "ID": (
        lambda s: f"{s.channel_signal('id')} is {s.a}: no burst with that ID is under way",
        "IHI 0022 A5.3",
    ),
}
"""By axl_rule of ``native/axl_core.h``: what is said, and where it stands (of AXI4-Stream elsewhere)."""
_OF_STREAMS = {_HANDSHAKE: "IHI 0051 2.2.1", "IHI 0022 A3.1.2": "IHI 0051 2.7.2"}


def begin(library: Any, specs: Sequence[AcceleratorSpec]) -> None:
    """Forget what was seen, and say which registers tell that a device is done."""
    waits = [
        native.Wait(spec.link.rtl.registers[access.register], access.mask)
        for spec in specs
        for before, after in spec.accesses.values()
        for access in (*before, *after)
        if isinstance(access, WaitRegister)
    ]
    library.axl_referee_begin((native.Wait * len(waits))(*waits), len(waits))


def breaches(library: Any, system: System, *, ended: bool) -> list[str]:
    """One line for each interface, channel and rule, oldest first. `ended`: the program came to its end."""
    if ended:
        library.axl_referee_end()
    named = ports(system)
    raw = [library.axl_breach_at(i).contents for i in range(library.axl_breach_count())]
    lines = [_line(breach, named) for breach in sorted(raw, key=lambda breach: breach.cycle)]
    if ended and (due := library.axl_answers_due(1)):
        port = named[PORT_MASTER]
        writes = "a write is" if due == 1 else f"{due} writes are"
        lines.append(
            f"{port.said}: the program has ended, and {writes} not answered: {port.signal('bvalid')} was not "
            "waited for (IHI 0022 A3.3.1)"
        )
    return lines


@dataclass(frozen=True)
class Access:
    """Of one register of a user's module, by its offset: so often, the last time with this value."""

    writes: bool
    offset: int
    last: int
    count: int


def accesses(library: Any) -> list[Access]:
    """In the order of the first of each."""
    raw = [library.axl_access_at(i).contents for i in range(library.axl_access_count())]
    return [Access(bool(a.writes), a.address, a.last, a.count) for a in raw]


def unstarted(system: System, seen: Sequence[Access]) -> str:
    """What is said of a module that hangs and has registers: which were written. Empty where it has none."""
    rtl = system.user_rtl
    if rtl is None or rtl.control is None:
        return ""
    port = f"the module has registers (AXI4-Lite, {_of(rtl.control, '').prefix})"
    written = {access.offset: access.last for access in seen if access.writes}
    start = "a module of Vitis HLS starts when bit 0 of 0x0 (ap_start) is written"
    if not written:
        why = (
            ""
            if system.device.link.rtl.registers
            else ", and `rtl.registers` of the specification names none"
        )
        return f"{port} that were never written{why}: {start}"
    said = ", ".join(f"{offset:#x} (last {value:#x})" for offset, value in sorted(written.items()))
    hint = "" if written.get(0, 0) & 1 else f", not bit 0 of 0x0: {start}"
    return f"{port}; written were {said}{hint}"


def tlast(system: System, text: str, cycle: int) -> str:
    """The line of a TLAST that is missing or too early."""
    named = ports(system)
    port = named.get(PORT_USER_OUT, named[PORT_OUT])
    return f"{port.said}: {text}, at fabric cycle {cycle:,}"


def _line(raw: ctypes.Structure, named: Mapping[int, Port]) -> str:
    port = named[raw.port]
    say, source = SAID[RULES[raw.rule]]
    seen = _Seen(port, CHANNELS[raw.channel], raw.a, raw.b)
    text = f"{say(seen)} ({_OF_STREAMS.get(source, source) if seen.channel == 't' else source})"
    times = f", {raw.count:,} times, first" if raw.count > 1 else ""
    return f"{port.said}: {text}{times} at fabric cycle {raw.cycle:,}"


def refusal(breaches: Sequence[str]) -> str:
    """What is said of a run that broke rules."""
    return diagnosis.first_of("a rule of the bus is broken", breaches)


def fault(result: Result) -> AxiloomError | None:
    """What is wrong with a run whose program came to its end: rules, or what pauses have changed."""
    if result.breaches:
        return ProtocolError(refusal(result.breaches))
    stalled = result.stalled
    if stalled is None or not stalled.fault:
        return None
    kind = HangError if stalled.hangs else MismatchError
    return kind(f"{stalled.name}: {stalled.fault}")


def verdict(result: Result) -> None:
    """Raise :func:`fault`, if there is one: when the report is written."""
    if (error := fault(result)) is not None:
        raise error
