"""What watches channels in a simulation: the modules of ``cosim/rtl/axl_watch.v``, put into a SoC.

Each channel goes through a module that knows its number and that of its port. It adds no cycle; under pauses
it holds the channel up. A SoC for a board has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value

from axiloom.hw.axi.rules.handshake import PAYLOAD
from axiloom.hw.rtl_files.ports import Bus
from axiloom.hw.rtl_files.user_rtl import MASTER_IDS
from axiloom.isa.contract.interfaces import CHANNELS

UNRESET, ALL = 1, 2
"""Which rules are looked at: not that of the reset, or all."""
NAMES = frozenset(
    (
        *("axl_channel", "axl_keep", "axl_writes", "axl_registers", "axl_ids", "axl_reset"),
        *("PORT", "CHANNEL", "WIDTH", "asks", "asked_id", "id"),
        *("RULES", "BYTES", "LOW", "clk", "reset", "level", "hold", "hold_aw", "hold_b", "valid", "ready"),
        *("payload", "valid_out", "ready_in", "last", "keep"),
        *(f"{c}{name}" for c in CHANNELS for name in ("valid", "ready", "addr", "data", "last")),
    )
)
"""What the printer of Verilog must leave as it is called."""


def stream(m: Module, source: Any, sink: Any, port: int, reset: Value, rules: int = ALL) -> None:
    """Connect two streams of ours, watched."""
    m.d.comb += [sink.tdata.eq(source.tdata), sink.tlast.eq(source.tlast)]
    m.submodules += Instance(
        "axl_channel",
        *_fixed(port, "t"),
        ("p", "WIDTH", len(source.tdata) + 1),
        ("p", "RULES", rules),
        ("i", "reset", reset),
        ("i", "hold", Const(0)),
        ("i", "payload", Cat(source.tdata, source.tlast)),
        ("i", "valid", source.tvalid),
        ("o", "ready", source.tready),
        ("o", "valid_out", sink.tvalid),
        ("i", "ready_in", sink.tready),
    )


def _fixed(port: int, channel: str) -> tuple[tuple[str, str, Any], ...]:
    return (
        ("p", "PORT", port),
        ("p", "CHANNEL", CHANNELS.index(channel)),
        ("i", "clk", ClockSignal()),
    )


class Watched:
    """The ports of a user's module, as :class:`Instance` takes them, with a watch in each channel."""

    def __init__(
        self, m: Module, connections: dict[str, Any], reset: Value, rules: int, ports: Mapping[str, int]
    ) -> None:
        self.m, self.connections, self.reset, self.rules = m, connections, reset, rules
        self._widths = ports

    def stream(self, bus: Bus, port: int) -> None:
        self._channel(bus, "t", port)
        if "tkeep" in bus.signals and not bus.signals["tkeep"].is_input:
            keep = self._open(bus.name("tkeep"))
            last = self.connections.get(f"o_{bus.signals['tlast'].name}") if "tlast" in bus.signals else None
            self.m.submodules += Instance(
                "axl_keep",
                *_fixed(port, "t"),
                ("p", "BYTES", len(keep)),
                ("i", "valid", self._level(bus, "tvalid")),
                ("i", "ready", self._level(bus, "tready")),
                ("i", "last", Const(1) if last is None else last),
                ("i", "keep", keep),
            )

    def registers(self, bus: Bus, port: int) -> None:
        for channel in CHANNELS[1:]:
            self._channel(bus, channel, port)
        names = [f"{channel}{end}" for channel in CHANNELS[1:] for end in ("valid", "ready")]
        names += ["awaddr", "wdata", "araddr", "rdata"]
        self.m.submodules += Instance(
            "axl_registers",
            *_fixed(port, "b"),
            ("i", "reset", self.reset),
            *(("i", name, self._wide(self._level(bus, name), name)) for name in names),
        )

    def master(self, bus: Bus, port: int) -> None:
        holds = {}
        offered = self._level(bus, "bvalid") if "bvalid" in bus.signals else Const(0)  # also while B is held
        if "awaddr" in bus.signals:
            holds = {"aw": Signal(name="hold_aw"), "b": Signal(name="hold_b")}
        for channel in ("ar", "r", "aw", "w", "b"):
            if f"{channel}valid" in bus.signals and f"{channel}ready" in bus.signals:
                self._channel(bus, channel, port, holds.get(channel))
        for asked, answered in MASTER_IDS.items():
            if {asked, answered, *(("rlast",) if answered == "rid" else ())} <= bus.signals.keys():
                self._ids(bus, asked, answered, port)
        if not holds:
            return
        names = ("awvalid", "awready", "wvalid", "wready", "wlast", "bready")
        there = [name for name in names if name in bus.signals]
        self.m.submodules += Instance(
            "axl_writes",
            *_fixed(port, "aw"),
            ("i", "reset", self.reset),
            *(("i", name, self._level(bus, name) if name in there else Const(0)) for name in names),
            ("i", "bvalid", offered),
            *(("o", f"hold_{channel}", level) for channel, level in holds.items()),
        )

    # --- inside ---------------------------------------------------------------------------------------

    def _ids(self, bus: Bus, asked: str, answered: str, port: int) -> None:
        channel, way = answered.removesuffix("id"), asked.removesuffix("id")
        self.m.submodules += Instance(
            "axl_ids",
            *_fixed(port, channel),
            ("p", "WIDTH", bus.signals[asked].width),
            ("i", "reset", self.reset),
            ("i", "asks", self._level(bus, f"{way}valid") & self._level(bus, f"{way}ready")),
            ("i", "asked_id", self._level(bus, asked)),
            ("i", "valid", self._level(bus, f"{channel}valid")),
            ("i", "ready", self._level(bus, f"{channel}ready")),
            ("i", "last", self._level(bus, "rlast") if channel == "r" else Const(1)),
            ("i", "id", self._level(bus, answered)),
        )

    def _channel(self, bus: Bus, channel: str, port: int, hold: Signal | None = None) -> None:
        valid, ready = bus.name(f"{channel}valid"), bus.name(f"{channel}ready")
        sends = f"o_{valid}" in self.connections
        theirs = [Signal(name=f"watched_{name}") for name in (valid, ready)]
        ways = ("o", "i") if sends else ("i", "o")
        ours = [self.connections[f"{way}_{name}"] for way, name in zip(ways, (valid, ready), strict=True)]
        for way, name, signal in zip(ways, (valid, ready), theirs, strict=True):
            self.connections[f"{way}_{name}"] = signal
        sender, receiver = (theirs, ours) if sends else (ours, theirs)
        fields = [channel + name for name in PAYLOAD[channel].split() if channel + name in bus.signals]
        payload = Cat(
            Value.cast(self._open(bus.name(field)) if sends else self._level(bus, field)) for field in fields
        )
        self.m.submodules += Instance(
            "axl_channel",
            *_fixed(port, channel),
            ("p", "WIDTH", max(len(payload), 1)),
            ("p", "RULES", self.rules),
            ("i", "reset", self.reset),
            ("i", "hold", Const(0) if hold is None else hold),
            ("i", "payload", payload if len(payload) else Const(0)),
            ("i", "valid", sender[0]),
            ("o", "ready", sender[1]),
            ("o", "valid_out", receiver[0]),
            ("i", "ready_in", receiver[1]),
        )

    def _level(self, bus: Bus, signal: str) -> Any:
        """What stands at the module's own port."""
        name = bus.name(signal)
        return self.connections.get(f"i_{name}", self.connections.get(f"o_{name}"))

    def _open(self, name: str) -> Any:
        """... of an output, which is connected to nothing else, maybe."""
        if f"o_{name}" not in self.connections:
            self.connections[f"o_{name}"] = Signal(self._widths[name], name=f"watched_{name}")
        return self.connections[f"o_{name}"]

    def _wide(self, level: Any, name: str) -> Value:
        """To the bits that the watching module's port has."""
        bits = 32 if name.endswith(("addr", "data")) else 1
        value = Value.cast(level)
        return Cat(value, Const(0, bits - len(value))) if len(value) < bits else value[:bits]
