"""Which ports of a Verilog module are AXI, by their names: ``m_axi_arvalid``, ``S_AXIS_TDATA``, ..."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from axiloom.errors import BuildError
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
    clock: str
    reset: str | None
    reset_active_low: bool
    axi: tuple[AxiPort, ...]
    ports: tuple[Port, ...]

    @property
    def inputs(self) -> dict[str, int]:
        """All but clock and reset, with their bits."""
        return {p.name: p.width for p in self.ports if p.is_input and p.name not in (self.clock, self.reset)}

    @property
    def outputs(self) -> dict[str, int]:
        return {p.name: p.width for p in self.ports if not p.is_input}


def understand(
    name: str, ports: Sequence[Port], clock: str | None = None, reset: str | None = None
) -> Module:
    """The module's clock, reset and AXI ports.

    `clock` and `reset` name ports whose names say nothing; a `reset` that ends in ``n`` is active low. Raises
    BuildError: no clock or more than one, no AXI port, a port without READY, a port of both directions.
    """
    by_name = {port.name: port for port in ports}
    for what, given in (("clock", clock), ("reset", reset)):
        if given is not None and (given not in by_name or not by_name[given].is_input):
            inputs = ", ".join(port.name for port in ports if port.is_input and port.width == 1)
            raise BuildError(
                f"module {name}: --{what} {given}: no input of that name; of one bit are {inputs}"
            )
    clocks = [clock] if clock else _ending(ports, CLOCKS)
    if len(clocks) != 1:
        found = ", ".join(clocks) or "none"
        raise BuildError(f"module {name}: one clock is needed, found {found}: name it with --clock PORT")
    if reset:
        low, high = ([reset], []) if reset.lower().endswith("n") else ([], [reset])
    else:
        low, high = _ending(ports, RESETS_LOW), _ending(ports, RESETS_HIGH)
    if len(low) + len(high) > 1:
        raise BuildError(
            f"module {name}: one reset is needed, found {', '.join(low + high)}: name it with --reset PORT"
        )
    axi = _axi(name, ports)
    if not axi:
        names = ", ".join(port.name for port in ports)
        raise BuildError(
            f"module {name}: no AXI port, none with <prefix>tvalid, <prefix>awvalid or <prefix>arvalid; "
            f"its ports are {names}"
        )
    return Module(name, clocks[0], next(iter(low + high), None), bool(low), axi, tuple(ports))


def _ending(ports: Iterable[Port], ends: Sequence[str]) -> list[str]:
    """Inputs of one bit with such a name, also behind a prefix (``s_axi_aclk``)."""
    found = []
    for port in ports:
        lower = port.name.lower()
        if (
            port.is_input
            and port.width == 1
            and any(lower == end or lower.endswith("_" + end) for end in ends)
        ):
            found.append(port.name)
    return found


def _axi(module: str, ports: Iterable[Port]) -> tuple[AxiPort, ...]:
    groups: dict[str, dict[str, Port]] = {}
    for port in ports:
        if named := _ENDS.match(port.name):
            groups.setdefault(named["prefix"], {})[named["signal"].lower()] = port
    found = []
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
        found.append(AxiPort(name, protocol, next(iter(sides.values())), signals))
    return tuple(found)


_TOGETHER = {"awvalid": "awaddr wvalid wdata bvalid", "arvalid": "araddr rvalid rdata"}
"""A channel of addresses to what must be beside it."""


def _check_signals(place: str, signals: Mapping[str, Port]) -> None:
    """Raises BuildError for a port without a signal that its rules need, or of an odd width."""
    for valid, needed in _TOGETHER.items():
        missing = [one for one in needed.split() if one not in signals] if valid in signals else []
        if missing:
            raise BuildError(f"{place} has {valid} and no {', '.join(missing)}")
    for data in ("wdata", "rdata"):
        bits = signals[data].width if data in signals else 8
        if bits < 8 or bits & (bits - 1):
            raise BuildError(f"{place}: {data} has {bits} bits; AXI has 8 to 1024, a power of two")
