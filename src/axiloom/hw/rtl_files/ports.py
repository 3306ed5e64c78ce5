"""The ports of a module as Verilator reads them, and the buses that their names make of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axiloom.base import processes
from axiloom.base.errors import BuildError
from axiloom.base.wording.names import hint, listed
from axiloom.hw.rtl_files import verilator
from axiloom.hw.rtl_files.links import Links

CLOCKS = ("aclk", "clk", "clock", "ap_clk", "clk_i", "i_clk")
RESETS_LOW = ("aresetn", "resetn", "reset_n", "rst_n", "rstn", "ap_rst_n", "rst_ni", "i_rst_n")
RESETS_HIGH = ("areset", "reset", "rst", "ap_rst", "rst_i", "i_rst")
"""Names that are known, in any case. A bus may stand before the first of each: ``s00_axis_aclk``."""


@dataclass(frozen=True)
class Port:
    """A port of a Verilog module."""

    name: str
    is_input: bool
    width: int
    is_read: bool = field(default=True, compare=False)
    """Of an input: whether the module looks at it. What goes into a signal called unused is not looked at."""

    def __str__(self) -> str:
        bits = f"[{self.width - 1}:0]" if self.width > 1 else ""
        return f"{'input' if self.is_input else 'output'} {self.name}{bits}"


@dataclass(frozen=True)
class Bus:
    """Ports of one prefix: the signals of a stream, or of AXI4-Lite."""

    prefix: str
    signals: Mapping[str, Port]
    """Signal in lower case (``tdata``) to its port."""

    def name(self, signal: str) -> str:
        """The port of a signal."""
        return self.signals[signal].name


def buses(ports: Sequence[Port], key: str) -> Iterator[Bus]:
    """One for each port that ends in `key` (``tdata``), in any case: what has the same prefix is of it."""
    for port in ports:
        if port.name.lower().endswith(key):
            prefix = port.name[: -len(key)]
            own = {p.name.lower()[len(prefix) :]: p for p in ports if _begins(p.name, prefix)}
            yield Bus(prefix, own)


def _begins(name: str, prefix: str) -> bool:
    return name.lower().startswith(prefix.lower())


def known(port: Port, names: Sequence[str]) -> bool:
    """Whether an input of one bit has one of `names` (of clocks, or resets) or ends in it."""
    lower = port.name.lower()
    ends = tuple(f"_{name}" for name in names if not name.startswith("i_") and not name.endswith("_i"))
    return port.is_input and port.width == 1 and (lower in names or lower.endswith(ends))


_VERILATOR = re.compile(r"^%Error(-\w+)?: ")


def read_ports(
    files: tuple[Path, ...], top: str, parameters: Mapping[str, int] | None = None
) -> tuple[Port, ...]:
    """The ports of module `top`, as Verilator reads them. Raises BuildError with its first complaint."""
    with processes.scratch("axiloom-ports-") as folder:
        tree = Path(folder) / "tree.json"
        links = Links(folder, files)
        includes = [f"+incdir+{include}" for include in links.includes]
        defines = [f"-G{name}={value}" for name, value in (parameters or {}).items()]
        options = ("--json-only", "--json-only-output", str(tree), "--top-module", top, *includes, *defines)
        quiet = ("-Wno-lint", "-Wno-fatal", "-Wno-MULTITOP", "-Werror-MODDUP")
        done = verilator.run([*options, *quiet, *links.files], cwd=folder)
        if done.returncode != 0 or not tree.is_file():
            lines = done.stderr.splitlines()
            first = next((line for line in lines if line.startswith("%Error")), done.stderr)
            why = not_there(files, top) if "was not found in design" in first else None
            raise BuildError(f"user RTL module {top}: {why or links.told(_VERILATOR.sub('', first))}")
        netlist = json.loads(tree.read_text(encoding="utf-8"))
    types = {t["addr"]: t for misc in netlist["miscsp"] for t in misc.get("typesp", ())}
    module = next(m for m in netlist["modulesp"] if m["origName"] == top)
    read = {*_read(module["stmtsp"])}
    return tuple(
        Port(
            var["verilogName"],
            var["direction"] == "INPUT",
            _width(types.get(var["dtypep"], {}), types),
            var["addr"] in read,
        )
        for var in module["stmtsp"]
        if var["type"] == "VAR" and var.get("isPrimaryIO")
    )


def _read(node: Any) -> Iterator[str]:
    """Addresses of the variables whose values are used."""
    if isinstance(node, list):
        for child in node:
            yield from _read(child)
    elif isinstance(node, dict):
        if str(node.get("type")).startswith("ASSIGN") and any("unused" in name for name in _set(node)):
            return
        if node.get("type") == "VARREF" and node.get("access") != "WR":
            yield str(node["varp"])
        for child in node.values():
            yield from _read(child)


def _set(assignment: dict[str, Any]) -> Iterator[str]:
    """Names of the variables that an assignment sets."""
    for target in assignment.get("lhsp", ()):
        if target.get("type") == "VARREF":
            yield str(target["name"]).lower()


_MODULE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\bmodule\s+(?:automatic\s+|static\s+)?(?P<name>[A-Za-z_][\w$]*)", re.DOTALL
)


def not_there(files: Sequence[Path], top: str) -> str:
    """Which modules the files have in place of `top`."""
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    names = [match["name"] for text in texts for match in _MODULE.finditer(text) if match["name"]]
    shown = ", ".join(str(file) for file in files)
    return f"no such module in {shown}{hint(top, names)}; there are {listed(names)}"


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
