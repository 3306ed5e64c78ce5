"""Which ports of a core make up which interface, in Xilinx' names of interfaces and their signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axiloom.board_folder.design.rtl import Port

WRITE = ("AWADDR", "AWLEN", "AWSIZE", "AWBURST", "AWPROT", "AWCACHE", "AWVALID", "AWREADY")
WRITE_DATA = ("WDATA", "WSTRB", "WLAST", "WVALID", "WREADY", "BRESP", "BVALID", "BREADY")
READ = ("ARADDR", "ARLEN", "ARSIZE", "ARBURST", "ARPROT", "ARCACHE", "ARVALID", "ARREADY")
READ_DATA = ("RDATA", "RRESP", "RLAST", "RVALID", "RREADY")
STREAM = ("TDATA", "TKEEP", "TLAST", "TVALID", "TREADY")

SIGNALS = {
    "aximm": (*WRITE, *WRITE_DATA, *READ, *READ_DATA),
    "axis": STREAM,
    "clock": ("CLK",),
    "reset": ("RST",),
    "interrupt": ("INTERRUPT",),
}
"""Interface to the names of its signals (of AXI those that our modules have)."""

FROM_SLAVE = {
    "AWREADY",
    "WREADY",
    "BRESP",
    "BVALID",
    "ARREADY",
    "RDATA",
    "RRESP",
    "RLAST",
    "RVALID",
    "TREADY",
}
"""Signals that a slave drives; a master drives all others."""

LIBRARY = {
    "aximm": "interface",
    "axis": "interface",
    "clock": "signal",
    "reset": "signal",
    "interrupt": "signal",
}

_PREFIXES = {
    "s_axi_lite": ("aximm", False),
    "m_axi_mm2s": ("aximm", True),
    "m_axi_s2mm": ("aximm", True),
    "m_axi_sg": ("aximm", True),
    "m_axi_user": ("aximm", True),
    "s_axis": ("axis", False),
    "m_axis": ("axis", True),
}
_SINGLE = {
    "aclk": ("clock", False, "CLK"),
    "aresetn": ("reset", False, "RST"),
    "mm2s_introut": ("interrupt", True, "INTERRUPT"),
    "s2mm_introut": ("interrupt", True, "INTERRUPT"),
}


@dataclass(frozen=True)
class Bus:
    """An interface of a core: `kind` as in :data:`SIGNALS`, its signals to the ports."""

    name: str
    kind: str
    is_master: bool
    ports: dict[str, Port]

    @property
    def data_width(self) -> int:
        """Bits of data, of an AXI interface."""
        return next(self.ports[name].width for name in ("WDATA", "RDATA", "TDATA") if name in self.ports)

    @property
    def address_width(self) -> int:
        return next(self.ports[name].width for name in ("AWADDR", "ARADDR") if name in self.ports)

    @property
    def access(self) -> str:
        """Xilinx' READ_WRITE_MODE."""
        reads, writes = "ARADDR" in self.ports, "AWADDR" in self.ports
        return "READ_WRITE" if reads and writes else "READ_ONLY" if reads else "WRITE_ONLY"

    @property
    def is_lite(self) -> bool:
        """AXI4-Lite: no bursts."""
        return self.kind == "aximm" and not {"AWLEN", "ARLEN"} & set(self.ports)


def buses(ports: Sequence[Port]) -> tuple[Bus, ...]:
    """The interfaces that the names of `ports` make up; probes belong to none."""
    buses_ = []
    for prefix, (kind, is_master) in _PREFIXES.items():
        by_name = {port.name: port for port in ports}
        inside = {
            signal: by_name[f"{prefix}_{signal.lower()}"]
            for signal in SIGNALS[kind]
            if f"{prefix}_{signal.lower()}" in by_name
        }
        if inside:
            buses_.append(Bus(prefix, kind, is_master, inside))
    for port in ports:
        if port.name in _SINGLE:
            kind, is_master, signal = _SINGLE[port.name]
            buses_.append(Bus(port.name, kind, is_master, {signal: port}))
    return tuple(buses_)
