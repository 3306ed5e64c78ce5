"""Which ports of a Verilog module are AXI, by their names: ``m_axi_arvalid``, ``S_AXIS_TDATA``, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from axiloom.base.errors import BuildError
from axiloom.hw.axi.rules import protocols
from axiloom.hw.axi.rules.handshake import PAYLOAD
from axiloom.hw.axi.rules.language import Side
from axiloom.hw.axi.rules.protocols import ASKED, Protocol
from axiloom.hw.rtl_files.ports import CLOCKS, RESETS_HIGH, RESETS_LOW, Port

_SIGNALS = sorted(
    (channel + field for channel, fields in PAYLOAD.items() for field in ("valid", "ready", *fields.split())),
    key=len,
    reverse=True,
)
_ENDS = re.compile(f"^(?P<prefix>.*?)(?P<signal>{'|'.join(_SIGNALS)})$", re.IGNORECASE)


@dataclass(frozen=True)
class AxiPort:
    """An AXI port of a module: `signals` by their AXI names in lower case, with the module's own names."""

    name: str
    protocol: Protocol
    side: Side
    signals: Mapping[str, Port]


@dataclass(frozen=True)
class Module:
    """A Verilog module as a prover sees it: one clock, a reset, AXI ports, and free inputs."""

    name: str
    clocks: tuple[str, ...]
    """Ports that one clock drives."""
    resets: Mapping[str, bool]
    """Ports that one reset drives, each with whether it is active low."""
    axi: tuple[AxiPort, ...]
    ports: tuple[Port, ...]

    @property
    def inputs(self) -> dict[str, int]:
        """All but clocks and resets, with their bits."""
        known = {*self.clocks, *self.resets}
        return {p.name: p.width for p in self.ports if p.is_input and p.name not in known}

    @property
    def free(self) -> list[str]:
        """Inputs that are of no AXI port: they may do what they like."""
        axi = {signal.name for port in self.axi for signal in port.signals.values()}
        return [name for name in self.inputs if name not in axi]

    @property
    def outputs(self) -> dict[str, int]:
        return {p.name: p.width for p in self.ports if not p.is_input}


def understand(
    name: str, ports: Sequence[Port], clocks: Sequence[str] = (), resets: Sequence[str] = ()
) -> Module:
    """The module's clock, reset and AXI ports.

    `clocks` and `resets` name ports whose names say nothing, or that are tied together; a reset that ends in
    ``n`` is active low. All resets with known names are tied. Raises BuildError: no clock, or several that
    nobody ties (a FIFO between two would be proved as what it is not), no AXI port, a port without READY, a
    port of both directions.
    """
    by_name = {port.name: port for port in ports}
    for what, told in (("clock", clocks), ("reset", resets)):
        for wanted in told:
            if wanted not in by_name or not by_name[wanted].is_input or by_name[wanted].width != 1:
                inputs = ", ".join(port.name for port in ports if port.is_input and port.width == 1)
                raise BuildError(
                    f"module {name}: --{what} {wanted}: no input of that name; of one bit are {inputs}"
                )
    there = list(clocks) or _ending(ports, CLOCKS)
    if not there:
        raise BuildError(f"module {name}: one clock is needed, found none: name it with --clock PORT")
    if len(there) > 1 and not clocks:
        tied = " ".join(f"--clock {clock}" for clock in there)
        raise BuildError(
            f"module {name}: one clock is needed, found {', '.join(there)}: name it with --clock PORT; "
            f"if one clock drives them all: {tied}"
        )
    known = dict.fromkeys(_ending(ports, RESETS_LOW), True)
    known |= dict.fromkeys(_ending(ports, RESETS_HIGH), False)
    low = {reset: known.get(reset, reset.lower().endswith("n")) for reset in resets} or known
    axi = _axi(name, ports)
    if not axi:
        names = ", ".join(port.name for port in ports)
        raise BuildError(
            f"module {name}: no AXI port, none with <prefix>tvalid, <prefix>awvalid or <prefix>arvalid; "
            f"its ports are {names}"
        )
    return Module(name, tuple(there), low, axi, tuple(ports))


def _ending(ports: Iterable[Port], ends: Sequence[str]) -> list[str]:
    """Inputs of one bit with such a name, also behind a prefix (``s_axi_aclk``)."""
    names = []
    for port in ports:
        lower = port.name.lower()
        if (
            port.is_input
            and port.width == 1
            and any(lower == end or lower.endswith("_" + end) for end in ends)
        ):
            names.append(port.name)
    return names


def _axi(module: str, ports: Iterable[Port]) -> tuple[AxiPort, ...]:
    groups: dict[str, dict[str, Port]] = {}
    for port in ports:
        if named := _ENDS.match(port.name):
            groups.setdefault(named["prefix"], {})[named["signal"].lower()] = port
    interfaces = []
    for prefix, signals in groups.items():
        protocol = protocols.of(signals)
        if protocol is None:
            continue
        name = prefix.rstrip("_") or "bus"
        _check_signals(f"module {module}: port {name}", signals)
        sides = {}
        for channel, asks in ASKED.items():
            if f"{channel}valid" not in signals:
                continue
            if f"{channel}ready" not in signals and channel != "t":
                raise BuildError(f"module {module}: port {name} has {channel}valid and no {channel}ready")
            sides[channel] = asks if not signals[f"{channel}valid"].is_input else asks.other
        if len(set(sides.values())) != 1:
            said = ", ".join(f"{channel}valid of a {side}" for channel, side in sides.items())
            raise BuildError(f"module {module}: port {name} is of both sides: {said}")
        interfaces.append(AxiPort(name, protocol, next(iter(sides.values())), signals))
    return tuple(interfaces)


_TOGETHER = {"awvalid": "awaddr wvalid wdata bvalid", "arvalid": "araddr rvalid rdata"}
"""A channel of addresses to what must be beside it."""


def _check_signals(place: str, signals: Mapping[str, Port]) -> None:
    """Raises BuildError for a port without a signal that its rules need, or of an odd width."""
    for valid, needed in _TOGETHER.items():
        missing = [signal for signal in needed.split() if signal not in signals] if valid in signals else []
        if missing:
            raise BuildError(f"{place} has {valid} and no {', '.join(missing)}")
    for data in ("wdata", "rdata"):
        bits = signals[data].width if data in signals else 8
        if bits < 8 or bits & (bits - 1):
            raise BuildError(f"{place}: {data} has {bits} bits; AXI has 8 to 1024, a power of two")
