"""The user's own accelerator in Verilog: which of its ports is which."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom.errors import BuildError
from axiloom.hw.rtl_files import verilator
from axiloom.isa.contract.types import WORD_BITS

STREAM_WIDTHS = (WORD_BITS, 2 * WORD_BITS, 4 * WORD_BITS)
"""Bits that both streams may have."""

CLOCKS = ("aclk", "clk", "clock", "ap_clk", "clk_i", "i_clk")
RESETS_LOW = ("aresetn", "resetn", "reset_n", "rst_n", "rstn", "ap_rst_n", "rst_ni", "i_rst_n")
RESETS_HIGH = ("areset", "reset", "rst", "ap_rst", "rst_i", "i_rst")
"""Names that are looked for, in this order, in any case."""

EXPECTED = (
    f"a clock ({' | '.join(CLOCKS[:3])}), optionally a reset "
    f"({' | '.join((*RESETS_LOW[:4], *RESETS_HIGH[1:3]))}), and two AXI streams, "
    f"inputs <in>_tdata[{WORD_BITS - 1}:0] <in>_tvalid with output <in>_tready, and "
    f"outputs <out>_tdata[{WORD_BITS - 1}:0] <out>_tvalid <out>_tlast with input <out>_tready; "
    f"both *_tdata may have {' or '.join(map(str, STREAM_WIDTHS[1:]))} bits instead"
)


@dataclass(frozen=True)
class Port:
    """A port of a Verilog module."""

    name: str
    is_input: bool
    width: int

    def __str__(self) -> str:
        bits = f"[{self.width - 1}:0]" if self.width > 1 else ""
        return f"{'input' if self.is_input else 'output'} {self.name}{bits}"


class UserRtl:
    """A module `top` in Verilog `files`, to take the place of the generated accelerator.

    The ports are read from the source; clock, reset and its polarity are known by their names, the two
    streams by the direction of their ``*_tdata`` (or ``*tdata``). ``tlast`` of the input stream and its
    ``tkeep`` and ``tstrb`` may be missing; further outputs are left open, further inputs are refused.
    Without a reset port the module is not reset by a soft reset of the DMA, which may take back a word
    that waits for TREADY.

    Attributes: `files`, `top`, `clock`, `reset` (or None), `reset_active_low`, `input` and `output`
    (the prefixes of the streams' ports), `stream_width` (bits of both ``*tdata``), `ports`.

    Raises :exc:`BuildError` if a file is missing or faulty, or the ports do not fit: the message lists
    what was found and what is expected.
    """

    def __init__(self, files: Iterable[str | Path], top: str) -> None:
        self.files = tuple(Path(file) for file in files)
        self.top = top
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
        self.ports = read_ports(self.files, top)
        self._by_name = {port.name: port for port in self.ports}
        faults: list[str] = []

        self.clock = self._named(CLOCKS) or ""
        if not self.clock:
            faults.append("no clock")
        reset_low, reset_high = self._named(RESETS_LOW), self._named(RESETS_HIGH)
        if reset_low and reset_high:
            faults.append(f"two resets, {reset_low} and {reset_high}")
        self.reset = reset_low or reset_high
        self.reset_active_low = self.reset is not None and self.reset == reset_low
        self.stream_width = self._width_of_input()
        self.input = self._stream(True, faults)
        self.output = self._stream(False, faults)
        faults += self._unknown_inputs()
        if faults:
            found = ", ".join(map(str, self.ports)) or "no ports"
            raise BuildError(
                f"user RTL module {top}: {'; '.join(faults)}; found {found}; expected {EXPECTED}"
            )

    def __repr__(self) -> str:
        return f"UserRtl({[str(file) for file in self.files]!r}, {self.top!r})"

    def has(self, port: str) -> bool:
        """Does the module have a port of this name?"""
        return port in self._by_name

    def check_width(self, stream_width: int, what: str) -> None:
        """Raises BuildError unless the streams have the `stream_width` bits that `what` says."""
        if stream_width != self.stream_width:
            raise BuildError(
                f"user RTL module {self.top}: {self.input}tdata and {self.output}tdata have "
                f"{self.stream_width} bits, the stream_width of {what} is {stream_width}: make them equal"
            )

    def _width_of_input(self) -> int:
        """Of the stream; that of a word where none of its ports fits."""
        widths = {p.width for p in self.ports if p.is_input and p.name.endswith("tdata")}
        return max(widths & {*STREAM_WIDTHS}, default=WORD_BITS)

    def _named(self, names: tuple[str, ...]) -> str | None:
        lower = {p.name.lower(): p.name for p in self.ports if p.is_input and p.width == 1}
        return next((lower[name] for name in names if name in lower), None)

    def _stream(self, is_input: bool, faults: list[str]) -> str:
        """Prefix of the ports of the only stream of this direction."""
        what = "input" if is_input else "output"
        prefixes = [
            p.name.removesuffix("tdata")
            for p in self.ports
            if p.name.endswith("tdata") and p.is_input == is_input
        ]
        if len(prefixes) != 1:
            names = f": {', '.join(f'{p}tdata' for p in prefixes)}" if prefixes else ""
            faults.append(f"{len(prefixes) or 'no'} {what} streams ({what} *_tdata){names}")
            return ""
        prefix = prefixes[0]
        needed = {
            "tdata": (is_input, self.stream_width),
            "tvalid": (is_input, 1),
            "tready": (not is_input, 1),
        }
        if not is_input or self.has(f"{prefix}tlast"):
            needed["tlast"] = (is_input, 1)
        for signal, (signal_is_input, width) in needed.items():
            wanted = Port(prefix + signal, signal_is_input, width)
            if self._by_name.get(wanted.name) != wanted:
                instead = self._by_name.get(wanted.name)
                faults.append(f"{wanted} is {f'{instead} instead' if instead else 'missing'}")
        return prefix

    def _unknown_inputs(self) -> list[str]:
        known = {self._named(names) for names in (CLOCKS, RESETS_LOW, RESETS_HIGH)}
        known.add(f"{self.output}tready")
        known |= {f"{self.input}{signal}" for signal in ("tdata", "tvalid", "tlast", "tkeep", "tstrb")}
        unknown = [
            p.name
            for p in self.ports
            if p.is_input and p.name not in known and not p.name.endswith(("tdata", "tvalid", "tready"))
        ]
        return [f"nothing to drive {', '.join(unknown)} with"] if unknown else []


def read_ports(files: tuple[Path, ...], top: str) -> tuple[Port, ...]:
    """The ports of module `top`, as Verilator reads them. Raises BuildError with its first complaint."""
    with tempfile.TemporaryDirectory(prefix="axiloom-ports-") as folder:
        tree = Path(folder) / "tree.json"
        includes = sorted({f"+incdir+{file.resolve().parent}" for file in files})
        options = ("--json-only", "--json-only-output", str(tree), "--top-module", top, *includes)
        quiet = ("-Wno-lint", "-Wno-fatal", "-Wno-MULTITOP")
        done = verilator.run([*options, *quiet, *(file.resolve() for file in files)], cwd=Path(folder))
        if done.returncode != 0 or not tree.is_file():
            lines = done.stderr.splitlines()
            first = next((line for line in lines if line.startswith("%Error")), done.stderr)
            raise BuildError(f"user RTL module {top}: {first.removeprefix('%Error: ')}")
        netlist = json.loads(tree.read_text(encoding="utf-8"))
    types = {t["addr"]: t for misc in netlist["miscsp"] for t in misc.get("typesp", ())}
    module = next(m for m in netlist["modulesp"] if m["origName"] == top)
    return tuple(
        Port(var["verilogName"], var["direction"] == "INPUT", _width(types.get(var["dtypep"], {}), types))
        for var in module["stmtsp"]
        if var["type"] == "VAR" and var.get("isPrimaryIO")
    )


def _width(data_type: dict[str, Any], types: dict[str, Any]) -> int:
    """Bits of a port's type; 0 for a type that is no plain vector, which then fits nothing."""
    if data_type.get("type") == "REFDTYPE":
        return _width(types.get(data_type.get("refDTypep", ""), {}), types)
    if data_type.get("type") != "BASICDTYPE":
        return 0
    if "range" not in data_type:
        return 1
    left, right = map(int, data_type["range"].split(":"))
    return abs(left - right) + 1
