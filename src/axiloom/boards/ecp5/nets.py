"""Which cell drives a net of a netlist, and where it ends."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


class Nets:
    """Of a flat design, as Yosys' ``write_json`` prints it; as it is now, and not after later changes."""

    def __init__(self, design: dict[str, Any]) -> None:
        top = next(module for module in design["modules"].values() if "top" in module.get("attributes", {}))
        self.cells: dict[str, Any] = top["cells"]
        self.outside = {
            bit for port in top["ports"].values() if port["direction"] == "output" for bit in port["bits"]
        }
        """Nets that leave the design."""
        self.drivers: dict[int, str] = {}
        self.ends: dict[int, list[tuple[str, str]]] = defaultdict(list)
        """Cell and port of each."""
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if isinstance(bit, str):
                        continue
                    if cell["port_directions"].get(port) == "output":
                        self.drivers[bit] = name
                    else:
                        self.ends[bit].append((name, port))

    def used(self, bit: int) -> bool:
        return bool(self.ends[bit]) or bit in self.outside

    def only_end(self, bit: int, port: str) -> str:
        """The cell at whose `port` it ends; nothing if that is another one, or not the only one."""
        (cell, into), *others = self.ends[bit] or [("", "")]
        return cell if into == port and not others and bit not in self.outside else ""
