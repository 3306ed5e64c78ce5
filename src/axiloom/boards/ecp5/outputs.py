"""Registers right behind an ECP5's block RAM become its own output registers, without wires to them.

Yosys leaves them in slices: of a cycle, the memory alone takes 5.8 ns.

Registers right behind a block RAM become its output registers: all of a side or none, with one enable.
The memory alone took 5.8 ns of a cycle of 10 ns. A register that the placer could not put beside it made
the slowest path. Now a word may use the whole cycle to travel.
"""

from __future__ import annotations

from typing import Any

from axiloom.boards.ecp5.nets import Nets
from axiloom.boards.ecp5.registers import is_plain

MEMORY = "DP16KD"
_SIDES = "A", "B"
_WIDE = 36
"""Bits of a port whose halves are the two sides' data: their registers are taken together."""


def absorb_outputs(design: dict[str, Any]) -> list[str]:
    """Changes `design`, as Yosys' ``write_json`` prints a flat one; returns names of registers that are gone.

    A side of a block RAM takes its registers if each bit that anybody reads goes to one and nowhere else, and
    they have its clock, no reset, and one enable between them, or none.
    """
    nets = Nets(design)
    gone: list[str] = []
    for cell in nets.cells.values():
        if cell["type"] != MEMORY:
            continue
        sides = {side: _behind(nets, cell, side) for side in _SIDES}
        if int(cell["parameters"]["DATA_WIDTH_B"], 2) == _WIDE:
            enables = {enable for registers, enable in sides.values() if registers}
            if len(enables) > 1 or None in enables:
                continue
        for side, (registers, enable) in sides.items():
            if not registers or enable is None:
                continue
            connections = cell["connections"]
            for port, register in registers.items():
                connections[port] = nets.cells[register]["connections"]["Q"]
            connections[f"OCE{side}"] = [enable]
            cell["parameters"][f"REGMODE_{side}"] = "OUTREG"
            gone += registers.values()
    for register in gone:
        del nets.cells[register]
    return gone


def _behind(nets: Nets, cell: dict[str, Any], side: str) -> tuple[dict[str, str], int | str | None]:
    """The register behind each port of a side, and their enable: None where the side cannot take them."""
    connections = cell["connections"]
    bits = {port: connections[port][0] for port in connections if port.startswith(f"DO{side}")}
    registers = {port: nets.only_end(bit, "DI") for port, bit in bits.items() if nets.used(bit)}
    if not all(is_plain(nets.cells.get(register), enabled=True) for register in registers.values()):
        return registers, None
    enables = set()
    for register in registers.values():
        ports = nets.cells[register]["connections"]
        enabled = nets.cells[register]["parameters"]["CEMUX"].strip() == "CE"
        enables.add((ports["CLK"][0], ports["CE"][0] if enabled else "1"))
    clock = connections[f"CLK{side}"][0]
    if len(enables) != 1 or (enable := enables.pop())[0] != clock:
        return registers, None
    return registers, enable[1]
