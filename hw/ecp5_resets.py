"""A synchronous reset of an ECP5's register that gives a multiplier a factor becomes a LUT before it.

Yosys makes a reset of what is often 0. A multiplier takes only registers without one
(:mod:`axiloom.hw.ecp5_registers`).
"""

from __future__ import annotations

from typing import Any

from axiloom.hw.ecp5_registers import MULTIPLIER, REGISTER, is_plain
from axiloom.hw.nets import Nets

_SYNCHRONOUS = {"LSRMUX": "LSR", "SRMODE": "LSR_OVER_CE"}
_A_AND_NOT_B = "0010" * 4


def unfold_resets(design: dict[str, Any]) -> list[str]:
    """Changes `design`, as Yosys' ``write_json`` prints a flat one; returns names of the LUTs it made."""
    nets = Nets(design)
    made: list[str] = []
    for name, cell in list(nets.cells.items()):
        ports = cell["connections"]
        if cell["type"] != REGISTER or ports.get("LSR", ["0"]) == ["0"]:
            continue
        plain = cell | {"connections": ports | {"LSR": ["0"]}}
        synchronous = all(cell["parameters"].get(key) == value for key, value in _SYNCHRONOUS.items())
        gives = any(
            nets.cells[end]["type"] == MULTIPLIER and port[0] in "AB"
            for end, port in nets.ends[ports["Q"][0]]
        )
        if not (gives and synchronous and is_plain(plain)):
            continue
        lut, bit = f"{name}_reset", nets.new_bit()
        inputs = {"A": ports["DI"], "B": ports["LSR"], "C": ["0"], "D": ["0"]}
        nets.cells[lut] = {
            "hide_name": 1,
            "type": "LUT4",
            "parameters": {"INIT": _A_AND_NOT_B},
            "attributes": {},
            "port_directions": dict.fromkeys(inputs, "input") | {"Z": "output"},
            "connections": inputs | {"Z": [bit]},
        }
        nets.name(f"{lut}_Z", bit)
        cell["connections"] = plain["connections"] | {"DI": [bit]}
        made.append(lut)
    return made
